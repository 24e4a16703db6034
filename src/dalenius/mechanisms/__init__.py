"""One folder for each mechanism: how it is asked for, designed, proved, drawn, examined and put into words."""

from dalenius.mechanisms.declared import GAP, SECONDS, Condition, Mechanism, Promised
from dalenius.mechanisms.records.takes import by_records
from dalenius.mechanisms.registry import mechanisms, register, takers
from dalenius.mechanisms.solving import refuse_untaken, solve

__all__ = [
    "GAP",
    "SECONDS",
    "Condition",
    "Mechanism",
    "Promised",
    "by_records",
    "mechanisms",
    "refuse_untaken",
    "register",
    "solve",
    "takers",
]
