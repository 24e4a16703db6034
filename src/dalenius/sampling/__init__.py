"""Exact samplers: channel and table in, released table out."""

from dalenius.sampling.apply import Released, draw
from dalenius.sampling.forms import matched, rows_read
from dalenius.sampling.key import Key
from dalenius.sampling.sampler import Sampler, permutation
from dalenius.sampling.stream import Stream

__all__ = ["Key", "Released", "Sampler", "Stream", "draw", "matched", "permutation", "rows_read"]
