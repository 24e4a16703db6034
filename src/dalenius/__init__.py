"""Release data so that a secret stays secret, with proof.

The main job is one call, and gives a frame of the caller's own kind back:

    released = protect(frame, secret="health", release=["plan", "visits"], reveal_at_most="0.01")

Step by step it is the walk of the command line, with the same words:

    problem = Problem.from_file("problem.toml")
    design = solve(problem)
    verify(design)
    released, seen = apply(design, table)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dalenius.api import apply, audit, load, region, release, solve, tradeoff, verify
    from dalenius.core import (
        Certificate,
        Channel,
        Contraction,
        Dalenius,
        Design,
        Distortion,
        Guess,
        Independent,
        InformationPrivacy,
        Leakage,
        LocalDP,
        MaximalLeakage,
        MaximizeInformation,
        MaximizeInformationOfEach,
        MinimizeCapacity,
        MinimizeDistortion,
        MinimizeLeakage,
        MinimizeLeakageAndRate,
        MinimizeRate,
        MinimizeVariance,
        Pmf,
        Problem,
        Sibson,
        TotalVariation,
        WorstCaseLeakage,
    )
    from dalenius.evidence import compare, estimate, regress, risk, shares_within
    from dalenius.frames import Release, problem, protect
    from dalenius.frames.protector import Protector
    from dalenius.ledger import Ledger
    from dalenius.sampling import Key

__all__ = [
    "Certificate",
    "Channel",
    "Contraction",
    "Dalenius",
    "Design",
    "Distortion",
    "Guess",
    "Independent",
    "InformationPrivacy",
    "Key",
    "Leakage",
    "Ledger",
    "LocalDP",
    "MaximalLeakage",
    "MaximizeInformation",
    "MaximizeInformationOfEach",
    "MinimizeCapacity",
    "MinimizeDistortion",
    "MinimizeLeakage",
    "MinimizeLeakageAndRate",
    "MinimizeRate",
    "MinimizeVariance",
    "Pmf",
    "Problem",
    "Protector",
    "Release",
    "Sibson",
    "TotalVariation",
    "WorstCaseLeakage",
    "apply",
    "audit",
    "compare",
    "estimate",
    "load",
    "problem",
    "protect",
    "region",
    "regress",
    "release",
    "risk",
    "shares_within",
    "solve",
    "tradeoff",
    "verify",
]

_ANALYSES = ("compare", "estimate", "regress", "risk", "shares_within")
_WALK = ("apply", "audit", "load", "region", "release", "solve", "tradeoff", "verify")


def __getattr__(name: str) -> Any:
    """Rooms are opened when first asked for, so that importing the package costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'dalenius' has no attribute {name!r}")
    elsewhere = {"Key": "sampling", "Ledger": "ledger"} | dict.fromkeys(_ANALYSES, "evidence")
    elsewhere |= {"Release": "frames", "problem": "frames", "protect": "frames", "Protector": "frames.protector"}
    room = "api" if name in _WALK else elsewhere.get(name, "core")
    return getattr(import_module(f"dalenius.{room}"), name)


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
