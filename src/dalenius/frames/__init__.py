"""Releases of data frames: from pandas, polars or Arrow, and back into the same kind of frame."""

from dalenius.frames.protecting import Release, problem, protect

__all__ = ["Release", "problem", "protect"]
