"""Forms of channels: each says the same as its rows, is read strictly and survives the file format."""

import json
from fractions import Fraction

import pytest

from dalenius.core import Channel, Pram, channel_of
from dalenius.core.forms.windows import chain
from dalenius.core.numbers import strict_json
from dalenius.core.reading import stochastic
from dalenius.errors import InputError, InvalidChannel, Unsupported

AB = {"inputs": {"X": ["a", "b"]}, "output": {"X": ["a", "b"]}}
RESAMPLE = {"form": "resample", **AB, "keep": ["1/2", "0.25"], "q": ["1/3", "2/3"]}
BITS = ["0", "1"]
PAIR = {"inputs": ["A", "B"], "output": "U", "rows": [["1", "0"], ["1/2", "1/2"], ["0.25", "3/4"], ["0", "1"]]}
LAST = {"inputs": ["C"], "output": "V", "rows": [["1/3", "1/3", "1/3"], ["0", "0", "1"]]}
ABC = {"inputs": dict.fromkeys("ABC", BITS), "output": {"U": BITS, "V": ["x", "y", "z"]}}
PRODUCT = {"form": "product", **ABC, "channels": [PAIR, LAST]}
OVERLAP = {**LAST, "inputs": ["B", "C"], "rows": LAST["rows"] * 2}
WINDOWS = {"form": "windows", **ABC, "channels": [PAIR, OVERLAP]}
ORBITS = {
    "form": "orbits",
    "inputs": dict.fromkeys("AB", BITS),
    "output": {"Y": BITS, "Y_A": BITS, "Y_B": BITS},
    "columns": [["1/3", [["1/2", [0, 0]], ["1/2", [1, 1]]]], ["2/3", [["1/4", [0, 1]], ["3/4", [1, 0]]]]],
}
LISTED = {
    "form": "listed",
    **ABC,
    "places": [1, 6],
    "rows": [["1", "0", "0", "0", "0", "0"], ["1/2", "0", "0", "1/2", "0", "0"], ["1/6"] * 6],
}
FORMS = {"listed": LISTED, "resample": RESAMPLE, "product": PRODUCT, "windows": WINDOWS, "orbits": ORBITS}


@pytest.mark.parametrize("document", FORMS.values(), ids=list(FORMS))
def test_a_form_survives_the_file_format_and_is_a_channel(document):
    form = channel_of(document)
    again = channel_of(strict_json(json.dumps(form.to_json())))
    assert again == form
    assert Channel(form.inputs, form.output, form.rows).rows == form.rows
    _, rows, scale = stochastic(form.to_json())
    assert [[Fraction(v, scale) for v in row] for row in rows] == [list(row) for row in form.rows]


def test_resampling_keeps_or_draws_afresh():
    assert channel_of(RESAMPLE).rows == (
        (Fraction(2, 3), Fraction(1, 3)),
        (Fraction(1, 4), Fraction(3, 4)),
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keep": ["2", "0"]}, "not made of probabilities"),
        ({"q": ["1/3", "1/3"]}, "not a distribution"),
        ({"keep": ["1"]}, "one entry of keep and of q for each value"),
        ({"more": 1}, "exactly the keys"),
    ],
)
def test_a_broken_form_is_refused_by_the_package_and_by_the_checker(change, message):
    with pytest.raises(InvalidChannel, match=message):
        channel_of({**RESAMPLE, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"places": [6, 1]}, "growing numbers below 8"),
        ({"places": [1, 8]}, "growing numbers below 8"),
        ({"places": [1, "6"]}, "whole numbers"),
        ({"places": [1]}, "3 rows for 1 inputs"),
        ({"rows": [*LISTED["rows"][:2], ["1/6"] * 5 + ["1/3"]]}, "not 1"),
        ({"rows": "1"}, "list of lists"),
        ({"more": 1}, "exactly the keys"),
    ],
)
def test_a_broken_list_of_rows_is_refused(change, message):
    with pytest.raises(InvalidChannel, match=message):
        channel_of({**LISTED, **change})


def test_inputs_that_are_not_listed_share_one_row():
    listed = channel_of(LISTED)
    assert [k for k, row in enumerate(listed.rows) if row is not listed.rows[0]] == [1, 6]
    assert listed.drawn_row([0, 0, 1]) == 0
    assert listed.drawn_row([1, 1, 0]) == 1
    assert listed.drawn_row([0, 0, 0]) == 2


