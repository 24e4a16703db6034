"""Mechanism families: each turns a bound `Problem` into a `Design`. `solve` finds the family that fits."""

from dalenius.designs.disclose import disclose
from dalenius.designs.solving import solve

__all__ = ["disclose", "solve"]
