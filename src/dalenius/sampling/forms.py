"""The sampler of each form of channel; a dense channel, and a form without one of its own, is drawn from its rows."""

from dalenius.core import Kernel
from dalenius.sampling.sampler import Sampler

__all__ = ["sampler_of"]


def sampler_of(channel: Kernel) -> Sampler:
    """Exact draws from a channel of any form."""
    return Sampler(channel.rows)
