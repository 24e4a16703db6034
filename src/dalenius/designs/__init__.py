"""Mechanism families: each turns a bound `Problem` into a `Design`. `solve` finds the family that fits."""

from dalenius.designs.compositions import windows
from dalenius.designs.disclose import GAP, SECONDS, disclose
from dalenius.designs.solving import solve

__all__ = ["GAP", "SECONDS", "disclose", "solve", "windows"]
