r"""(epsilon, delta) local DP: with probability delta the record itself is told, else a letter of the best channel.

    I(X; Y) = (1 - delta) I_epsilon + delta H(X),

because that the record is told does not depend on it. No channel tells more than I_epsilon + (S - 1) delta H(X), up to
the prices of the proof, so for the usual small delta little is left open. delta is the chance that a record is told
outright: a promise with delta is weaker than one without, whatever it gains.

References: paper 002, sections 2.3 and 5.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dalenius.core import Certificate, Channel, Design, LocalDP, Problem
from dalenius.core.numbers import written
from dalenius.designs import staircase
from dalenius.designs.identifying import determined_words
from dalenius.designs.keeping import MOST_NATS, why_not_told_itself
from dalenius.designs.proving import proved
from dalenius.errors import Unsupported

__all__ = ["relaxed", "why_not"]

LETTERS = 64


def why_not(problem: Problem) -> str | None:
    """The reason why this family does not solve a problem, or None."""
    if len(problem.guarantees) != 1 or not isinstance(promise := problem.guarantees[0], LocalDP) or not promise.delta:
        return "it promises local_dp with delta and nothing else"
    if promise.metric is not None or promise.given or not 0 < promise.epsilon <= MOST_NATS or promise.delta >= 1:
        return (
            f"it promises local_dp with a delta below 1, without metric and given, above 0 and up to {MOST_NATS} nats"
        )
    if reason := why_not_told_itself(problem):
        return reason
    if problem.output is None or problem.form is not None:
        return 'it needs a fresh alphabet, output = "Y", without form'
    return problem.not_taken(
        "keep", "strata", "each", "forbid", "freeze", "preserve_marginals", "limits", "side_information"
    )


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
    >>> design = relaxed(Problem(("X",), goal, (promise,), output="Y", joint=joint))
    >>> round(float(design.value), 6), float(design.gap) < 1e-5
    (0.164642, True)
    """
    if reason := why_not(problem):
        raise Unsupported(f"delta cannot be had for this: {reason}")
    (promise,) = (g for g in problem.guarantees if isinstance(g, LocalDP))
    joint, delta = problem.pmf.marginal(list(problem.observe)), promise.delta
    alphabets = joint.alphabets(problem.observe)
    if (S := int(np.prod([len(a) for a in alphabets.values()]))) > LETTERS:
        raise Unsupported(
            f"there are {S} letters; with delta each has a letter of its own that tells it, and every pair of rows is "
            f"compared, so up to {LETTERS} are designed; without delta 100,000"
        )
    pure = replace(problem, joint=joint, guarantees=(LocalDP(promise.epsilon),))
    best = staircase.in_form(pure, gap=gap, seconds=seconds, on_progress=on_progress)
    rows = tuple(
        (*((1 - delta) * v for v in row), *(delta if x == y else Fraction(0) for y in range(S)))
        for x, row in enumerate(best.channel.rows)
    )
    known = best.channel.shape[1]
    told = [f"told: {' '.join(x)}" for x in best.channel.outcomes()]
    channel = Channel(alphabets, {problem.output or "Y": (*map(str, range(known)), *told)}, rows)
    remarks = [
        f"with probability {written(delta)} a record is told as it is, so that about {written(delta)} of them are"
    ]
    if few := determined_words(best.channel.rows):
        remarks.append(
            f"without the told records {few}; do not rely on estimates of the others, which rest on a handful of "
            "records"
        )
    proof = Certificate("relaxed", best.certificate.proof)
    return proved(replace(problem, joint=joint), channel, [proof], method=best.method, remarks=remarks)
