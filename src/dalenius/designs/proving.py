"""From a channel and a proof object to a `Design`: the checker computes every figure that the design claims."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import Any

from dalenius.certify import proofs as checked
from dalenius.core import Certificate, Dalenius, Design, Kernel, LocalDP, MinimizeLeakage, Problem
from dalenius.core.numbers import down, exact, up
from dalenius.measures.individual import individual_proof
from dalenius.measures.renyi import level_words

__all__ = ["proved"]

TIGHT = Fraction(1, 10**12)


@cache  # the metadata of a package is read from its file each time
def _versions() -> Mapping[str, str]:
    found = {"python": python_version()}
    for package in ("dalenius", "highspy", "python-flint", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed as a package"
    return found


def _relaxed(problem: Problem, channel: Kernel) -> list[str]:
    """The Renyi and zero-concentrated levels where a pure one is promised and nothing is kept beside the letter."""
    pure = any(isinstance(g, LocalDP) and not g.delta and g.metric is None for g in problem.guarantees)
    return level_words(channel) if pure and not problem.kept else []


def proved(
    problem: Problem,
    channel: Kernel,
    certificates: Iterable[Certificate],
    *,
    method: str,
    remarks: Sequence[str] = (),
    decoder: Mapping[str, Mapping[str, str]] | None = None,
    proofs: tuple[Mapping[str, Any], ...] = (),
) -> Design:
    """The design with the tightest proof among those offered, in their order; the first that is tight ends the search.

    Every figure is what the checker itself proved, rounded against us to the digits of the file format. A promise that
    it cannot prove raises `NotCertified`.
    """
    rows = channel.form != "noise"  # whose capacities are proved along its axes, without rows
    many = len(channel.inputs)  # all of them, where several draws may be tied together
    wanted = [(g.group if g.rows == 1 else many) if isinstance(g, Dalenius) and rows else 0 for g in problem.guarantees]
    if any(wanted):
        proofs = tuple(individual_proof(channel, group) if group else {} for group in wanted)
    designs: list[Design] = []
    side, maximise = problem.side_information, problem.objective.sense == "maximize"
    ignorant = side is not None and side.encoder == "uninformed" and isinstance(problem.objective, MinimizeLeakage)
    told, zero, offered = (*remarks, *_relaxed(problem, channel)), Fraction(0), list(certificates)
    if not offered:
        raise ValueError("a design needs at least one certificate")
    draft = Design(problem, channel, zero, zero, offered[0], method, decoder=decoder or {}, remarks=told, proofs=proofs)
    verdicts = checked(draft.to_json(), (certificate.to_json() for certificate in offered))
    for certificate, verdict in zip(offered, verdicts, strict=True):
        design = replace(
            draft,
            certificate=certificate,
            value=exact(down(verdict.value) if maximise else up(verdict.value)),
            bound=exact(up(verdict.bound) if maximise else down(verdict.bound)),
            realised=verdict.limits,
            beside=exact(up(verdict.beside)) if ignorant else None,
            proved=tuple(shown or {} for shown in verdict.figures),
            entropy=exact(up(verdict.entropy)),
            versions=dict(_versions()),
        )
        designs.append(design)
        if design.gap <= TIGHT:
            break
    return min(designs, key=lambda design: design.gap)
