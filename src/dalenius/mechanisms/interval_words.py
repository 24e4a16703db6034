"""What whoever waits for a search is told of its interval."""

from collections.abc import Callable

__all__ = ["in_bits"]


def in_bits(on_progress: Callable[[str], None] | None, bit: float = 1.0) -> Callable[[float, float], None] | None:
    """What a search calls with the two ends of its interval, in units of which `bit` make a bit; none for nobody.

    >>> in_bits(print, 0.5)(0.25, 0.125)
    between 0.25 and 0.5 bits
    """
    if on_progress is None:
        return None
    return lambda one, other: on_progress(f"between {min(one, other) / bit:.6g} and {max(one, other) / bit:.6g} bits")
