"""The checker answers hostile texts of up to a megabyte soon, and with nothing but a sentence."""

import pytest

from dalenius.kernel import Refused, check
from dalenius.kernel.numbers import Work
from dalenius.kernel.variance import total_variance
from tests.effort import effort
from tests.kernel.documents import RESPONSE, card, design, distance, limit, text_of
from tests.kernel.hostile import answered, hostile, of_answers, of_balls, of_long_groups
from tests.kernel.hostile_counts import of_long_counts, of_many_cases, of_many_letters
from tests.kernel.hostile_numbers import MOST, long
from tests.kernel.hostile_rules import of_long_limits, of_long_transports

SOON = 2.0  # seconds of the processor, on a machine that does nothing else
ALSO = effort(3, 1)  # tests of a suite share their processors with others


@pytest.mark.slow
def test_every_hostile_text_is_answered_soon():
    late = {}
    for name, text in hostile().items():
        assert len(text) <= 1.1 * MOST, name
        seconds, said = answered(text)
        if seconds > ALSO * SOON:
            late[name] = (seconds, said)
    assert not late


LONG_NUMBERS = ("noise of a long fraction", "weights of many", "sums of many", "long weights of", "long cuts of")
LONG_NUMBERS += ("240 groups of long counts", "limits of 390 digits", "transports of long weights")


@pytest.mark.long
def test_long_numbers_of_answers_balls_groups_and_limits_are_counted():
    found = 0
    others = [*of_long_groups(), *of_long_limits(), *of_long_transports()]
    for name, document in [*of_answers(), *of_balls(), *others]:
        if any(words in name for words in LONG_NUMBERS):
            found += 1
            with pytest.raises(Refused, match="needs more than the 20,000,000 operations"):
                check(text_of(document | {"work": "20000000"}))
    assert found >= len(LONG_NUMBERS)


COUNTED = ("relations between", "faces of", "a deep tree", "boxes of many", "weights of thousands")


@pytest.mark.long
def test_quotients_leaves_and_orbits_are_counted():
    found = set()
    for name, document in [*of_long_counts(), *of_many_cases(), *of_many_letters()]:
        if name.startswith(COUNTED):
            found.add(name)
            with pytest.raises(Refused, match="needs more than the 20,000,000 operations"):
                check(text_of(document))
    assert len(found) == len(COUNTED)


def test_variances_of_many_strata_are_added_up_in_one_unit():
    counts = [(3, 5), (7, 11), (13, 2)]
    found = [total_variance(8, [[5, 3], [2, 6]], both, Work(10**6)) for both in counts]
    assert {value.denominator.bit_length() - 1 for value in found} <= set(range(321))
    assert all(value.denominator & (value.denominator - 1) == 0 for value in found)


def test_a_number_that_python_does_not_write_is_a_refusal():
    huge = distance("matrix", "X", weight=long(), matrix=[["0", long()], [long(), "0"]])
    found = design(
        {"X": ["a", "b"]}, [[0, "1"], [1, "1"]], {"release": ["X"]}, limits=[limit("1", huge)], channel=RESPONSE
    )
    with pytest.raises(Refused, match="too long to be written"):
        check(text_of(found))


@pytest.mark.long
def test_more_inputs_than_python_writes_are_a_refusal():
    names = {f"C{k}": ["a", "b"] for k in range(15_000)}
    found = card(names, {"observe": list(names)}, [], RESPONSE) | {"work": "10000000"}
    with pytest.raises(Refused, match="not one row for each input"):
        check(text_of(found))


def test_a_chain_whose_weights_would_fill_the_memory_is_a_refusal():
    names = {f"C{k}": ["a", "b"] for k in range(3_000)}
    step = long()
    law = {"law": "markov", "start": ["1", "1"], "steps": [[step, "1"], ["1", step]]}
    about = {"aim": "information", "about": ["C0"], "theta": "1"}
    with pytest.raises(Refused, match="operations"):
        check(text_of(design(names, law=law, mechanism={"observe": ["C0"]}, objective=about)))
