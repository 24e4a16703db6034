"""Exact samplers: channel and table in, released table out."""

from dalenius.sampling.apply import Released, draw
from dalenius.sampling.forms import matched, rows_read
from dalenius.sampling.key import Key
from dalenius.sampling.sampler import Sampler, permutation
from dalenius.sampling.stream import Stream
from dalenius.sampling.value import draw_value

__all__ = ["Key", "Released", "Sampler", "Stream", "draw", "draw_value", "matched", "permutation", "rows_read"]
