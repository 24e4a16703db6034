"""Windows, columns, strata and sums: figures of real designs, and the same figures by going through all outcomes."""

import contextlib
import json
from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from time import process_time

import pytest

from dalenius.kernel import composite
from dalenius.kernel.channel import Dense
from dalenius.kernel.check import check
from dalenius.kernel.numbers import Node, Refused, canonical
from dalenius.kernel.release import Release
from dalenius.kernel.rules import proved_bound
from tests.kernel.brute_parts import lies
from tests.kernel.mutations import damaged
from tests.kernel.parts_documents import (
    CLOSE,
    CORPUS,
    FINE,
    ORACLE,
    dense,
    design,
    honest,
    independent,
    known,
    local_dp,
    read,
    written_out,
)


# --- real designs -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ORACLE)
def test_real_designs_have_the_figures_that_another_checker_proved(name):
    verdict = check((CORPUS / f"honest_{name}.json").read_text())
    expected = ORACLE[name]
    assert abs(verdict.value - Fraction(expected["value"])) < FINE
    assert abs(verdict.bound - Fraction(expected["bound"])) < FINE
    for figures, known_figures in zip(verdict.kept.promises, expected["figures"], strict=True):
        for figure, value in known_figures.items():
            more = value if isinstance(value, dict) else {None: value}
            for column, one in more.items():
                own = figures["leakage_bits" + f"|{column}" if column else figure]
                assert (own is None) == (one is None)
                assert own is None or abs(own - Fraction(one)) < CLOSE


@pytest.mark.parametrize("path", sorted(CORPUS.glob("honest_card_*.json")), ids=lambda path: path.stem)
def test_cards_prove_the_levels_of_their_designs(path):
    card = check(path.read_text())
    proved = check((CORPUS / path.name.replace("card_", "")).read_text()).kept.promises
    for figures, own in zip(card.kept.promises, proved, strict=True):
        assert figures is None or figures == own
    assert (card.rule, card.value) == ("privacy", None)


SMALL = [name for name in ORACLE if name.startswith(("columns_", "strata_")) and name != "columns_many"]
SMALL += ["windows_few", "windows_part", "sums_few"]


@pytest.mark.parametrize("name", SMALL)
def test_forms_that_are_written_out_have_the_same_levels_and_information(name):
    document = honest(name)
    if document["law"]["law"] == "margins":
        document = with_joint(document)
    compact, plain = read(document).release, read(written_out(document)).release
    mechanism = compact.setting.mechanism
    assert compact.channel.rows(compact.work)[0] == plain.channel.scale
    for about in ([mechanism.observe] if len(mechanism.observe) < 3 else []) + [mechanism.observe[:1]]:
        (low, high), (below, above) = compact.information(about), plain.information(about)
        assert abs(low - below) < CLOSE
        assert abs(high - above) < CLOSE
    if document["promises"][0]["promise"] == "local_dp":
        assert abs(compact.level(mechanism.beside, None) - plain.level(mechanism.beside, None)) < CLOSE


def with_joint(document):
    """The columns of a design as independent groups, so that their law can be written out."""
    return document | {"law": {"law": "independent", "groups": document["law"]["columns"]}}


# --- columns ----------------------------------------------------------------------------------------------------------
def test_what_columns_tell_is_added_up_column_by_column():
    document = read(honest("columns_pram"))
    found = document.release.information_of_each()
    each = [part.information(part.setting.mechanism.observe) for part in document.release.parts]
    assert found == (sum(low for low, _ in each), sum(high for _, high in each))
    for part, column in zip(document.release.parts, honest("columns_pram")["law"]["columns"], strict=True):
        name = column["variables"][0]
        letters = {v.name: len(v.letters) for v in document.setting.variables}[name]
        _, rows = part.channel.rows(document.work)
        alone = design({name: letters}, column, {"observe": [name]}, dense(rows))
        assert abs(read(alone).release.information((name,))[0] - part.information((name,))[0]) < CLOSE


def test_a_column_needs_no_joint_law_and_gets_none():
    document = read(honest("columns_pram"))
    with pytest.raises(Refused, match="not how the columns depend"):
        document.release.told(("X",))
    with pytest.raises(Refused, match="not how the columns depend"):
        document.setting.law.entropy(("X", "sex"), document.work)
    assert document.setting.law.entropy(("X",), document.work)[0] > 1


