"""What is taken of chains of independent samples: a letter for each window, and sums modulo M (paper 000)."""

from dalenius.core import Independent, MaximizeInformation
from dalenius.mechanisms.declared import Mechanism, Promised

__all__ = ["SUMS", "WINDOWS"]

_SENTENCES = {
    "letters": 'it names its outputs itself: output = "Y" gives Y1, Y2, ...',
    "max_rows": "releases of 0 bits do not add up to 0 bits over the rows of one person; leave out unit and max_rows",
}

WINDOWS = Mechanism(
    name="windows",
    title='form = "windows"',
    designer="dalenius.mechanisms.chains.windows:windows",
    lists_outcomes=False,
    objectives=(MaximizeInformation,),
    promises=(Promised(Independent),),
    count=(1, None),
    forms=("windows",),
    sentences={"form": 'it needs form = "windows" and windows = { size = ... } in [mechanism]', **_SENTENCES},
)

SUMS = Mechanism(
    name="sums",
    title='form = "sums"',
    designer="dalenius.mechanisms.chains.sums:modular_sums",
    lists_outcomes=False,
    objectives=(MaximizeInformation,),
    promises=(Promised(Independent),),
    count=(1, None),
    forms=("sums",),
    sentences=_SENTENCES,
)
