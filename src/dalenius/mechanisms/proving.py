"""From a channel and a proof object to a `Design`: the kernel computes every figure that the design claims."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from dalenius.core import Certificate, Dalenius, Design, Kernel, LocalDP, MinimizeLeakage, Problem
from dalenius.core.drafting import Axes, drafted
from dalenius.core.numbers import exact, up
from dalenius.documents import kind_of, proved_of, proved_text
from dalenius.errors import NotCertified
from dalenius.kernel.numbers import Refused
from dalenius.measures.renyi import level_words

__all__ = ["proved"]


@cache  # folders are looked through once
def _versions() -> Mapping[str, str]:
    """Of Python and of the packages that compute: from the names of their folders, NAME-VERSION.dist-info.

    `importlib.metadata` says the same, and opens the modules of mail and of sockets for it.
    """
    installed = {
        name: version
        for folder in reversed(sys.path)  # the first one counts
        for place in Path(folder or ".").glob("*-*.dist-info")
        for name, _, version in [place.stem.partition("-")]
    }
    packages = ("dalenius", "highspy", "python-flint", "numpy")
    found = {package: installed.get(package.replace("-", "_"), "not installed as a package") for package in packages}
    return {"python": ".".join(map(str, sys.version_info[:3])), **found}


def _relaxed(problem: Problem, channel: Kernel) -> list[str]:
    """The Renyi and zero-concentrated levels where a pure one is promised and nothing is kept beside the letter."""
    pure = any(
        isinstance(promise, LocalDP) and not promise.delta and promise.metric is None for promise in problem.guarantees
    )
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
    axes: Axes | None = None,
) -> Design:
    """The design with the tightest proof among those offered, in their order; the first that is tight ends the search.

    Every figure is what the kernel itself proved, rounded against us to the digits of the file format. A promise that
    it cannot prove raises `NotCertified`. `axes` are the laws that bound the capacities of noise, and its variances.
    """
    rows = channel.form != "noise"  # whose capacities are proved along its axes, without rows
    many = len(channel.inputs)  # all of them, where several draws may be tied together
    wanted = [
        (promise.group if promise.rows == 1 else many) if isinstance(promise, Dalenius) and rows else 0
        for promise in problem.guarantees
    ]
    if any(wanted):
        from dalenius.measures.individual import individual_proof  # opens solvers that other promises need not have

        proofs = tuple(individual_proof(channel, group) if group else {} for group in wanted)
    all_remarks = tuple(dict.fromkeys((*remarks, *_relaxed(problem, channel))))  # each once, in their order
    offered = list(certificates)
    if not offered:
        raise ValueError("a design needs at least one certificate")
    draft = Design(
        problem,
        channel,
        Fraction(0),
        Fraction(0),
        offered[0],
        method,
        decoder=decoder or {},
        remarks=all_remarks,
        proofs=proofs,
    )
    try:
        written = drafted(problem, channel, decoder=decoder, proofs=proofs, axes=axes, rows=problem.rows)
        best = proved_text(written, (dict(certificate.proof) for certificate in offered))
    except Refused as refusal:
        raise NotCertified(str(refusal)) from None
    claims = best.document["claims"]
    side = problem.side_information
    ignorant = side is not None and side.encoder == "uninformed" and isinstance(problem.objective, MinimizeLeakage)
    return replace(
        draft,
        certificate=offered[best.place],
        value=exact(claims["value"]),
        bound=exact(claims["bound"]),
        realised=tuple(
            {"expected": reached}
            for limit, reached in zip(best.document["limits"], claims["limits"], strict=True)
            if "multiplicity" not in limit
        ),
        beside=exact(up(best.beside)) if ignorant and best.beside is not None else None,
        proved=tuple(proved_of(figures) for figures in claims["promises"]),
        entropy=round(best.entropy, 20),  # outside the proof, only to compare the value with
        versions=dict(_versions()),
        stated=best.stated,
        rule=kind_of(best.document),
        text=best.text,
    )
