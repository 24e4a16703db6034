"""One column perturbed, the others left: PRAM and randomised response beside kept columns.

The matrix looks at the perturbed columns alone, so that its level holds between any two rows that agree in what is
kept, whatever that is. It is the one that is best without kept columns. What no letter can pass beside them bounds it.
"""

from collections.abc import Callable
from dataclasses import replace

from dalenius.core import Design, Problem
from dalenius.mechanisms.local_dp.beside_kept import beside_kept
from dalenius.mechanisms.local_dp.pram import pram
from dalenius.mechanisms.local_dp.takes import PRAM_BESIDE_KEPT, with_fresh_letters
from dalenius.mechanisms.proving import proved

__all__ = ["pram_beside_kept"]


def pram_beside_kept(
    problem: Problem, *, gap: float = 1e-5, seconds: float = 120.0, on_progress: Callable[[str], None] | None = None
) -> Design:
    """The matrix of form (8) of the perturbed columns, with what it tells beside the kept ones, and a bound of that.

    Parameters
    ----------
    problem : Problem
        Bound to its data; its level is `given` what it keeps.
    gap, seconds, on_progress
        As for `beside_kept`, whose bound it is.

    Returns
    -------
    Design
        Its value counts what the kept columns tell.

    >>> from fractions import Fraction
    >>> from dalenius.core import LocalDP, MaximizeInformation, Pmf
    >>> records = [(("a", "0"), 3), (("b", "0"), 1), (("b", "1"), 2), (("c", "1"), 2)]
    >>> joint = Pmf.from_records({"X": ("a", "b", "c"), "K": ("0", "1")}, records)
    >>> goal, promise = MaximizeInformation(("X",)), LocalDP(Fraction(1), given=("K",))
    >>> asked = Problem(("X",), goal, (promise,), release=("X",), form="pram", keep=("K",), joint=joint)
    >>> design = pram_beside_kept(asked)
    >>> round(float(design.value), 3), round(float(design.bound), 3)
    (0.766, 0.796)
    """
    PRAM_BESIDE_KEPT.refuse(problem)
    problem = replace(problem, joint=problem.pmf.marginal([*problem.observe, *problem.keep]))
    alone = tuple(replace(promise, given=()) for promise in problem.guarantees)  # type: ignore[call-arg]
    matrix = pram(replace(problem, keep=(), guarantees=alone))
    limit = beside_kept(with_fresh_letters(problem), gap=gap, seconds=seconds, on_progress=on_progress)
    method = f"{matrix.method}, beside {', '.join(problem.keep)}"
    return proved(problem, matrix.channel, [limit.certificate], method=method, remarks=matrix.remarks)
