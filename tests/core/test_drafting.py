"""Documents of the kernel are read into nouns, and nouns write the same documents again."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dalenius.core import Design, LocalDP, MaximizeInformation, Pmf, Problem, Resample
from dalenius.core.drafting import Axes, channel_document, drafted
from dalenius.core.drafting.promises import mechanism_document
from dalenius.core.forms import channel_of
from dalenius.documents import ABOUT, digest
from dalenius.documents.telling import channel_told
from dalenius.errors import NotCertified
from dalenius.kernel.document import read_document
from dalenius.kernel.numbers import canonical
from tests.kernel.alike_documents import FILLED, HONEST, real, real_texts

ENOUGH = 10**12
PARTS = Path(__file__).parents[1] / "kernel" / "corpus" / "parts"
DOCUMENTS = {name: json.loads(text) for name, text in real_texts().items()} | {
    path.stem.removeprefix("honest_"): json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(PARTS.glob("honest_*.json"))
    if "card_" not in path.name
}


def again(document):
    """The document of the nouns that a document is read into."""
    text = canonical(document)
    form = document["mechanism"]["form"]
    search = {"form": form, **({"noise": "gaussian"} if form == "noise" else {})} if form != "any" else {}
    design = Design.from_text(text, {"format": ABOUT, "of": digest(text), "mechanism": search})
    axes = None
    if document["channel"]["form"] == "noise":
        own = document["channel"]["axes"]
        axes = Axes([axis["prior"] for axis in own], [axis["variance"] for axis in own])
    law = document["law"]
    rows = sum(int(outcome[-1]) for outcome in law["outcomes"]) if law["law"] == "table" else None
    return drafted(design.problem, design.channel, decoder=design.decoder, proofs=design.proofs, axes=axes, rows=rows)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_read_is_written_again(name):
    document = DOCUMENTS[name]
    written = again(document)
    for key in ("variables", "law", "channel"):
        if document["channel"]["form"] != "filled" or key != "channel":
            assert written[key] == document[key]
    ours = read_document(canonical(written | {"proof": document["proof"]}), ENOUGH)
    theirs = read_document(canonical(document), ENOUGH)
    assert ours.setting.mechanism == theirs.setting.mechanism
    assert (ours.objective, ours.promises, ours.limits) == (theirs.objective, theirs.promises, theirs.limits)


def test_orbits_stand_in_the_order_of_the_observed_columns():
    document = next(d for d in DOCUMENTS.values() if d["channel"]["form"] == "orbits")
    observe = document["mechanism"]["observe"]
    channel = channel_of(channel_told(document, "Y"))
    turned = replace(channel, inputs=dict(reversed(channel.inputs.items())))
    words = [[word for _, word in words] for _, words in channel_document(turned, observe, observe)["columns"]]
    assert words == [[word[::-1] for _, word in words] for _, words in document["channel"]["columns"]]


def test_noise_off_its_grid_has_no_document():
    told = channel_told(real("noise_dice_gaussian"), "Y")
    told["output"] = {"X": [str(Fraction(v) + Fraction(1, 3)) for v in told["output"]["X"]]}
    with pytest.raises(NotCertified, match="off the grid"):
        channel_document(channel_of(told), ["X"], ["X"], axes=Axes([[]], ["1"]))


def test_columns_that_are_not_filled_are_written_as_they_stand():
    filled = channel_of(channel_told(FILLED, "Y"))
    law = Design.from_text(canonical(FILLED)).problem.law
    assert isinstance(law, Pmf)

    def form(channel, observe=("X",)):
        return channel_document(channel, ["X"], list(observe), law=law)["form"]

    fifth, half = (Fraction(1, 5),) * 5, (Fraction(1, 2),) * 5
    assert form(filled) == "filled"
    assert form(Resample(filled.inputs, filled.output, half, filled.q)) == "resample"
    assert form(Resample(filled.inputs, filled.output, filled.keep, fifth)) == "resample"
    sure = tuple(Fraction(int(k == 1)) for k in range(5))
    still = Resample(filled.inputs, filled.output, (Fraction(0),) * 5, sure)
    assert form(still) == "resample"  # always a letter that is not the most frequent one
    assert form(filled, ("Z",)) == "resample"
    assert channel_document(filled, ["X"], ["X"])["form"] == "resample"  # a card has no law


def test_roles_and_letters_of_pairs():
    told = channel_told(HONEST["orbits of two"], "Y")
    assert told["output"] == {"Y": ["0", "1"], "Y_X1": ["0", "1"], "Y_X2": ["0", "1"]}


def test_levels_of_columns_are_for_one_row():
    def levels(each, epsilon="3", rows=1):
        names = ("A", "B")
        promise = LocalDP(Fraction(epsilon), rows=rows)
        goal = MaximizeInformation(names)
        return mechanism_document(Problem(names, goal, (promise,), output="Y", each=each), {})["each"]

    own = {"B": Fraction(2), "A": Fraction(1, 2)}
    assert levels(False) is None
    assert levels(own) == ["1/2", "2"]
    assert levels(own, rows=3) == ["1/6", "2/3"]
    assert levels(True, rows=3) == ["1/2", "1/2"]


def test_a_column_that_is_looked_at_and_kept_is_a_stratum():
    law = Pmf.from_records({"A": ("0", "1"), "B": ("0", "1")}, [(("0", "0"), 1), (("1", "1"), 1)])
    problem = Problem(("B", "A"), MaximizeInformation(("A",)), (), output="Y", keep=("B",), joint=law)
    said = mechanism_document(problem, law.variables)
    assert (said["observe"], said["strata"], said["keep"]) == (["A"], ["B"], [])
    assert (problem.inputs, problem.kept) == (("A", "B"), ("B",))
