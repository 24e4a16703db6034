r"""Tell the most about W under promises that are convex in a column: leakage, and what else limits a sum of letters.

    g(b) = max I(W; Y)   such that   I(S; Y) <= b                                              (the privacy funnel)

beside worst cases, independence, information privacy and local DP, in any mixture. Information is convex, so this is no
convex program; it becomes one in the cells of the posterior of W (`gains`), or on the faces of few inputs (`faces`).
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from dalenius.core import Certificate, Contraction, Design, Independent, Leakage, Problem
from dalenius.core.digits import figure
from dalenius.errors import NotCertified
from dalenius.measures import mutual_information
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.mechanisms.columns.exact_columns import merged_letters_of
from dalenius.mechanisms.columns.funnel.blocks import blocks_apply, by_blocks
from dalenius.mechanisms.columns.funnel.faces import MANY, MOST, by_faces, faces_apply
from dalenius.mechanisms.columns.funnel.functions import (
    by_erasure,
    by_function,
    by_staying,
    erasure_applies,
    function_applies,
    staying_applies,
)
from dalenius.mechanisms.columns.funnel.gains import by_gains
from dalenius.mechanisms.columns.funnel.takes import FUNNEL
from dalenius.mechanisms.columns.takes import DISCLOSURE
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.proof_terms import CLOSED, ONE
from dalenius.mechanisms.proving import proved
from dalenius.tables import with_files

__all__ = ["funnel", "price_of"]

FEW = 2  # labels of W whose chords are convex together: the search by gains is then the faster one
CLOSED_FORMS = ((function_applies, by_function), (erasure_applies, by_erasure), (staying_applies, by_staying))
SEVERAL = 4  # labels of W that are divided well enough where there are many faces


def funnel(
    problem: Problem,
    *,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """Maximise I(W; Y) over all channels that keep the promises; kept columns K count as outputs.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    gap : float
        Stop when value and bound are so many bits apart.
    seconds : float
        Stop after so long; value and bound are then further apart.
    on_progress : callable, optional
        Told one line now and then.

    Returns
    -------
    Design
        With the exact channel and the proof of its bound.

    Raises
    ------
    Unsupported
        If the problem is none of this family.
    Infeasible
        If no channel keeps the promises, because of what is kept beside the letter.

    """
    FUNNEL.refuse(problem)
    silent = _as_independence(problem)
    if silent != problem and DISCLOSURE.why_not(silent) is None:
        return disclose(silent, gap=gap, seconds=seconds, on_progress=on_progress)
    problem = with_files(problem)
    remarks = [problem.pmf.note] if problem.pmf.note else []
    for applies, closed in (*CLOSED_FORMS, (blocks_apply, by_blocks)):
        if applies(problem):
            channel, certificates, method = closed(problem)
            return proved(problem, channel, certificates, method=method, remarks=remarks)
    if (design := _by_one_promise(problem, remarks, gap)) is not None:
        return design
    labels = len(merged_letters_of(problem))
    few = labels <= FEW and not problem.kept
    route = by_gains if few or not faces_apply(problem, MANY if labels <= SEVERAL else MOST) else by_faces
    channel, certificate, method = route(problem, gap=gap, seconds=seconds, on_progress=on_progress)
    remarks += _bought(problem, certificate)
    return proved(problem, channel, [CLOSED, certificate], method=method, remarks=remarks)


def _by_one_promise(problem: Problem, remarks: list[str], gap: float) -> Design | None:
    """The closed form of one of several promises, if it keeps the others too: nothing tells more."""
    for promise in problem.guarantees if len(problem.guarantees) > 1 else ():
        alone = replace(problem, guarantees=(promise,))
        for applies, closed in CLOSED_FORMS:
            if not applies(alone):
                continue
            channel, certificates, method = closed(alone)
            with suppress(NotCertified):
                design = proved(problem, channel, certificates, method=method, remarks=remarks)
                if design.gap <= gap:
                    return design
    return None


def _as_independence(problem: Problem) -> Problem:
    """The problem with independence in place of each limit of 0 bits on a leakage, which means the same."""
    changed = tuple(
        Independent(promise.about) if isinstance(promise, Leakage) and not promise.at_most_bits else promise
        for promise in problem.guarantees
    )
    return replace(problem, guarantees=changed)


def _bought(problem: Problem, certificate: Certificate) -> list[str]:
    """What one more bit of each limit on a leakage would buy at most: the same multipliers prove it for any limit."""
    lines = []
    about = ", ".join(problem.objective.names)
    for promise, weight in zip(problem.guarantees, certificate.proof.get("promises", ()), strict=False):
        if type(promise) is not Leakage:
            continue
        secret = ", ".join(promise.about)
        if not int(weight):
            lines.append(f"a larger limit for {secret} would not help: the release says no more about {about} with it")
            continue
        price = figure(Fraction(int(weight), ONE), "up", 3)
        lines.append(
            f"for each further bit that a row may reveal about {secret}, it could say at most {price} bits more "
            f"about {about}"
        )
    return lines


def price_of(design: Design, place: int) -> float:
    """What one more bit of the limit at a place buys at most, by the proof of a design: bits about W.

    Under a closed bound, b + I(W; X | S), I(W; X) or the share of it that a contraction passes, it is one bit or none.
    """
    proof = json.loads(design.text)["proof"]
    if "promises" in proof:
        return int(proof["promises"][place]) / ONE
    problem = design.problem
    passed = min(
        (float(promise.at_most) for promise in problem.guarantees if isinstance(promise, Contraction)), default=1
    )
    everything = passed * mutual_information(problem.pmf, problem.objective.names, problem.inputs)
    return 0.0 if float(design.bound) > everything - 1e-12 else 1.0
