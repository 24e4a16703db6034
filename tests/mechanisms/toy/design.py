"""The design: the largest probability of the truth that keeps the level, and what the kernel proves of it."""

from dalenius.core import Channel, Design, Problem
from dalenius.core.arithmetic import exp
from dalenius.mechanisms.proof_terms import CLOSED
from dalenius.mechanisms.proving import proved
from tests.mechanisms.toy.takes import SPINNER


def spinner(problem: Problem) -> Design:
    r"""p(y | x) = t [y = x] + (1 - t) / S, of ratio r = 1 + S t / (1 - t): t = (r - 1) / (r + S - 1)."""
    SPINNER.refuse(problem)
    alphabets = problem.pmf.alphabets(problem.observe)
    (letters,) = alphabets.values()
    # A ratio below e^epsilon keeps the level exactly.
    ratio = exp(problem.guarantees[0].epsilon)[0]
    truth = (ratio - 1) / (ratio + len(letters) - 1)
    other = (1 - truth) / len(letters)
    rows = tuple(tuple(truth * (x == y) + other for y in letters) for x in letters)
    channel = Channel(alphabets, alphabets, rows)
    return proved(problem, channel, [CLOSED], method=f"the truth with probability {float(truth):.3f}")