def test_margins_of_a_table_say_how_many_rows_it_had():
    document = honest("columns_pram")
    for column in document["law"]["columns"]:
        column["law"] = "table"
        total = sum(int(outcome[-1]) for outcome in column["outcomes"])
        column["outcomes"] = [[*x, str(int(n) * 72 // total)] for *x, n in column["outcomes"]]
    assert check(canonical(document)).rows == 72
    assert check(canonical(honest("columns_pram"))).rows is None


def test_levels_of_overlapping_windows_are_added_up_and_bound_the_true_one():
    noisy = {"form": "dense", "letters": 2, "scale": "3", "rows": [["2", "1"], ["1", "2"], ["1", "2"], ["2", "1"]]}
    windows = [{"reads": [0, 1], "channel": noisy}, {"reads": [1, 2], "channel": noisy}]
    law = known("ABC", [[a, b, c, "1"] for a, b, c in product((0, 1), repeat=3)])
    document = design(dict.fromkeys("ABC", 2), law, {"observe": [*"ABC"]}, {"form": "windows", "windows": windows})
    compact, plain = read(document).release, read(written_out(document)).release
    assert compact.level((), None) == 2 * compact.parts[0].level((), None)
    assert plain.level((), None) <= compact.level((), None) < Fraction(14, 10)
    one = tuple(tuple(Fraction(int(i != j)) for j in range(8)) for i in range(8))
    assert abs(compact.level((), one) - plain.level((), None)) < CLOSE


# --- strata -----------------------------------------------------------------------------------------------------------
def random_law(random, names, sizes, zeros=0):
    outcomes = [[*x, str(random.randint(1, 9))] for x in product(*map(range, sizes)) if random.random() >= zeros]
    return known(names, outcomes or [[0] * len(sizes) + ["1"]])


def random_rows(random, many, width, total=12):
    rows = []
    for _ in range(many):
        cuts = sorted(random.randint(1, total - 1) for _ in range(width - 1))
        rows.append([b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)])
    return rows


@pytest.mark.parametrize("seed", range(6))
def test_random_strata_tell_what_their_matrix_tells(seed):
    random = Random(seed)
    sizes = {"W": 2, "X": 3, "S": 2, "T": random.randint(1, 2), "K": 2}
    law = random_law(random, sizes, sizes.values(), 0.3)
    channels = [dense(random_rows(random, 3, 3)) for _ in range(2 * sizes["T"])]
    mechanism = {"observe": ["X"], "strata": ["S", "T"], "keep": ["K"] if seed % 2 else []}
    document = design(sizes, law, mechanism, {"form": "strata", "channels": channels})
    compact, plain = read(document).release, read(written_out(document)).release
    for about in (("X",), ("W",), ("W", "X"), ("S", "X")):
        for ours, theirs in zip(compact.information(about), plain.information(about), strict=True):
            assert abs(ours - theirs) < CLOSE
    assert compact.information(("W",), ("X",)) == plain.information(("W",), ("X",))
    assert compact.told(("W",)) == plain.told(("W",))
    rows = plain.dense[1]
    if all(v for row in rows for v in row):
        for given in (("S", "T", "K"), ("S",), ()):
            assert compact.level(given, None) == plain.level(given, None)


def test_a_stratum_without_records_keeps_its_level_and_needs_no_proof():
    document = honest("strata_empty")
    found = read(document)
    shares = [many for many, _ in found.release.parts]
    assert 0 in shares
    assert sum(shares) == found.setting.total
    assert len(document["proof"]["proofs"]) == len(document["channel"]["channels"]) - 1
    empty = document["channel"]["channels"][shares.index(0)]
    empty["ratio"] = "20"
    with pytest.raises(Refused, match="a row does not sum to one"):
        check(canonical(document))
    total = sum(19 * Fraction(weight) * (0 in members) + Fraction(weight) for weight, members in empty["columns"])
    empty["columns"] = [[str(Fraction(weight) / total), members] for weight, members in empty["columns"]]
    with pytest.raises(Refused, match="the level of local_dp is"):
        check(canonical(document))


# --- bounds -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(8))
def test_bounds_of_groups_are_those_in_closed_form(seed):
    """Group by group as from the law written out; a view over several groups may leave the closed form less."""
    random = Random(seed)
    sizes = {"A": 2, "W": 2, "B": 3, "C": 2}
    groups = [random_law(random, ["A", "W"], [2, 2]), random_law(random, ["B"], [3]), random_law(random, ["C"], [2])]
    views = [independent("A"), independent("B"), independent("C")][: random.randint(0, 3)]
    views += [independent("A", "B")] if seed % 2 else []
    views += [independent("W")] if seed % 3 else []
    law = {"law": "independent", "groups": groups}
    about = [["A", "B", "C"], ["W"], ["W", "B"]][seed % 3]
    objective = {"aim": "information", "about": about, "theta": "1"}
    channel = dense([[1]] * 12)
    document = read(design(sizes, law, {"observe": [*"ABC"]}, channel, promises=views, objective=objective))
    asked = document.setting, document.promises, document.limits, document.objective
    closed = proved_bound(*asked, Node({"rule": "closed"}))
    grouped = proved_bound(*asked, Node({"rule": "groups"}))
    assert grouped >= closed - CLOSE
    if not seed % 2:
        assert abs(grouped - closed) < CLOSE


@pytest.mark.parametrize("name", ["strata_two", "strata_pram", "strata_joint_pram", "strata_empty"])
def test_bounds_of_strata_are_the_bounds_of_each_by_itself(name):
    document = honest(name)
    found = read(document)
    observe, strata = found.setting.mechanism.observe, found.setting.mechanism.strata
    total, bound = found.setting.law.total, Fraction(0)
    proofs = iter(document["proof"]["proofs"])
    labels = found.setting.law.labels(strata)
    for stratum in product(*(range(len(found.setting.alphabets[s])) for s in strata)):
        atoms = [atom for atom, label in zip(found.setting.law.atoms, labels, strict=True) if label == stratum]
        if not atoms:
            continue
        sizes = {name: len(found.setting.alphabets[name]) for name in observe}
        law = known(observe, [[*outcome[: len(observe)], str(n)] for outcome, n in atoms])
        mechanism = {"observe": [*observe], "release": document["mechanism"]["release"]}
        mechanism["form"] = document["mechanism"]["form"]
        promise = document["promises"][0] | {"given": []}
        stay = {"form": "pram", "stay": ["1/2"] * prod(sizes.values())}
        channel = stay if mechanism["release"] else dense([[1]] * prod(sizes.values()))
        alone = read(design(sizes, law, mechanism, channel, promises=[promise]))
        asked = alone.setting, alone.promises, (), alone.objective, Node(next(proofs))
        bound += Fraction(sum(n for _, n in atoms), total) * proved_bound(*asked)
    beside = Release(found.setting, Dense(1, ((1,),) * found.setting.many, 1)).information(observe)[1]
    assert abs(check(canonical(document)).bound - bound - beside) < CLOSE


def test_promises_that_parts_cannot_use_are_left_out_of_their_bounds():
    document = honest("strata_two")
    before = check(canonical(document)).bound
    document["promises"].append({"promise": "leakage", "secret": ["X"], "at_most_bits": "9", "within": None})
    document["evidence"].append(None)
    document["claims"]["promises"].append([])
    document["work"] = "1000000"
    assert check(canonical(document)).bound == before


def test_a_group_may_be_asked_for_when_the_law_is_not_one_of_groups():
    document = read(honest("strata_two"))
    asked = document.setting, document.promises, document.limits, document.objective
    with pytest.raises(Refused, match="not made of independent groups"):
        proved_bound(*asked, Node({"rule": "groups"}))


def test_windows_over_a_law_that_is_not_independent_are_gone_through():
    random = Random(3)
    law = random_law(random, ["A", "B", "C"], [2, 2, 2])
    windows = [{"reads": reads, "channel": dense(random_rows(random, 4, 2))} for reads in ([0, 1], [1, 2])]
    document = design(dict.fromkeys("ABC", 2), law, {"observe": [*"ABC"]}, {"form": "windows", "windows": windows})
    compact, plain = read(document).release, read(written_out(document)).release
    assert not compact.by_lemma
    assert compact.told(("A",)) == plain.told(("A",))
    with pytest.raises(Refused, match="not made of independent groups"):
        _ = compact.groups
    with pytest.raises(Refused, match="not independent of A"):
        compact.independent(("A",))


# --- damaged designs --------------------------------------------------------------------------------------------------
def damageable():
    """Small designs, and those that the lemmas speak of when no outcome is gone through: (lemma, document)."""
    for name in (
        "columns_in_strata",
        "columns_pram",
        "columns_staircase",
        "strata_empty",
        "strata_two",
        "windows_part",
    ):
        yield False, honest(name)
    for name in ("windows_few", "sums_few"):
        document = honest(name)
        yield False, document
        bare = [[claim for claim in claims if claim["given"] is None] for claims in document["claims"]["promises"]]
        claims = document["claims"] | {"promises": bare, "value": "0.3", "gap": "9"}
        yield True, document | {"claims": claims, "proof": {"rule": "groups"}}


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_damaged_designs_are_refused_or_true(seed, monkeypatch):
    random = Random(seed)
    documents = list(damageable())
    accepted = 0
    for _ in range(200 if seed == 1 else 5000):
        lemma, document = random.choice(documents)
        text = canonical(damaged(document | {"work": "20000000"}, random))
        monkeypatch.setattr(composite, "GONE_THROUGH", 0 if lemma else 1 << 14)
        try:
            check(text)
        except Refused:
            continue
        accepted += 1
        assert lies(json.loads(text)) == []
    assert accepted


@pytest.mark.long
@pytest.mark.parametrize("name", [*SMALL, "windows_apart"])
def test_a_second_opinion_finds_no_lie_in_real_designs_and_one_in_false_ones(name):
    document = honest(name)
    if document["law"]["law"] == "margins":
        assert lies(document) == []
    document = with_joint(document) if document["law"]["law"] == "margins" else document
    assert lies(document) == []
    document["claims"]["value"] = str(Fraction(document["claims"]["value"]) + Fraction(1, 1000))
    assert lies(document) == ["value"]


# --- many of everything -----------------------------------------------------------------------------------------------
FLAT = {"form": "dense", "letters": 1, "scale": "1", "rows": [["1"], ["1"]]}
SURE = {"scale": "1", "rows": [["1", "0"], ["0", "1"]]}


def many_samples(many, channel, promises):
    names = [f"X{k}" for k in range(many)]
    groups = [known([name], [[0, str(2 * k + 1)], [1, str(k + 1)]]) for k, name in enumerate(names)]
    law = {"law": "independent", "groups": groups}
    promises = [independent(name) for name in names[:promises]]
    proof = {"rule": "groups"}
    return design(dict.fromkeys(names, 2), law, {"observe": names}, channel, promises=promises, proof=proof)


def large():
    """Files of half a megabyte whose proofs would take long if work were not counted, or counted in squares."""
    windows = [{"reads": [k], "channel": FLAT} for k in range(3000)]
    yield "windows", many_samples(3000, {"form": "windows", "windows": windows}, 1000)
    sums = {"form": "sums", "modulus": 2, "states": [SURE] * 1500, "sums": [[k, k + 1] for k in range(1499)]}
    yield "sums", many_samples(1500, sums, 1000)
    strata = {"form": "strata", "channels": [FLAT] * 9000}
    law = known(["X", "S"], [[0, 0, "1"], [1, 0, "1"]])
    promises = [local_dp("1", "S")]
    proof = {"rule": "parts", "proofs": [{"rule": "closed"}]}
    mechanism = {"observe": ["X"], "strata": ["S"]}
    yield "strata", design({"X": 2, "S": 9000}, law, mechanism, strata, promises=promises, proof=proof)


@pytest.mark.slow
@pytest.mark.parametrize("document", [pytest.param(document, id=name) for name, document in large()])
def test_large_files_end_soon(document):
    start = process_time()
    with contextlib.suppress(Refused):
        check(canonical(document))
    assert process_time() - start < 4
