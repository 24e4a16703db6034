r"""Real samples: cells of equal probability and the sum of their numbers, Theorem 5 of paper 000.

Cut each sample at its K-quantiles, U_i = g_i(X_i) the number of its cell, 0..K-1, and release

    Y = U_1 + ... + U_n  mod K.                                                                              (63)

**What is promised, and to whom.** Let U_j be uniform on 0..K-1 and independent of all other samples X_-j. Given any
X_-j = x the letter Y is U_j plus a constant mod K, hence uniform: Y is independent of X_-j, the real samples themselves
and all of them jointly, not of their cells only. So if the samples are independent and their cells equiprobable, Y is
independent of every n-1 real samples jointly, in particular of each X_i, and I(X^n; Y) = H(Y) = log2 K, eq. (64). K is
free, so the capacity is infinite, eq. (62).

**What is needed.** Two of the cells (so that for each i there is a j other than i) must be exactly uniform, and each of
them independent of the other samples jointly. Pairwise independence is not enough: U_1, U_2 uniform, U_3 = U_1 - U_2
mod 3 are pairwise independent, and Y = 2 U_1 gives X_1 away. Continuity of the law is what makes equal cells exist.

**Dependent samples.** A table is designed on the exact law of its cells, and the promise holds for the cells: Y is
independent of U_i. Within its cell X_i may still be correlated with the others, and Y may tell about that; it does not
if X_i - U_i - U_-i is a Markov chain.

**From a problem file.** `quantiles = K` under `[columns.x]` cuts x at the quantiles of the table, or where a stated
`cdf` says; `with_cells` adds to a design what its promise means for the real values.

For two samples log2 K is the most that can be told about the cells (Prop. 2); for more, `window_sums` tells (n-1) log2
K. The paper counts cells from 1 and has n = 2.

References: Rassouli, Rosas & Gündüz, "Data Disclosure under Perfect Sample Privacy" (paper 000), Theorem 5.
"""

from dataclasses import replace

from dalenius.core import Design, ProductPmf

__all__ = ["with_cells"]

ONLY_CELLS = (
    "the promise is about the cells of the real values; within their cells the values may still depend on other columns"
)


def with_cells(design: Design) -> Design:
    """The design with remarks on columns that were cut at quantiles: what is promised of their cells, and of them."""
    columns = {n: c for n, c in design.problem.columns.items() if c.quantiles and n in design.problem.variables()}
    stated = {name: c.cdf for name, c in columns.items() if c.cdf is not None}
    counted = [column for column in columns if column not in stated]
    told = []
    if counted:
        told.append(
            f"{', '.join(counted)} {'was' if len(counted) == 1 else 'were'} cut at the quantiles of this table. So the "
            "cuts are public with the card; in the population the cells have other shares"
        )
    if stated:
        close = "" if all(cdf.exact for cdf in stated.values()) else " up to 1e-15"
        told.append(
            f"the cells of {', '.join(stated)} have equal probability{close} if the stated cdf is the "
            f"distribution of the values"
        )
    if columns and isinstance(design.problem.law, ProductPmf) and not counted:
        told.append(
            "as the samples are taken to be independent, the promise holds for the values themselves too, and not only "
            "for their cells"
        )
    elif columns:
        told.append(ONLY_CELLS)
    return replace(design, remarks=(*design.remarks, *told)) if told else design
