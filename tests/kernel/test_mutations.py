"""Damaged documents: nothing is raised but a refusal, what is proved is true, and the exported file agrees."""

import random

from dalenius.kernel import Refused
from tests.effort import effort
from tests.kernel.brute import truthful
from tests.kernel.honest_documents import honest
from tests.kernel.torture import damage


def test_damaged_documents_prove_nothing_false():
    found = damage(effort(600, 40_000), seed=1)
    assert found.refused > found.proved > 25
    assert found.false == []
    assert found.raised == []
    assert found.differ == []


def test_damaged_documents_of_every_form_raise_nothing_but_refusals():
    found = damage(effort(100, 20_000), seed=1, everywhere=True)
    assert found.refused > 50
    assert found.raised == []
    assert found.differ == []


def test_a_kernel_that_accepts_everything_is_caught():
    found = damage(300, seed=2, checker=lambda text, allowed, privacy_only: None)
    assert len(found.false) > 20


def test_a_kernel_that_raises_is_caught():
    def careless(text, allowed, privacy_only):
        raise Refused("no") if random.random() < 0.5 else IndexError("list index out of range")

    assert len(damage(100, seed=3, checker=careless).raised) > 20


def test_honest_documents_are_true_by_brute_force():
    chance = random.Random(4)
    assert [name for name, document in honest().items() if not truthful(document, chance)] == []
