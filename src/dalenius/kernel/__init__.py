"""The trusted checker: typed documents, promises, and rules for bounds. It imports nothing but the standard library.

`check` proves every claim of a design or a card, or refuses it with one sentence. Nothing here searches, and nothing
here uses floating-point numbers. `dalenius.kernel.export` writes all of it as one file.
"""

from dalenius.kernel.check import Verdict, check
from dalenius.kernel.numbers import Refused

__all__ = ["Refused", "Verdict", "check"]
