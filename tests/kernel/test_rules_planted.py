"""Errors that are planted into the rules are seen, and the rules as they are pass every directed case."""

import pytest

from tests.kernel.directed_cases import CASES, judged
from tests.kernel.one_file import one_file, source
from tests.kernel.planted_rules import PLANTED, planted, right, seen


@pytest.mark.parametrize("name", CASES)
def test_no_directed_case_passes_its_value(name):
    assert judged(CASES[name](), one_file()) in ("sound", "refused")


def test_directed_cases_are_of_both_kinds():
    said = list(right().values())
    assert said.count("sound") >= 12
    assert said.count("refused") >= 8


def test_nothing_is_seen_in_the_rules_as_they_are():
    assert seen(one_file()) is None


def test_every_planted_error_has_a_name_and_a_place():
    assert len({name for name, _, _ in PLANTED}) == len(PLANTED) >= 50
    assert [name for name, old, _ in PLANTED if source().count(old) != 1] == []


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), [error[1:] for error in PLANTED], ids=[error[0] for error in PLANTED])
def test_a_planted_error_is_seen(old, new):
    assert seen(planted(old, new)) is not None


@pytest.mark.parametrize(
    ("old", "new"), [error[1:] for error in PLANTED[::16]], ids=[error[0] for error in PLANTED[::16]]
)
def test_some_planted_errors_are_seen(old, new):
    assert seen(planted(old, new)) is not None
