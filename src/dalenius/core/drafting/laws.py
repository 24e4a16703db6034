"""Laws of records as documents write them: whole numbers for outcomes, by the places of their letters."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from dalenius.core.markov import MarkovChain
from dalenius.core.pmf import Pmf
from dalenius.core.product_pmf import Margins, ProductPmf
from dalenius.core.samples import Samples
from dalenius.errors import NotCertified

__all__ = ["law_document", "variables_document", "whole_texts"]

Json = dict[str, Any]


def law_document(
    law: Pmf | ProductPmf | Margins | Samples | MarkovChain, rows: int | None = None
) -> tuple[list[Json], Json]:
    """The variables of a law, and the law itself.

    Parameters
    ----------
    law : Pmf and its like
        Of the records.
    rows : int, optional
        How many rows of a table it was counted from; without it the law is only known.

    Returns
    -------
    tuple
        What stands under `variables` and `law` of a document.

    >>> law_document(Pmf.from_records({"X": ("a", "b")}, [(("a",), 2), (("b",), 4)]), 6)[1]["outcomes"]
    [[0, '2'], [1, '4']]
    """
    if isinstance(law, Samples):
        return _alike(law)
    variables = variables_document(law.variables)
    if isinstance(law, ProductPmf):
        return variables, {"law": "independent", "groups": [_counted(group) for group in law.groups]}
    if isinstance(law, Margins):
        return variables, {"law": "margins", "columns": [_counted(column) for column in law.columns]}
    if isinstance(law, MarkovChain):
        flat = whole_texts([share for row in law.transition for share in row])
        size = len(law.letters)
        steps = [flat[k : k + size] for k in range(0, len(flat), size)]
        return variables, {"law": "markov", "start": whole_texts(law.initial), "steps": steps}
    return variables, _counted(law, rows)


def variables_document(alphabets: Mapping[str, Sequence[str]]) -> list[Json]:
    """Names and letters, in their order."""
    return [{"name": name, "letters": list(letters)} for name, letters in alphabets.items()]


def whole_texts(shares: Sequence[Fraction]) -> list[str]:
    """Shares as whole numbers over one denominator.

    >>> whole_texts([Fraction(1, 2), Fraction(1, 3)])
    ['3', '2']
    """
    scale = lcm(*(share.denominator for share in shares))
    return [str(int(share * scale)) for share in shares]


def _counted(pmf: Pmf, rows: int | None = None) -> Json:
    """The weights of a pmf, which have no common factor; with `rows` they are counts of so many rows."""
    times, rest = divmod(rows, pmf.total) if rows else (1, 0)
    if rest:
        raise NotCertified(f"the distribution is no count of {rows:,} rows")
    codes = pmf.support.tolist()
    weights = pmf.weights.tolist()
    outcomes = [[*outcome, str(weight * times)] for outcome, weight in zip(codes, weights, strict=True)]
    return {"law": "table" if rows else "known", "variables": list(pmf.variables), "outcomes": outcomes}


def _alike(law: Samples) -> tuple[list[Json], Json]:
    """Samples that are independent and alike given a hidden variable; a second one stands for all the others."""
    flat = whole_texts([share for row in law.kernel.rows for share in row])
    size = len(law.letters)
    alphabets = {law.hidden: law.variables[law.hidden], law.sample: law.letters}
    if law.n > 1:
        alphabets[f"another {law.sample}"] = law.letters
    return variables_document(alphabets), {
        "law": "alike",
        "variables": list(alphabets),
        "samples": law.n,
        "prior": whole_texts(law.masses),
        "kernel": [flat[k : k + size] for k in range(0, len(flat), size)],
    }
