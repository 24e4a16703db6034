"""Audits of tables and mechanisms, estimates from released tables, risk of tables; no design is trusted."""

from dalenius.evidence.attack import Attack, attacks, fano_error
from dalenius.evidence.estimating import answers, counted, described, digests, estimate, forecast
from dalenius.evidence.examining import Audit, Finding, Kept, examine, examine_shuffled
from dalenius.evidence.exposure import Risk, risk
from dalenius.evidence.mechanism import MechanismAudit, UnderPrior, examine_mechanism
from dalenius.evidence.noise import examine_noise
from dalenius.evidence.numbers import NumberEstimate, estimate_numbers, noise_of
from dalenius.evidence.opening import attacked, mechanism_of, promised
from dalenius.evidence.orbits import examine_orbits
from dalenius.evidence.population import population, population_words
from dalenius.evidence.query import QueryAudit, audit_query, examine_query
from dalenius.evidence.unlisted import examine_unlisted

__all__ = [
    "Attack",
    "Audit",
    "Finding",
    "Kept",
    "MechanismAudit",
    "NumberEstimate",
    "QueryAudit",
    "Risk",
    "UnderPrior",
    "answers",
    "attacked",
    "attacks",
    "audit_query",
    "counted",
    "described",
    "digests",
    "estimate",
    "estimate_numbers",
    "examine",
    "examine_mechanism",
    "examine_noise",
    "examine_orbits",
    "examine_query",
    "examine_shuffled",
    "examine_unlisted",
    "fano_error",
    "forecast",
    "mechanism_of",
    "noise_of",
    "population",
    "population_words",
    "promised",
    "risk",
]
