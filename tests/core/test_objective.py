"""What is wanted of a release, as Python says it."""

from fractions import Fraction

import pytest

from dalenius import (
    Distortion,
    MaximizeInformation,
    MaximizeInformationOfEach,
    MinimizeLeakage,
    MinimizeLeakageAndRate,
    MinimizeVariance,
)
from dalenius.core.objective import AtLeast
from dalenius.errors import InputError


@pytest.mark.parametrize(
    "made",
    [
        lambda names: MaximizeInformation(names).names,
        lambda names: MaximizeInformationOfEach(names).names,
        lambda names: MinimizeLeakage(names).names,
        lambda names: MinimizeLeakageAndRate(names).names,
        lambda names: MinimizeVariance(names).names,
        lambda names: Distortion("hamming", names).of,
        lambda names: AtLeast(names, Fraction(1)).about,
    ],
)
def test_a_text_is_one_name_and_never_its_characters(made):
    assert made("health") == made(["health"]) == ("health",)
    assert made(["age", "plan"]) == ("age", "plan")


def test_numbers_are_read_exactly():
    assert Distortion("hamming", "plan", "0.1").at_most == Fraction(1, 10)
    assert AtLeast("plan", "1/3").at_least_bits == Fraction(1, 3)
    with pytest.raises(InputError, match="theta is 3/2"):
        MinimizeLeakageAndRate("health", "3/2")