def broken(column, **change):
    return {"columns": [column, ORBITS["columns"][1]], **change}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 2}, "exactly the keys"),
        ({"columns": []}, "a list of"),
        (broken(["1/3", [["1", "00"]]]), "a list of"),
        (broken(["1/3", [["1", [0, 0.5]]]]), "a list of"),
        (broken(["1/3", [["1", [0, 2]]]]), "words of all samples"),
        (broken(["1/3", [["1", [0]]]]), "words of all samples"),
        (broken(["1/3", [["1/2", [0, 0]], ["1/2", [0, 0]]]]), "each once"),
        (broken(["1/3", []]), "words of all samples"),
        (broken(["1/3", [["1", [0, 0]], ["0", [1, 1]]]]), "not positive"),
        (broken(["-1/3", [["1", [0, 0]]]]), "not positive"),
        (broken(["1/3", [["1/2", [0, 0]]]]), "masses of column 1 .* do not sum to one"),
        (broken(["2/3", [["1/2", [0, 0]], ["1/2", [1, 1]]]]), "weights .* do not sum to one"),
        (broken(["1/3", [["1", [0, 0]]]]), r"no column of the orbits has a word of type \(0, 2\)"),
        ({"inputs": {"A": BITS, "B": ["1", "0"]}}, "the same values"),
        ({"inputs": {"A": BITS}}, "two samples or more"),
        ({"inputs": {"A": BITS, "Y_A": BITS}}, "like an input"),
        ({"output": {"Y": BITS, "Y_A": BITS, "Y_B": ["0"]}}, "not that of their columns and roles"),
    ],
)
def test_broken_orbits_are_refused(change, message):
    with pytest.raises(InvalidChannel, match=message):
        channel_of({**ORBITS, **change})


def test_orbits_are_drawn_by_the_type():
    form = channel_of(ORBITS)
    assert form.pairs == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [form.types[form.drawn_row(x)] for x in ((0, 0), (0, 1), (1, 0))] == [(2, 0), (1, 1), (1, 1)]
    assert form.drawn[form.place[1, 1]] == (0, 0, Fraction(1, 4), Fraction(3, 4))
    assert form.rows[1] == (0, 0, 0, 0, 0, Fraction(1, 4), Fraction(3, 4), 0)
    assert form.arrangements == 1 + 2


def test_windows_draw_independently_of_each_other_given_the_inputs():
    for document in (PRODUCT, WINDOWS):  # the same law: the second window looks at B and does not care
        rows = channel_of(document).rows
        assert len(rows) == 8
        assert rows[0b010] == tuple(Fraction(1, 6) for _ in range(6))
        assert rows[0b101] == (0, 0, Fraction(1, 4), 0, 0, Fraction(3, 4))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"channels": [PAIR]}, "one recipe for each output"),
        ({"channels": [LAST, PAIR]}, "in the order of the outputs it is 'U'"),
        ({"channels": [PAIR, {**LAST, "inputs": ["D"]}]}, "names some of the inputs"),
        ({"channels": [PAIR, {**LAST, "inputs": ["C", "C"]}]}, "each once"),
        ({"channels": [PAIR, {**LAST, "rows": LAST["rows"][:1]}]}, "recipe 2 .* 1 rows for 2 input outcomes"),
        ({"channels": [PAIR, {**LAST, "rows": [["1", "1", "0"], ["0", "0", "1"]]}]}, "sums to 2, not 1"),
        ({"channels": [PAIR, {**LAST, "more": 1}]}, "exactly the keys inputs, output and rows"),
        ({"channels": [PAIR, OVERLAP]}, "two recipes of a product see 'B'"),
        (
            {"output": {"U": BITS, "A": ["x", "y", "z"]}, "channels": [PAIR, {**LAST, "output": "A"}]},
            "input and an out",
        ),
        ({"rows": []}, "exactly the keys form, inputs, output, `channels`"),
    ],
)
def test_broken_windows_are_refused_with_the_place(change, message):
    with pytest.raises(InvalidChannel, match=message):
        channel_of({**PRODUCT, **change})


def test_windows_with_a_missing_row_are_refused():
    with pytest.raises(InvalidChannel, match="recipe 2 of form 'product': 1 rows for 2 input outcomes"):
        channel_of({**PRODUCT, "channels": [PAIR, {**LAST, "rows": LAST["rows"][:1]}]})


@pytest.mark.parametrize(("size", "overlap"), [(2, 1), (3, 1), (4, 1), (2, 0), (3, 0)])
def test_a_chain_covers_every_sample_and_neighbours_share_as_many_as_said(size, overlap):
    for n in range(2, 30):
        windows = chain(range(n), size, overlap)
        assert set().union(*windows) == set(range(n))
        assert min(map(len, windows)) >= 2
        assert max(map(len, windows)) <= size + 1 - overlap
        for k, window in enumerate(windows):
            for j, other in enumerate(windows[:k]):
                assert len(set(window) & set(other)) == (overlap if j == k - 1 else 0)


@pytest.mark.parametrize(("size", "overlap", "n"), [(3, 2, 9), (1, 0, 4), (2, 1, 1)])
def test_chains_that_leak_or_say_nothing_are_refused(size, overlap, n):
    with pytest.raises(InputError, match="leak in general" if overlap == 2 else "at least two samples"):
        chain(range(n), size, overlap)


def test_a_form_whose_rows_are_no_pmfs_is_refused():
    with pytest.raises(InvalidChannel, match="q is not a distribution"):
        stochastic({**RESAMPLE, "q": ["1/3", "1/3"]})


def test_a_large_form_is_not_written_out():
    letters = tuple(map(str, range(3000)))
    large = Pram({"X": letters}, {"X": letters}, (Fraction(1, 2),) * len(letters))
    with pytest.raises(Unsupported, match="9,000,000 entries"):
        _ = large.rows
