"""Audits: of released tables against a design, which is not trusted, and of any mechanism from its channel alone."""

from dalenius.evidence.attack import Attack, attacks, fano_error
from dalenius.evidence.examining import Audit, Finding, examine, examine_shuffled
from dalenius.evidence.mechanism import MechanismAudit, UnderPrior, examine_mechanism
from dalenius.evidence.opening import mechanism_of

__all__ = [
    "Attack",
    "Audit",
    "Finding",
    "MechanismAudit",
    "UnderPrior",
    "attacks",
    "examine",
    "examine_mechanism",
    "examine_shuffled",
    "fano_error",
    "mechanism_of",
]
