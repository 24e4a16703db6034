"""A kernel with an error planted into it is caught; if one is not, the tests have no teeth there."""

import pytest

from tests.effort import effort
from tests.kernel.one_file import loaded, source
from tests.kernel.planted import PLANTED, planted_into, seen, seen_by

# A few of each kind by default, all of them in the long run.
CHOSEN = PLANTED[:: effort(16, 1)]


@pytest.mark.parametrize(("before", "after"), [error[1:] for error in CHOSEN], ids=[error[0] for error in CHOSEN])
def test_a_planted_error_is_seen(before, after):
    assert seen(before, after) is not None


def test_every_planted_error_still_finds_its_place():
    for name, before, after in PLANTED:
        assert planted_into(source(), before, after) != source(), name


def test_the_kernel_without_an_error_is_not_accused():
    assert seen_by(loaded(source())) is None


def test_there_are_enough_planted_errors():
    assert len(PLANTED) >= 75
    assert len({name for name, _, _ in PLANTED}) == len(PLANTED)
