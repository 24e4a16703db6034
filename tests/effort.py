"""How many cases a randomised test tries: few by default, many in the long run (`make test-all`)."""

import os
from typing import TypeVar

__all__ = ["EVERYTHING", "effort"]

Number = TypeVar("Number", int, float)
EVERYTHING = os.environ.get("DALENIUS_TESTS") == "all"


def effort(few: Number, many: Number) -> Number:
    """`few` in the default run, `many` in the long one."""
    return many if EVERYTHING else few
