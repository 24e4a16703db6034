"""The checker accepts honest designs and refuses every planted corruption, each for the right reason."""

import copy
import json
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from dalenius.convert import checked as check
from dalenius.core import Pmf
from dalenius.core.numbers import down, exact, up
from dalenius.designs import disclose
from dalenius.errors import NotCertified
from dalenius.testing import disclosure, example2, self_disclosure, two_binary, xor
from tests.effort import effort

HAIR = Fraction(1, 10**12)

HONEST = {
    "example2": example2,
    "xor": xor,
    "two binary": lambda: two_binary(["1/10", "2/5", "1/5", "3/10"], ["9/10", "1/3", "1/2", "1/4"]),
    "self n=3 q=.1": lambda: self_disclosure(["9/10", "1/10"], 3),
    "self n=3 q=.3": lambda: self_disclosure(["7/10", "3/10"], 3),
    "self n=4 q=.1": lambda: self_disclosure(["9/10", "1/10"], 4),
    "self n=4 q=.3": lambda: self_disclosure(["7/10", "3/10"], 4),
}


def kept():
    """W = X1 xor X2 xor K with a kept K that is independent of X1 alone: much of what is told needs K."""
    cells = [(a, b, k, str(int(a) ^ int(b) ^ int(k))) for a in "01" for b in "01" for k in "01"]
    joint = Pmf.from_records(
        dict.fromkeys(("X1", "X2", "K", "W"), ("0", "1")), zip(cells, [3, 1, 1, 3, 1, 2, 3, 2], strict=True)
    )
    return replace(disclosure(joint, ["X1", "X2"], ["W"], [["X1"]]), keep=("K",))


@pytest.fixture(scope="module")
def designs():
    return {name: json.loads(disclose(build()).dumps()) for name, build in {**HONEST, "kept": kept}.items()}


@pytest.mark.parametrize("name", [*HONEST, "kept"])
def test_an_honest_design_is_accepted(designs, name):
    document = designs[name]
    verdict = check(json.dumps(document))
    assert exact(document["value"]) <= verdict.value <= verdict.bound <= exact(document["bound"])
    assert verdict.kind == document["certificate"]["kind"]
    assert len(verdict.figures) == len(document["guarantees"])


def test_a_claim_that_is_too_modest_is_accepted(designs):
    document = copy.deepcopy(designs["example2"])
    document |= {"value": "1e-2", "bound": 1, "gap": "99/100"}
    document["guarantees"][0]["proved"]["guess_after"] = "0.75"
    assert float(check(json.dumps(document)).value) == pytest.approx(0.0134208288992315, abs=1e-15)


# --- planted corruptions ---------------------------------------------------------------------------------------------
def move(holder, key, by):
    holder[key] = str(exact(holder[key]) + Fraction(by))


def rows(d):
    return d["channel"]["rows"]


def swap(items, a, b):
    items[a], items[b] = items[b], items[a]


def proved(d, k=0):
    return d["guarantees"][k]["proved"]


def mass_between_letters(d):
    move(rows(d)[2], 0, "1e-15")
    move(rows(d)[2], 1, "-1e-15")


def mass_between_rows(d):
    mass_between_letters(d)
    move(rows(d)[0], 0, "-1e-15")
    move(rows(d)[0], 1, "1e-15")


def mass_of_the_pmf(d):
    move(d["joint"]["pmf"][0], "p", "1e-9")
    move(d["joint"]["pmf"][4], "p", "-1e-9")


def negative_mass_of_the_pmf(d):
    move(d["joint"]["pmf"][0], "p", "-1/6")
    move(d["joint"]["pmf"][1], "p", "1/6")


def negative_entry(d):
    rows(d)[1][:] = ["-1/3", "2/3", "2/3"]


def other_order_of_letters(d):
    d["channel"]["inputs"]["X2"] = ["e", "0", "1"]


def other_order_in_the_joint(d):
    d["joint"]["variables"]["X2"].reverse()


def reads_the_secret(d):
    d["channel"]["inputs"] = {"X1": ["0", "1"], "X2": ["0", "e", "1"], "W": ["0", "1"]}
    d["channel"]["rows"] = [row for row in rows(d) for _ in "01"]


def another_letter(d):
    d["channel"]["output"]["Y"].append("3")


def one_letter_for_two(d):
    d["channel"]["output"]["Y"] = ["0", "0", "1"]


def an_outcome_twice(d):
    atom = dict(d["joint"]["pmf"][0])
    atom["p"] = d["joint"]["pmf"][0]["p"] = str(exact(atom["p"]) / 2)
    d["joint"]["pmf"].append(atom)


def called_p(d):
    d["joint"]["variables"]["p"] = ["1/12"]


def promise(**said):
    def add(d):
        d["guarantees"].append({"promised": said, "proved": copy.deepcopy(proved(d))})

    return add


