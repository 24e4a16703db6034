"""Least leakage, distortion or rate (papers 003 and 004)."""

from dalenius.mechanisms.columns.leakage.least import least

__all__ = ["least"]
