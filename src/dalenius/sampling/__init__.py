"""Exact samplers: a key gives words, words give letters; which letters are drawn, the mechanisms say."""

from typing import TYPE_CHECKING

from dalenius import rooms

if TYPE_CHECKING:
    from dalenius.sampling.key import Key
    from dalenius.sampling.ordering import permutation
    from dalenius.sampling.sampler import Sampler
    from dalenius.sampling.stream import Stream

__all__ = ["Key", "Sampler", "Stream", "permutation"]

if not TYPE_CHECKING:
    __getattr__ = rooms.opened_when_asked(__name__)