def z(d):
    return d["certificate"]["z"]


PLANTED = {
    # the mechanism
    "entry moved by 1e-15": (lambda d: move(rows(d)[0], 0, "-1e-15"), "row 1 of the channel is not a pmf"),
    "mass moved between two letters": (mass_between_letters, r"p\(X1=0, letter 0\) differs from the product by"),
    "mass moved in two rows": (mass_between_rows, r"p\(X1=0, letter 0\) differs from the product by"),
    "two rows swapped": (lambda d: swap(rows(d), 0, 1), "differs from the product by"),
    "two letters of one row swapped": (lambda d: swap(rows(d)[2], 1, 2), "differs from the product by"),
    "row dropped": (lambda d: rows(d).pop(), "not one row for each input outcome"),
    "row added": (lambda d: rows(d).append(["1", "0", "0"]), "not one row for each input outcome"),
    "entry dropped": (lambda d: rows(d)[3].pop(), "row 4 of the channel is not a pmf"),
    "negative entry hidden": (negative_entry, "row 2 of the channel is not a pmf"),
    "letter added": (another_letter, "row 1 of the channel is not a pmf"),
    "letter named twice": (one_letter_for_two, "bad alphabet"),
    "letters reordered in the channel": (other_order_of_letters, "another alphabet than in the joint pmf"),
    "letters reordered in the joint": (other_order_in_the_joint, "another alphabet than in the joint pmf"),
    "channel reads the secret": (reads_the_secret, "reads other columns than said"),
    "channel said to read less": (lambda d: d["mechanism"].update(observe=["X1"]), "reads other columns than said"),
    "another form": (lambda d: d["channel"].update(form="round"), "no channel of form"),
    # the data
    "pmf changed by 1e-9": (mass_of_the_pmf, "differs from the product by"),
    "pmf does not sum to one": (lambda d: move(d["joint"]["pmf"][0], "p", "1e-30"), "does not sum to one"),
    "negative probability hidden": (negative_mass_of_the_pmf, "negative somewhere"),
    "an outcome twice": (an_outcome_twice, "an outcome of the joint pmf stands twice"),
    "a letter from nowhere": (lambda d: d["joint"]["pmf"][0].update(X1="7"), "damaged: KeyError"),
    "a variable called p": (called_p, "a variable is called p"),
    "an atom without a column": (lambda d: d["joint"]["pmf"][0].pop("X2"), "damaged: KeyError 'X2'"),
    # the promises
    "guarantee dropped": (lambda d: d["guarantees"].pop(), "singular basis"),
    "view added": (promise(independent=["X1", "X2"]), "differs from the product by"),
    "view of the secret added": (promise(independent=["W"]), r"p\(W=0, letter 0\) differs from the product by"),
    "view from nowhere": (promise(independent=["Z"]), "damaged: ValueError"),
    "promise that nobody proves": (promise(perfection="1/2"), "cannot prove the promise"),
    "contraction added": (promise(contraction="1/2"), "coefficient is 1, more than promised"),
    "dalenius added": (promise(dalenius=True, at_most_bits="0.01"), "an adversary may learn"),
    "dalenius of too many": (promise(dalenius=True, at_most_bits="9", group=3), "fewer records than the group"),
    "dalenius with more words": (promise(dalenius=True, at_most_bits="9", unless="asked"), "further words"),
    "promise without a kind": (promise(at_most_bits="1"), "cannot prove the promise"),
    "two promises in one": (promise(leakage=["X1"], independent=["X2"], at_most_bits="1"), "cannot prove the promise"),
    "local_dp added": (promise(local_dp="50"), "probability 0 under one input and not under another"),
    "leakage added": (promise(leakage=["W"], at_most_bits="0.0134"), "leakage is exceeded"),
    "worst letter added": (promise(worst_case_leakage=["W"], at_most_bits="0.0134"), "worst_case_leakage is exceeded"),
    "odds added": (promise(information_privacy=["W"], epsilon="0.01"), "information_privacy is exceeded"),
    "a kept column added": (lambda d: d["mechanism"].update(keep=["X2"]), "differs from the product by"),
    "a stratum added": (lambda d: d["mechanism"].update(strata=["W"]), "reads other columns than said"),
    "a limit added": (lambda d: d.update(limit=[]), "limits and side information are not proved"),
    "side information": (lambda d: d.update(side_information={"variable": "W"}), "side information"),
    # the figures
    "value raised by 1e-12": (lambda d: move(d, "value", HAIR), "claimed value 0.013420828900231 is not reached"),
    "bound lowered by 1e-12": (lambda d: move(d, "bound", -HAIR), "claimed bound 0.013420828898232 is not proved"),
    "bound lowered by the last digit": (lambda d: move(d, "bound", "-1e-30"), "claimed bound .* is not proved"),
    "gap too small": (lambda d: d.update(gap="0"), "the claimed gap is smaller"),
    "entropy lowered": (lambda d: d.update(entropy_bits="0.999"), "the claimed entropy is too small"),
    "leakage below nothing": (lambda d: proved(d).update(leakage_bits="-1"), "figure of guarantee 1 is not proved"),
    "one more column": (
        lambda d: move(proved(d, 1)["with_one_more_bits"], "X1", -HAIR),
        "a claimed figure of guarantee 2 is not proved",
    ),
    "guess after": (lambda d: move(proved(d), "guess_after", -HAIR), "figure of guarantee 1 is not proved"),
    "guess before": (lambda d: move(proved(d), "guess_before", HAIR), "figure of guarantee 1 is not proved"),
    "another worst letter": (lambda d: proved(d).update(worst_letter=1), "figure of guarantee 1 is not proved"),
    "figure dropped": (lambda d: proved(d).pop("odds_nats"), "figure of guarantee 1 is not proved"),
    "figure invented": (lambda d: proved(d).update(safe="1"), "figure of guarantee 1 is not proved"),
    "figure unsaid": (lambda d: proved(d).update(odds_nats=None), "the file is damaged"),
    "another target": (lambda d: d["objective"]["maximize"].update(information=["X1"]), "value .* is not reached"),
    "another sense": (lambda d: d.update(objective={"minimize": {"rate": True}}), "no such proof of a least value"),
    "another unit": (lambda d: d.update(unit="nats"), "not a design in bits"),
    "another format": (lambda d: d.update(format="dalenius-design/9"), "not a design in bits"),
    "no format": (lambda d: d.pop("format"), "the file is damaged"),
    # the proof
    "z lowered by 1e-12": (lambda d: move(z(d), 0, -HAIR), "claimed bound .* is not proved"),
    "z raised by 1e-12": (lambda d: move(z(d), 3, HAIR), "claimed bound .* is not proved"),
    "z too short": (lambda d: z(d).pop(), "z has the wrong length"),
    "z not a number": (lambda d: swap(z(d), 0, 1) or z(d).__setitem__(0, "nan"), "damaged: number is 'nan'"),
    "z true": (lambda d: z(d).__setitem__(0, True), "damaged: number is True"),
    "z missing": (lambda d: d["certificate"].pop("z"), "damaged: KeyError 'z'"),
    "basis does not span": (lambda d: d["certificate"]["basis"].pop(), "does not span the constraints"),
    "basis infeasible": (lambda d: d["certificate"].update(basis=[0, 1, 2, 3]), "the starting basis is infeasible"),
    "basis singular": (lambda d: d["certificate"].update(basis=[0, 1, 2, 3, 4]), "singular basis"),
    "basis outside": (lambda d: d["certificate"].update(basis=[0, 2, 3, 6]), "not a basis"),
    "basis negative": (lambda d: d["certificate"].update(basis=[-1, 0, 2, 3]), "not a basis"),
    "basis of words": (lambda d: d["certificate"].update(basis=["0", "2", "3", "4"]), "not a basis"),
    "proof too weak": (lambda d: d.update(certificate={"kind": "universal"}), "claimed bound .* is not proved"),
    "proof unknown": (lambda d: d["certificate"].update(kind="trust"), "knows no such proof"),
    "proof of another type": (lambda d: d.update(certificate=["rays"]), "the file is damaged|knows no such proof"),
    "proof missing": (lambda d: d.pop("certificate"), "damaged: KeyError 'certificate'"),
    # numbers
    "number of 4001 digits": (lambda d: d["joint"]["pmf"][0].update(p="9" * 4001), "damaged: number is"),
    "exponent of four digits": (lambda d: d.update(bound="1e9999"), "the file is damaged: number is '1e9999'"),
    "number over zero": (lambda d: d.update(value="1/0"), "a fraction over zero"),
    "number as a list": (lambda d: d.update(value=["0.01"]), "not a number"),
}


