"""A few damaged and random proofs; `python -m tests.kernel.torture_rules` runs as many as one likes."""

import pytest

from tests.effort import effort
from tests.kernel.torture_rules import climb_proofs, damage_proofs, random_proofs


@pytest.mark.long
@pytest.mark.parametrize("proofs", [damage_proofs, climb_proofs, random_proofs])
def test_no_bound_is_passed_by_a_channel_that_is_allowed(proofs):
    found = proofs(effort(100, 2_000), 7)
    assert found.proved.total() >= 20
    assert found.refused >= 8
    assert (found.false, found.raised) == ([], [])
