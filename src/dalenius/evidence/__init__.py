"""Audits of tables and mechanisms, estimates from released tables, risk of tables; no design is trusted."""

from dalenius.evidence.analysing import compare, regress, shares_within
from dalenius.evidence.beliefs import Answer, Beliefs, beliefs
from dalenius.evidence.estimating import answers, counted, described, digests, estimate, forecast, moments
from dalenius.evidence.examining import Audit, Kept, examine, examine_shuffled
from dalenius.evidence.exposure import Risk, risk
from dalenius.evidence.opening import Opened, opened
from dalenius.evidence.population import of_one_answer, population, population_words
from dalenius.evidence.query import QueryAudit, audit_query, examine_query
from dalenius.measures.attack import Attack, attacks, fano_error
from dalenius.measures.counts import Finding
from dalenius.mechanisms.auditing import MechanismAudit, UnderPrior, examine_mechanism
from dalenius.mechanisms.numbers.estimate import (
    NumberEstimate,
    Undone,
    estimate_covariances,
    estimate_numbers,
    noise_of,
)
from dalenius.mechanisms.numbers.regression import regress_numbers

__all__ = [
    "Answer",
    "Attack",
    "Audit",
    "Beliefs",
    "Finding",
    "Kept",
    "MechanismAudit",
    "NumberEstimate",
    "Opened",
    "QueryAudit",
    "Risk",
    "UnderPrior",
    "Undone",
    "answers",
    "attacks",
    "audit_query",
    "beliefs",
    "compare",
    "counted",
    "described",
    "digests",
    "estimate",
    "estimate_covariances",
    "estimate_numbers",
    "examine",
    "examine_mechanism",
    "examine_query",
    "examine_shuffled",
    "fano_error",
    "forecast",
    "moments",
    "noise_of",
    "of_one_answer",
    "opened",
    "population",
    "population_words",
    "regress",
    "regress_numbers",
    "risk",
    "shares_within",
]