@pytest.mark.parametrize(("corrupt", "message"), PLANTED.values(), ids=PLANTED.keys())
def test_a_planted_corruption_is_refused(designs, corrupt, message):
    document = copy.deepcopy(designs["example2"])
    corrupt(document)
    assert document != designs["example2"]
    with pytest.raises(NotCertified, match=message):
        check(json.dumps(document))


@pytest.mark.parametrize("name", HONEST)
def test_every_design_refuses_one_moved_entry_and_one_improved_figure(designs, name):
    for corrupt, message in [PLANTED[k] for k in ("value raised by 1e-12", "bound lowered by 1e-12", "gap too small")]:
        document = copy.deepcopy(designs[name])
        corrupt(document)
        if document["gap"] != designs[name]["gap"] or "gap" not in message:
            with pytest.raises(NotCertified, match=r"claimed (value|bound|gap)"):
                check(json.dumps(document))
    for row in range(len(designs[name]["channel"]["rows"])):
        document = copy.deepcopy(designs[name])
        move(rows(document)[row], 0, "1e-15")
        move(rows(document)[row], 1, "-1e-15")
        with pytest.raises(NotCertified, match=r"is not a pmf|differs from the product"):
            check(json.dumps(document))


def test_a_kept_column_dropped_is_refused(designs):
    document = copy.deepcopy(designs["kept"])
    del document["mechanism"]["keep"]
    with pytest.raises(NotCertified, match="singular basis"):
        check(json.dumps(document))
    document["certificate"] = {"kind": "universal"}
    document |= {"bound": "1", "gap": "1"}
    with pytest.raises(NotCertified, match=r"claimed value .* is not reached"):
        check(json.dumps(document))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[: len(text) // 2], "not valid JSON"),
        (lambda text: text + "}", "not valid JSON: Extra data"),
        (lambda _: "", "not valid JSON"),
        (lambda _: "[]", "the file is damaged"),
        (lambda _: "null", "the file is damaged"),
        (lambda _: '{"a":' * 100_000, "a nesting beyond all measure"),
        (lambda text: text.replace('"value": ', '"value": "1", "value": ', 1), "the key 'value' stands twice"),
        (lambda text: text.replace('"p": "1/12"', '"p": "1/2", "p": "1/12"', 1), "the key 'p' stands twice"),
        (lambda text: text.replace('"1/12"', "NaN", 1), "NaN is not a number"),
        (lambda text: text.replace('"1/12"', "9" * 5000, 1), "a number or a nesting beyond all measure"),
        (lambda text: text.replace('"1/12"', "0.0833333333333333333333", 1), "does not sum to one"),
    ],
)
def test_a_damaged_file_is_refused(designs, damage, message):
    text = json.dumps(designs["example2"])
    assert damage(text) != text
    with pytest.raises(NotCertified, match=message):
        check(damage(text))


