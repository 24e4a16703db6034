"""Designs and cards of version 1, for `dalenius convert` alone: read into nouns, proved again, written as version 2."""

from dalenius.convert.version1 import converted

__all__ = ["converted"]
