"""Several columns perturbed, each by a matrix of its own, the others left: the daily job of survey releases.

A matrix looks at its own column alone, so that its level holds between any two rows that agree in what is kept,
whatever that is; the levels of the columns add up. What column j tells beside the kept columns K is I(X_j; Y_j, K), and
the sum of that is bounded column by column.
"""

from collections.abc import Callable
from dataclasses import replace

from dalenius.core import Certificate, Design, LocalDP, MaximizeInformation, Problem, Product
from dalenius.core.digits import short
from dalenius.mechanisms.local_dp.beside_kept import beside_kept
from dalenius.mechanisms.local_dp.pram_beside_kept import pram_beside_kept
from dalenius.mechanisms.local_dp.takes import EACH_BESIDE_KEPT, levels_of
from dalenius.mechanisms.proving import proved

__all__ = ["each_beside_kept"]


def each_beside_kept(
    problem: Problem, *, gap: float = 1e-5, seconds: float = 120.0, on_progress: Callable[[str], None] | None = None
) -> Design:
    """The matrix of each perturbed column, with what they tell beside the kept ones, and a bound of that.

    Parameters
    ----------
    problem : Problem
        Bound to its data; its level is `given` what it keeps.
    gap, seconds, on_progress
        As for `beside_kept`, whose bounds are added up; every column has an equal part of the time.

    Returns
    -------
    Design
        Its value counts what the kept columns tell about each of the others.

    >>> from fractions import Fraction
    >>> from dalenius.core import MaximizeInformationOfEach, Pmf
    >>> records = [(("a", "0", "u"), 3), (("b", "1", "u"), 1), (("b", "0", "v"), 2), (("a", "1", "v"), 2)]
    >>> joint = Pmf.from_records({"A": ("a", "b"), "B": ("0", "1"), "K": ("u", "v")}, records)
    >>> names, promise = ("A", "B"), LocalDP(Fraction(2), given=("K",))
    >>> goal = MaximizeInformationOfEach(names)
    >>> asked = Problem(names, goal, (promise,), release=names, form="pram", each=True, keep=("K",), joint=joint)
    >>> [part.form for part in each_beside_kept(asked).channel.windows]
    ['pram', 'pram']
    """
    EACH_BESIDE_KEPT.refuse(problem)
    problem = replace(problem, joint=problem.pmf.marginal([*problem.observe, *problem.keep]))
    levels = levels_of(problem)
    found = []
    for name in problem.observe:
        alone = replace(
            problem,
            observe=(name,),
            release=(name,) if problem.release else (),
            output=f"{problem.output}_{name}" if problem.output else None,
            each=False,
            objective=MaximizeInformation((name,)),
            guarantees=(LocalDP(levels[name], given=problem.keep),),
            joint=problem.pmf.marginal([name, *problem.keep]),
        )
        designed = pram_beside_kept if problem.release else beside_kept
        found.append(designed(alone, gap=gap, seconds=seconds / len(problem.observe), on_progress=on_progress))
    channel = Product(problem.pmf.alphabets(problem.observe), tuple(part.channel for part in found))
    proof = Certificate({"rule": "parts", "proofs": [part.certificate.proof for part in found]})
    remarks = [
        f"the level is the sum of those of the columns: {', '.join(f'{n} {short(v)}' for n, v in levels.items())}",
        *(f"column {level}: {remark}" for level, part in zip(levels, found, strict=True) for remark in part.remarks),
    ]
    method = f"{len(found)} columns, each by itself: {found[0].method}"
    return proved(problem, channel, [proof], method=method, remarks=remarks)