def test_a_walk_without_end_is_refused(designs, monkeypatch):
    monkeypatch.setattr("dalenius.core.pivoting.WALK_LIMIT", 3)
    with pytest.raises(NotCertified, match="too many bases to walk"):
        check(json.dumps(designs["self n=4 q=.3"]))


# --- soundness: a false bound is never proved, whatever the proof says -----------------------------------------------
def mutated(proof, draw):
    """The proof with one number, place or part changed at random."""
    proof = copy.deepcopy(proof)
    values, basis = proof["z"], proof["basis"]
    what = draw.randrange(8)
    if what < 4:
        k = draw.randrange(len(values))
        move(values, k, Fraction(draw.randrange(-1000, 1001), 10 ** draw.randrange(1, 13)))
    elif what == 4:
        a, b = draw.sample(range(len(values)), 2)
        swap(values, a, b)
    elif what == 5:
        basis[draw.randrange(len(basis))] = draw.randrange(-1, len(values) + 1)
    elif what == 6:
        basis[:] = draw.sample(range(len(values)), len(basis))
    else:
        scale = Fraction(draw.randrange(0, 2000), 1000)
        values[:] = [str(exact(v) * scale) for v in values]
    return proof


def test_mutated_proofs_of_a_false_bound_are_all_refused(designs):
    draw, refusals, tried = random.Random(1), [], 0
    honest = [designs[k] for k in HONEST if designs[k]["certificate"]["kind"] == "rays" and k != "self n=4 q=.1"]
    assert len(honest) == 5
    for true in honest:
        check(json.dumps(true))  # the honest claim passes, so what follows is refused for its bound alone
        false = exact(true["value"]) - Fraction(1, 10**9)
        for _ in range(effort(16, 100)):
            proof = true["certificate"]
            for _ in range(draw.choice([0, 1, 1, 2, 5])):
                proof = mutated(proof, draw)
            claim = true | {"value": down(false), "bound": up(false), "gap": "1", "certificate": proof}
            tried += 1
            with pytest.raises(NotCertified) as caught:
                check(json.dumps(claim))
            refusals.append(str(caught.value))
    assert len(refusals) == tried == 5 * effort(16, 100)
    # Most mutations leave a well-formed proof; it is the number that is refused, not the spelling.
    assert sum("is not proved" in r for r in refusals) > tried // 2


def test_mutated_proofs_of_a_loose_bound_are_often_accepted(designs):
    """The counterpart: a mutation of z is still a proof, only of a larger bound."""
    draw, accepted = random.Random(2), 0
    true = designs["example2"]
    for _ in range(60):
        claim = true | {"bound": "2", "gap": "2", "certificate": mutated(true["certificate"], draw)}
        try:
            accepted += bool(check(json.dumps(claim)))
        except NotCertified:
            continue
    assert accepted > 20
