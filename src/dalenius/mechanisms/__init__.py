"""One folder for each mechanism: how it is asked for, designed, proved, drawn, examined and put into words."""

from dalenius.mechanisms.solving import chosen, solve

__all__ = ["chosen", "solve"]
