"""One folder for each mechanism: how it is asked for, designed, proved, drawn, examined and put into words."""

from dalenius.mechanisms.solving import by_records, solve

__all__ = ["by_records", "solve"]
