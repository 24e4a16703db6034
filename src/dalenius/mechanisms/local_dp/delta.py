r"""(epsilon, delta) local DP: with probability delta the record itself is told, else a letter of the best channel.

    I(X; Y) = (1 - delta) I_epsilon + delta H(X),

because that the record is told does not depend on it. No channel tells more than I_epsilon + (S - 1) delta H(X), up to
the prices of the proof, so for the usual small delta little is left open; with up to six letters that occur a finite
linear program (`delta_few_letters`) closes the rest. delta is the chance that a record is told outright: a promise
with delta is weaker than one without, whatever it gains.

References: paper 002, sections 2.3 and 5.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dalenius.core import Channel, Design, LocalDP, Problem
from dalenius.core.numbers import written
from dalenius.errors import Unsupported
from dalenius.mechanisms.columns.funnel.design import funnel
from dalenius.mechanisms.columns.funnel.takes import FUNNEL
from dalenius.mechanisms.estimable import determined_words
from dalenius.mechanisms.local_dp import staircase
from dalenius.mechanisms.local_dp.delta_few_letters import by_levels
from dalenius.mechanisms.local_dp.takes import DELTA, level_and_law
from dalenius.mechanisms.proving import proved

__all__ = ["relaxed"]

LETTERS = 64
DIVIDED = 3  # letters whose posteriors are divided into cells where more than the gap is left open


def relaxed(
    problem: Problem,
    *,
    gap: float = staircase.RELATIVE,
    seconds: float = 60.0,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """The channel above for up to 64 letters.

    >>> from dalenius.core import MaximizeInformation, Pmf
    >>> joint = Pmf.from_records({"X": ("a", "b", "c")}, [(("a",), 5), (("b",), 3), (("c",), 2)])
    >>> goal, promise = MaximizeInformation(("X",)), LocalDP(Fraction(1), delta=Fraction(1, 10**6))
    >>> design = relaxed(Problem(("X",), goal, (promise,), output="Y", joint=joint), gap=1e-3)
    >>> round(float(design.value), 6), float(design.gap) < 1e-3
    (0.164642, True)
    """
    DELTA.refuse(problem)
    promise, joint = level_and_law(problem)
    delta = promise.delta
    alphabets = joint.alphabets(problem.observe)
    if (S := int(np.prod([len(alphabet) for alphabet in alphabets.values()]))) > LETTERS:
        raise Unsupported(
            f"there are {S} values; with delta each has a value of its own that reveals it, and every pair of rows is "
            f"compared, so up to {LETTERS} are designed; without delta 100,000"
        )
    pure = replace(problem, joint=joint, guarantees=(LocalDP(promise.epsilon),))
    best = staircase.in_form(pure, gap=gap, seconds=seconds, on_progress=on_progress)
    rows = tuple(
        (*((1 - delta) * entry for entry in row), *(delta if x == y else Fraction(0) for y in range(S)))
        for x, row in enumerate(best.channel.rows)
    )
    known = best.channel.shape[1]
    outright = [f"told: {' '.join(x)}" for x in best.channel.outcomes()]
    channel = Channel(alphabets, {problem.output or "Y": (*map(str, range(known)), *outright)}, rows)
    remarks = [
        f"with probability {written(delta)} a record is shown as it is, so that about {written(delta)} of them are"
    ]
    if few := determined_words(best.channel.rows):
        remarks.append(
            f"without the records shown as they are {few}; do not rely on estimates of the others, which rest "
            f"on a handful of "
            "records"
        )
    problem = replace(problem, joint=joint)
    told_now_and_then = proved(problem, channel, [best.certificate], method=best.method, remarks=remarks)
    if told_now_and_then.gap <= gap:
        return told_now_and_then
    by_powers = by_levels(problem, promise)
    if by_powers is not None and by_powers.gap < told_now_and_then.gap:
        return by_powers
    if S > DIVIDED or FUNNEL.why_not(problem):
        return told_now_and_then
    divided = funnel(problem, gap=gap, seconds=seconds, on_progress=on_progress)
    return min(divided, told_now_and_then, key=lambda design: design.gap)
