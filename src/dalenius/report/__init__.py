"""Says what was promised, what was proved and what was seen; computes nothing."""

from dalenius.core.digits import bits, factor, figure, percent
from dalenius.report.mechanism import audited
from dalenius.report.query import audited_query, calibrated
from dalenius.report.statement import public_statement, statement
from dalenius.report.words import not_protected, one_more, promised, proved, seen

__all__ = [
    "audited",
    "audited_query",
    "bits",
    "calibrated",
    "factor",
    "figure",
    "not_protected",
    "one_more",
    "percent",
    "promised",
    "proved",
    "public_statement",
    "seen",
    "statement",
]
