"""Exact samplers: channel and table in, released table out."""

from dalenius.release.apply import Released, draw
from dalenius.release.key import Key
from dalenius.release.sampler import Sampler, permutation
from dalenius.release.stream import Stream

__all__ = ["Key", "Released", "Sampler", "Stream", "draw", "permutation"]
