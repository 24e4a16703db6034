"""Least leakage, distortion or rate (papers 003 and 004)."""

from dalenius.designs.leakage.least import least, why_not

__all__ = ["least", "why_not"]
