"""How many cases a randomised test tries: few by default, many in the long run (`make test-all`)."""

import os

__all__ = ["EVERYTHING", "effort"]

EVERYTHING = os.environ.get("DALENIUS_TESTS") == "all"


def effort(few: int, many: int) -> int:
    """`few` in the default run, `many` in the long one."""
    return many if EVERYTHING else few
