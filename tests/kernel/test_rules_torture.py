"""A few damaged and random proofs; `python -m tests.kernel.torture_rules` runs as many as one likes."""

import pytest

from tests.kernel.torture_rules import climb_proofs, damage_proofs, random_proofs


@pytest.mark.parametrize("proofs", [damage_proofs, climb_proofs, random_proofs])
def test_no_bound_is_passed_by_a_channel_that_is_allowed(proofs):
    found = proofs(250, 7)
    assert found.proved.total() >= 60
    assert found.refused >= 20
    assert (found.false, found.raised) == ([], [])
