"""The audit of a mechanism: what it says is what the measures say, of channels, designs, cards and files of them."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

import dalenius
from dalenius.core import Channel, Dalenius, Independent, LocalDP, MaximizeInformation, Pmf, Problem, Types
from dalenius.core.drafting import drafted
from dalenius.documents import proved_text
from dalenius.errors import InputError, InvalidChannel, Unsupported
from dalenius.evidence import examine_mechanism, opened
from dalenius.report.mechanism import audited
from dalenius.testing import disclosure, xor

FLIP = (Fraction(3, 4), Fraction(1, 4))
BITS = {"A": ("0", "1"), "B": ("0", "1")}
PARITY = Channel(BITS, {"Y": ("0", "1")}, (FLIP, FLIP[::-1], FLIP[::-1], FLIP))
UNIFORM = Pmf.from_records(BITS, [(x, 1) for x in product("01", repeat=2)])


@pytest.mark.long
def test_noisy_parity_under_the_uniform_prior():
    seen = examine_mechanism(PARITY, UNIFORM)
    told = seen.to_json()
    for key in ("individual_capacity_bits", "capacity_bits", "mutual_information_bits"):
        low, high = told[key]
        assert low - 1e-12 <= 0.188721875540867 <= high + 1e-12
    assert set(told["group_capacity_bits"]) == {"1", "2"}
    assert told["per_input_bits"] == {"A": [0.0, 0.0], "B": [0.0, 0.0]}
    low, high = told["per_input_given_others_bits"]["B"]
    assert low - 1e-15 <= 0.188721875540867136 <= high + 1e-15
    assert told["dp_epsilon"] == pytest.approx(1.0986122886681098, abs=1e-14)
    assert (told["bayes_guess_before"], told["bayes_guess_after"]) == (0.25, 0.375)
    assert told["maximal_correlation"] == pytest.approx(0.5, abs=1e-12)
    assert told["s_star"][0] == pytest.approx(0.25, abs=1e-12)
    assert told["s_star"][1] <= told["eta_kl"] <= told["eta_tv"]
    kinds = [type(g) for g in seen.guarantees]
    assert kinds[:3] == [Dalenius, Dalenius, LocalDP]
    assert kinds.count(Independent) == 2
    json.dumps(told)


@pytest.mark.long
def test_the_promises_that_it_names_are_kept():
    """Every level that the audit names is accepted by the kernel as a promise of that mechanism."""
    law = Channel(BITS, {"Y": ("0", "1")}, (FLIP, (Fraction(2, 3), Fraction(1, 3)), FLIP[::-1], FLIP))
    seen = examine_mechanism(law, UNIFORM)
    promises = tuple(g for g in seen.guarantees if not isinstance(g, Dalenius))
    problem = Problem(("A", "B"), MaximizeInformation(("A", "B")), promises, output="Y", joint=UNIFORM)
    found = proved_text(drafted(problem, law), [{"rule": "closed"}])
    assert len(found.kept.promises) == len(promises) >= 5


def test_without_a_prior_nothing_that_needs_one_is_said():
    told = examine_mechanism(PARITY).to_json()
    assert not {"mutual_information_bits", "s_star", "per_input_bits", "bayes_guess_after"} & set(told)


def test_infinite_levels_are_null():
    sure = (Fraction(1), Fraction(0))
    law = Channel(BITS, {"Y": ("0", "1")}, (sure, sure[::-1], sure[::-1], sure))
    told = examine_mechanism(law).to_json()
    assert (told["dp_epsilon"], told["strong_dp_epsilon"], told["independent_by_dp_bits"]) == (None, None, None)
    assert not any(isinstance(g, LocalDP) for g in examine_mechanism(law).guarantees)


@pytest.mark.long
def test_the_worst_adversary_in_words():
    text = "\n".join(audited(examine_mechanism(PARITY, UNIFORM)))
    assert "The worst record is A." in text
    assert "with probability 0.5, and then B=" in text
    assert "any one record, any attacker (C_1)" in text
    assert "what is released is exactly independent of A" in text
    pad = (Fraction(1, 2), Fraction(1, 2))
    assert "No attacker learns anything" in "\n".join(
        audited(examine_mechanism(Channel({"M": ("0", "1")}, {"C": ("0", "1")}, (pad, pad))))
    )


@pytest.mark.long
def test_a_design_is_audited_under_its_own_joint_pmf_and_its_card_under_none(tmp_path):
    design = dalenius.solve(xor())
    seen = dalenius.audit(design)
    assert seen.prior is not None
    assert seen.prior.per_input == {"X1": (0.0, 0.0), "X2": (0.0, 0.0)}
    (tmp_path / "design.json").write_text(design.dumps())
    (tmp_path / "card.json").write_text(design.card_text())
    assert dalenius.audit(tmp_path / "design.json") == seen
    assert dalenius.audit(tmp_path / "card.json").prior is None
    other = dalenius.audit(design, prior=Pmf.from_records({"X1": ("0", "1"), "X2": ("0", "1")}, [(("0", "0"), 1)]))
    assert other.prior.mutual_information == (0.0, 0.0)


def test_kept_columns_count_as_outputs(tmp_path):
    joint = Pmf.from_records(
        {"X": ("0", "1"), "K": ("a", "b"), "W": ("0", "1")}, [(x, 1) for x in product("01", "ab", "01")]
    )
    design = dalenius.solve(replace(disclosure(joint, ["X"], ["W"], [["X"]]), keep=("K",)))
    mechanism = opened(design)
    assert list(mechanism.channel.inputs) == ["X", "K"]
    assert mechanism.remarks
    assert examine_mechanism(mechanism.channel, mechanism.law).worst.low == pytest.approx(
        1.0, abs=1e-9
    )  # of K, and of X if X tells K
    (tmp_path / "card.json").write_text(design.card_text())
    with pytest.raises(Unsupported, match="a card does not list its values"):
        opened(tmp_path / "card.json")


@pytest.fixture
def written(tmp_path):
    def write(document):
        path = tmp_path / "channel.json"
        path.write_text(json.dumps(document))
        return path

    return write


def test_rounded_decimals_from_elsewhere_are_divided_by_their_sums(written):
    third = {"inputs": {"X": ["a", "b"]}, "output": {"Y": ["0", "1", "2"]}}
    path = written(third | {"rows": [[0.3333333333, 0.3333333333, 0.3333333333], [0.5, 0.25, 0.25]]})
    mechanism = opened(path)
    assert mechanism.channel.rows[0] == (Fraction(1, 3),) * 3
    assert "divided by its exact sum" in mechanism.remarks[0]
    with pytest.raises(InvalidChannel, match=r"channel.json: .* sums to"):
        opened(written(third | {"rows": [[0.3, 0.3, 0.3], [0.5, 0.25, 0.25]]}))
    with pytest.raises(InvalidChannel, match="sums to 999999999999/1000000000000"):  # a fraction is meant exactly
        opened(written(third | {"rows": [["999999999999/1000000000000", 0, 0], [1, 0, 0]]}))


def test_a_compact_form_is_expanded(written):
    form = {"form": "resample", "inputs": {"X": ["a", "b"]}, "output": {"X": ["a", "b"]}, "keep": ["1/2", "1/2"]}
    seen = dalenius.audit(written(form | {"q": ["1/2", "1/2"]}))
    assert seen.eta_tv == pytest.approx(0.5, abs=1e-14)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "a recipe file is an object"),
        ({"form": "strange"}, "no recipe of form 'strange'"),
        ({"inputs": {}, "output": {}, "rows": []}, "maps names to lists"),
        ({"format": "dalenius-design/2"}, "damaged"),
        ({"format": "dalenius-card/2"}, "damaged"),
        ({"inputs": {"X": ["a"]}, "output": {"Y": ["0"]}, "rows": [["much"]]}, "a recipe entry is 'much'"),
    ],
)
def test_bad_files_are_refused(written, document, message):
    with pytest.raises((InputError, Unsupported), match=message):
        opened(written(document))


def test_a_release_is_audited_against_a_design_with_both_tables():
    with pytest.raises(InputError, match="needs both tables"):
        dalenius.audit(dalenius.solve(xor()), released="r.csv")
    with pytest.raises(InputError, match="a recipe alone does not say"):
        dalenius.audit(PARITY, released="r.csv", original="t.csv")


@pytest.mark.long
def test_columns_read_by_their_type_are_measured_like_the_same_rows_written_out():
    half, sure = Fraction(1, 2), (Fraction(0), Fraction(1))
    by_type = Types("X", ("a", "b"), 3, {"Y": ("0", "1")}, (sure, (half, half), sure[::-1], sure), ("P", "Q", "R"))
    written_out = Channel(by_type.inputs, by_type.output, by_type.rows)
    cells = list(product("ab", repeat=3))
    prior = Pmf.from_records(dict.fromkeys("PQR", ("a", "b")), [(c, 1 + c.count("a")) for c in cells])
    one, other = (examine_mechanism(c, prior).to_json() for c in (by_type, written_out))
    assert one == other
    for k, (low, high) in one["group_capacity_bits"].items():
        assert low <= high <= int(k) + 1e-12  # no group holds more bits than it has records


@pytest.mark.parametrize("tiny", [Fraction(1, 10**13), Fraction(1, 4 * 10**8)])
def test_also_a_a_level_that_is_made_of_dust_is_not_stated(tiny):
    rows = ((1 - tiny, tiny), (tiny, 1 - tiny))
    seen = examine_mechanism(Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, rows))
    assert (seen.dp_epsilon, seen.strong_dp_epsilon, seen.zcdp_rho) == (None, None, None)
    assert set(seen.renyi.values()) == {None}
    assert not any(isinstance(g, LocalDP) for g in seen.guarantees)
    told = "\n".join(audited(seen))
    assert "none that protects: a released value nearly excludes an input" in told
    assert "nats" not in told
