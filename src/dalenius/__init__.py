"""Design, prove, apply and audit data releases whose privacy guarantee is information-theoretic.

The walk in Python is the walk of the command line, with the same words:

    problem = Problem.from_file("problem.toml")
    design = solve(problem)
    verify(design)
    released, seen = apply(design, table)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dalenius.core import (
        Certificate,
        Channel,
        Contraction,
        Dalenius,
        Design,
        Independent,
        InformationPrivacy,
        Leakage,
        LocalDP,
        MaximizeInformation,
        MaximizeInformationOfEach,
        Pmf,
        Problem,
        WorstCaseLeakage,
    )
    from dalenius.evidence import estimate, risk
    from dalenius.ledger import Ledger
    from dalenius.sampling import Key
    from dalenius.walk import apply, audit, load, region, release, solve, tradeoff, verify

__all__ = [
    "Certificate",
    "Channel",
    "Contraction",
    "Dalenius",
    "Design",
    "Independent",
    "InformationPrivacy",
    "Key",
    "Leakage",
    "Ledger",
    "LocalDP",
    "MaximizeInformation",
    "MaximizeInformationOfEach",
    "Pmf",
    "Problem",
    "WorstCaseLeakage",
    "apply",
    "audit",
    "estimate",
    "load",
    "region",
    "release",
    "risk",
    "solve",
    "tradeoff",
    "verify",
]

_WALK = ("apply", "audit", "load", "region", "release", "solve", "tradeoff", "verify")


def __getattr__(name: str) -> Any:
    """Rooms are opened when first asked for, so that importing the package costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'dalenius' has no attribute {name!r}")
    elsewhere = {"estimate": "evidence", "risk": "evidence", "Key": "sampling", "Ledger": "ledger"}
    room = "walk" if name in _WALK else elsewhere.get(name, "core")
    return getattr(import_module(f"dalenius.{room}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
