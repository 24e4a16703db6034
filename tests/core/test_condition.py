"""`where`: what it understands, what it refuses, and that nothing in it is ever run."""

import pytest

from dalenius.core.condition import Both, Either, Not, Test, condition
from dalenius.errors import InputError


def test_not_binds_closer_than_and_and_and_closer_than_or():
    found = condition("a == 1 or not b == 2 and c == 3")
    assert isinstance(found, Either)
    last = found.parts[1]
    assert isinstance(last, Both)
    assert not isinstance(last, Either)
    assert isinstance(last.parts[0], Not)
    assert found.columns == ("a", "b", "c")
    assert isinstance(condition("(a == 1 or b == 2) and c == 3"), Both)


@pytest.mark.parametrize(
    ("text", "value", "passes"),
    [
        ("age >= 65", "65.0", True),
        ("age >= 65", "64.99", False),
        ("age < -1.5", "-2", True),
        ("age != 3", "3.0", False),
        ("age <> 3", "x", True),
        ("age = 3", "x", False),
        ("sex == 'f'", "f", True),
        ('sex == "f"', "m", False),
        ("sex in ('f', 'x')", "x", True),
        ("age in (1, 2)", "2.0", True),
        ("`home owner` == 'no'", "no", True),
        ("sex == 'f'", None, False),
        ("sex != 'f'", None, False),
        ("sex not in ('f')", None, False),  # as !=
        ("sex not in ('f')", "m", True),
        ("sex not in ('f', 'm')", "m", False),
        ("visited >= '2024-03-01'", "2024-03-01", True),
        ("visited > '2024-03-01'", "2024-03-01 10:30:00", False),  # of that day
        ("visited < '2024-03-01'", "2023-12-31T23:59", True),
        ("visited < '2024-03-01'", None, False),
        ("sex is missing", None, True),
        ("sex is missing", "f", False),
    ],
)
def test_a_test_of_one_value(text, value, passes):
    found = condition(text)
    assert isinstance(found, Test)
    assert found.passes(value) is passes


def test_negations():
    assert condition("not a in (1)") == Not(Test("a", "in", (1,)))
    assert condition("a is not missing") == Not(Test("a", "missing"))
    assert condition("NOT a == 1 AND b == 2").columns == ("a", "b")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        ("a", "a comparison"),
        ("a >", "a number, or a day such as '2024-03-01', is expected"),
        ("a > 'x'", "a number, or a day such as '2024-03-01', is expected"),
        ("a > '2024-02-30'", "'2024-02-30' is no day"),
        ('"sick days" > 5', "a name with a blank stands between backticks"),
        ("sick days > 5", "a name with a blank stands between backticks"),
        ("a == b", "a number, or a text in quotes, is expected"),
        ("a is 3", "`missing` is expected"),
        ("a not 3", "a comparison"),
        ("a in 3", "a list in brackets"),
        ("a in (3", "a comma or a closing bracket"),
        ("(a == 3", "a closing bracket"),
        ("a == 3)", "the end, `and` or `or`"),
        ("3 > a", "the name of a column"),
        ("and a == 3", "the name of a column"),
        ("a == 3 and", "the name of a column"),
        ("a == 'x", "is not understood"),
        ("__import__('os').system('true')", "is not understood"),
        ("print(a)", "a comparison"),
        ("a == 1; b == 2", "is not understood"),
        ("(" * 60 + "a == 1" + ")" * 60, "more than 50 deep"),
        ("a == 1 or " * 2000 + "a == 1", "more than 10,000 characters"),
    ],
)
def test_what_is_not_understood_is_refused_in_one_sentence(text, why):
    with pytest.raises(InputError, match=why) as refusal:
        condition(text)
    assert str(refusal.value).startswith("where: ")
    assert "\n" not in str(refusal.value)


def test_an_order_needs_numbers_or_days():
    with pytest.raises(InputError, match="age"):
        condition("age > 3").tests[0].passes("old")
    for text in ("20240301", "2024-03-41", "3", "2024-03-01x"):
        with pytest.raises(InputError, match=r"visited.*is no day"):
            condition("visited > '2024-03-01'").tests[0].passes(text)
