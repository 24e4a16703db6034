"""What no other test of this folder reaches: each line by a small document of its own."""

import json
from fractions import Fraction

import pytest

from dalenius.kernel import Refused, check
from dalenius.kernel.nearest import DistanceAxis, Nearest, RecordMetric
from dalenius.kernel.numbers import Work
from tests.kernel.directed import pairs_of_different_worlds
from tests.kernel.documents import RESPONSE, SAME, design, distance, leakage, maximal, text_of
from tests.kernel.golden import CORPUS, texts_of
from tests.kernel.meanings import put, silent

F = Fraction


def later(name):
    return silent(json.loads((CORPUS / "later" / f"{name}.json").read_text(encoding="utf-8")))


def proved(document):
    return check(text_of(silent(document)))


# --- chains -----------------------------------------------------------------------------------------------------------
CHAIN = "chain_of_fifteen_by_the_lemma"


def of_one_window(*promises):
    """One window of a chain that is too long to be gone through, and other promises."""
    document = put(later(CHAIN), "promises", list(promises))
    document["channel"]["windows"] = document["channel"]["windows"][:1]
    return put(document, "evidence", [None] * len(promises))


def test_a_single_window_of_a_chain_has_no_ends_to_hide():
    hidden = {"promise": "independent", "secret": ["X1"]}
    verdict = proved(of_one_window(hidden))
    assert 0 < verdict.value < verdict.bound


def test_only_independence_takes_something_from_the_bound_of_a_chain():
    free = proved(of_one_window(leakage("0", "X1"))).bound
    assert free == pytest.approx(proved(of_one_window({"promise": "independent", "secret": ["X1"]})).bound + 1)


def test_what_a_chain_tells_somebody_who_knows_another_window_is_not_proved():
    document = put(later(CHAIN), "claims", "promises", 0, [{"figure": "leakage_bits", "given": "X9", "value": None}])
    with pytest.raises(Refused, match="no window looks at all of X1, X9"):
        check(text_of(document))


# --- records ----------------------------------------------------------------------------------------------------------
def test_a_part_without_weight_changes_no_distance():
    document = later("records_independent")
    idle = put(document, "objective", "distortion", [*document["objective"]["distortion"], distance("squared", "C0")])
    with pytest.raises(Refused, match="not compared by squared"):
        proved(idle)
    idle["objective"]["distortion"][-1] = distance("hamming", "C0", "C1", weight="0")
    assert proved(idle).value == proved(document).value


def test_columns_that_are_compared_together_differ_together():
    document = put(later("records_leakage"), "objective", "distortion", [distance("hamming", "C0", "C1", "C2")])
    whole = put(document, "objective", "distortion", [distance("hamming", name) for name in ("C0", "C1", "C2")])
    assert 0 < proved(document).value <= proved(whole).value


def test_letters_that_are_no_numbers_have_no_difference():
    document = put(later("records_independent_ordered"), "variables", 0, "letters", ["low", "high"])
    with pytest.raises(Refused, match="the letter 'low' is not a number"):
        proved(document)


def test_wide_distances_are_looked_at_one_by_one():
    axes = tuple(DistanceAxis(1000 + k, True) for k in range(3))
    records = [(k * 7 % 41, k * 5 % 41, k) for k in range(41)]
    metric = RecordMetric(axes, 1, {record: record for record in records})
    near = Nearest(metric, records, [-k for k in range(41)], 1, Work(10**9), 100)
    assert near.digits is None
    for x in records:
        assert near.least(x) == min(metric.distance(x, y) - k for k, y in enumerate(records))


def test_a_promise_without_multipliers_for_records_lends_nothing():
    document = later("records_leakage")
    more = put(document, "promises", [*document["promises"], leakage("1", "S")])
    more = put(put(more, "evidence", [None, None]), "proof", "promises", [*document["proof"]["promises"], "0"])
    idle = put(more, "proof", "records", [*document["proof"]["records"], []])
    assert proved(idle).bound == proved(document).bound
    with pytest.raises(Refused, match="has multipliers for every record"):
        proved(put(idle, "proof", "promises", 1, "1"))


def test_a_guess_without_a_weight_lends_nothing_to_records():
    document = put(later("records_guess"), "proof", "promises", ["0"])
    assert proved(document).bound == 0


def test_records_are_not_written_out_for_other_promises():
    everything = {"promise": "maximal_leakage", "secret": [], "at_most_bits": "9"}
    with pytest.raises(Refused, match="says nothing about inputs that do not occur"):
        proved(put(later("records_independent"), "promises", 0, everything))


def test_changes_that_no_record_makes_may_be_forbidden():
    document = put(later("records_independent"), "mechanism", "forbid", [["0", "2"]])
    document["channel"]["rows"] = [[[0], ["1"]] for _ in document["channel"]["rows"]]
    document["mechanism"]["never"] = [[{"column": "C2", "letters": ["2"]}]]
    assert proved(document).kept.promises[0]["leakage_bits"] == 0


def test_records_are_bounded_by_a_distortion_alone():
    told = {"aim": "information", "about": ["C0"], "theta": "1"}
    with pytest.raises(Refused, match="the rules for records bound a distortion"):
        proved(put(later("records_leakage"), "objective", told))


def test_classes_that_are_alike_need_no_transport():
    document = later("records_independent")
    inputs = sorted({(*x, s) for *x, _, _ in document["law"]["outcomes"] for s in (0, 1)})
    document["law"]["outcomes"] = [[*x, "1"] for x in inputs]
    document["channel"]["rows"] = [[[k // 2], ["1"]] for k in range(len(inputs))]
    document["proof"]["transports"] = [[0, 1, "1/2", []]]
    assert proved(document).value == proved(document).bound == 0


# --- others -----------------------------------------------------------------------------------------------------------
def test_the_maximal_leakage_about_everything_bounds_what_is_told():
    document = design(outcomes=SAME, promises=[maximal("0.42")], channel=RESPONSE)
    assert check(text_of(document)).bound == F(42, 100)


def test_a_number_that_python_does_not_write_is_named_in_words():
    with pytest.raises(Refused, match="a very long number is not one of"):
        check('{"format":1' + "0" * 4250 + "}")


def test_inputs_of_different_worlds_have_no_multiplier_together():
    with pytest.raises(Refused, match="does not speak of these two inputs"):
        check(text_of(pairs_of_different_worlds()))


def test_letters_of_a_run_that_differ_are_bounded_world_by_world():
    """Runs that lump different letters only loosen the bound; within a run of equal ones nothing is lost."""
    lumped = 0
    for text in texts_of(CORPUS / "rules").values():
        document = json.loads(text)
        runs = document["proof"].get("runs", [])
        if document["proof"]["rule"] != "subsets" or len(runs) < 2:
            continue
        leaf = document["proof"]["tree"][-1]
        many = sum(int(n) for n, _ in runs)
        whole = put(document, "proof", "runs", [[str(many), runs[0][1]]])
        whole = put(whole, "proof", "tree", [leaf])
        assert proved(whole).bound >= proved(document).bound
        lumped += len(leaf) > 2
    assert lumped
