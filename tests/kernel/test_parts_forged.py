"""False and idle claims about windows, columns, strata and sums are refused; and planted errors are seen by them.

Every forgery changes one thing in a real design. A planted error is a changed line of the checker, written as one file:
it must accept a forgery or refuse it for another reason, or misjudge an honest design.
"""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from dalenius.kernel.check import check
from dalenius.kernel.numbers import Refused, canonical
from tests.kernel.one_file import loaded, one_file, source

CORPUS = Path(__file__).parent / "corpus" / "parts"
ORACLE = json.loads((CORPUS / "oracle.json.txt").read_text())
LONGEST = 4_000  # characters of a forgery that is kept in the corpus
FORGERIES = {}


def forged(base, message):
    """A change of a real design that must be refused with this word."""

    def register(change):
        assert change.__name__ not in FORGERIES
        FORGERIES[change.__name__] = (base, message, change)
        return change

    return register


def text_of(name):
    base, _, change = FORGERIES[name]
    document = json.loads((CORPUS / f"honest_{base}.json").read_text())
    document["work"] = "20000000"
    change(document)
    return canonical(document)


# --- laws -------------------------------------------------------------------------------------------------------------
@forged("windows_chain", "not the laws of all variables")
def group_dropped(d):
    d["law"]["groups"].pop()


@forged("windows_chain", "not the laws of all variables")
def no_group(d):
    d["law"]["groups"] = []


@forged("windows_chain", "not the variables, in their order")
def groups_swapped(d):
    d["law"]["groups"].reverse()


@forged("windows_chain", "'table' is not one of known")
def group_that_was_counted(d):
    d["law"]["groups"][0]["law"] = "table"


@forged("windows_chain", "is not one of known")
def groups_in_groups(d):
    d["law"]["groups"][0] = {"law": "independent", "groups": [d["law"]["groups"][0]]}


@forged("windows_chain", "a list is expected")
def text_for_groups(d):
    d["law"]["groups"] = "X1"


@forged("windows_chain", "the keys must be law, groups")
def word_in_the_law(d):
    d["law"]["rows"] = "20000000"


@forged("windows_chain", "is not independent of X3")
def another_law(d):
    d["law"]["groups"][0]["outcomes"] = [[0, "1"], [1, "1"]]


@forged("columns_pram", "not the laws of all variables")
def margin_dropped(d):
    d["law"]["columns"].pop()


@forged("columns_pram", "not the variables, in their order")
def margins_swapped(d):
    d["law"]["columns"].reverse()


@forged("columns_pram", "the law of one variable")
def margin_of_two(d):
    outcomes = [[x, s, "1"] for x in range(3) for s in range(2)]
    d["law"]["columns"] = [{"law": "known", "variables": ["X", "sex"], "outcomes": outcomes}]


@forged("columns_pram", "same number of rows")
def margins_of_two_tables(d):
    for column in d["law"]["columns"]:
        column["law"] = "table"
    d["law"]["columns"][0]["outcomes"][0][-1] = "1000"


@forged("columns_pram", "same number of rows")
def one_margin_counted(d):
    d["law"]["columns"][0]["law"] = "table"


@forged("columns_pram", "only the law of each column is stated")
def secret_without_a_joint_law(d):
    d["promises"].append({"promise": "leakage", "secret": ["X"], "at_most_bits": "9", "within": None})
    d["evidence"].append(None)
    d["claims"]["promises"].append([])


# --- columns ----------------------------------------------------------------------------------------------------------
@forged("columns_pram", "a higher level than it may have")
def level_of_a_column_too_low(d):
    d["mechanism"]["each"][0] = "1/4"


@forged("columns_pram", "the level of local_dp is")
def level_of_all_too_low(d):
    d["promises"][0]["epsilon"] = "1/2"


@forged("columns_pram", "the claimed epsilon_nats is not proved")
def claimed_level_too_low(d):
    d["claims"]["promises"][0][0]["value"] = "0.7"


@forged("columns_pram", "a list of 2 is expected")
def level_missing(d):
    d["mechanism"]["each"].pop()


@forged("columns_pram", "a list is expected")
def text_for_levels(d):
    d["mechanism"]["each"] = "11"


@forged("columns_pram", "a number is expected")
def level_that_is_no_text(d):
    d["mechanism"]["each"][0] = 1


@forged("columns_pram", "counted one by one where each")
def levels_left_out(d):
    d["mechanism"]["each"] = None


@forged("columns_pram", "not one window for each observed column")
def windows_swapped(d):
    d["channel"]["windows"].reverse()
    d["mechanism"]["release"] = []
    d["mechanism"]["form"] = "any"
    for window in d["channel"]["windows"]:
        many = len(window["channel"]["stay"])
        rows = [["2" if x == y else "1" for y in range(many)] for x in range(many)]
        window["channel"] = {"form": "dense", "letters": many, "scale": str(many + 1), "rows": rows}
    d["mechanism"]["each"] = ["9", "9"]
    d["promises"][0]["epsilon"] = "18"
    d["claims"]["promises"] = [[]]


@forged("columns_pram", "there is not a probability for each")
def matrices_swapped(d):
    first, second = d["channel"]["windows"]
    first["channel"], second["channel"] = second["channel"], first["channel"]


@forged("columns_pram", "a list of 2 is expected")
def window_missing(d):
    d["channel"]["windows"].pop()


@forged("columns_pram", "there is not a probability for each input")
def wrong_column(d):
    d["channel"]["windows"][1]["reads"] = [0]


@forged("columns_pram", "the matrix is not of form pram")
def matrix_of_another_form(d):
    rows = [["2", "1"], ["1", "2"]]
    d["channel"]["windows"][1]["channel"] = {"form": "dense", "letters": 2, "scale": "3", "rows": rows}
    d["mechanism"]["each"] = ["9", "9"]
    d["promises"][0]["epsilon"] = "9"
    d["claims"]["promises"] = [[]]


@forged("columns_pram", "the columns do not have a matrix each")
def one_matrix_for_all(d):
    d["channel"] = {"form": "pram", "stay": ["1/6"] * 6}


@forged("columns_pram", "release all of themselves")
def half_of_the_columns_released(d):
    d["mechanism"]["release"] = ["X"]


@forged("columns_staircase", "release all of themselves")
def letters_for_all_columns(d):
    d["mechanism"]["fresh"] = ["0", "1"]


@forged("columns_pram", "bounded by parts")
def joint_matrices_compete(d):
    d["proof"] = {"rule": "marginals", "bases": [], "trees": []}


@forged("columns_staircase", "bounded by parts")
def closed_bound_of_all_together(d):
    d["proof"] = {"rule": "closed"}
    d["claims"]["bound"] = "9"
    d["claims"]["gap"] = "9"


@forged("columns_staircase", "the parts are columns")
def joint_information_of_columns(d):
    d["law"] = {"law": "independent", "groups": d["law"]["columns"]}
    d["objective"]["aim"] = "information"


@forged("columns_staircase", "not the observed columns, in their order")
def objective_of_other_columns(d):
    d["objective"]["about"].reverse()


@forged("columns_staircase", "theta is 1")
def theta_of_columns(d):
    d["objective"]["theta"] = "1/2"


@forged("columns_staircase", "a list of 2 is expected")
def proof_of_a_column_missing(d):
    d["proof"]["proofs"].pop()


@forged("columns_staircase", "not made of all letters")
def proofs_swapped(d):
    d["proof"]["proofs"].reverse()


@forged("columns_staircase", "bounded by parts")
def groups_in_place_of_parts(d):
    d["proof"] = {"rule": "groups"}


@forged("columns_staircase", "the keys must be rule, proofs")
def word_in_the_proof(d):
    d["proof"]["bound"] = "0"


@forged("columns_staircase", "without strata the parts are columns")
def parts_in_parts(d):
    d["proof"]["proofs"][0] = {"rule": "parts", "proofs": []}


@forged("columns_staircase", "the claimed bound is not proved")
def false_bound(d):
    d["claims"]["bound"] = d["claims"]["value"]
    d["claims"]["gap"] = "0"


@forged("columns_staircase", "the claimed value is not reached")
def false_value(d):
    d["claims"]["value"] = d["claims"]["bound"]
    d["claims"]["gap"] = "0"


@forged("columns_pram", "what is forbidden, frozen or preserved")
def forbidden_changes_of_columns(d):
    d["mechanism"]["forbid"] = [["n", "s"]]


@forged("columns_pram", "what is forbidden, frozen or preserved")
def frozen_letters_of_columns(d):
    d["mechanism"]["freeze"] = ["n"]


@forged("columns_pram", "what is forbidden, frozen or preserved")
def marginals_of_columns(d):
    d["mechanism"]["preserve_marginals"] = True


@forged("columns_pram", "what is forbidden, frozen or preserved")
def combinations_of_columns(d):
    d["mechanism"]["never"] = [[{"column": "X", "letters": ["n"]}, {"column": "sex", "letters": ["m"]}]]


@forged("columns_many", "a list of 16777216 is expected")
def distances_of_columns(d):
    d["promises"][0]["metric"] = [["0"]]


@forged("columns_staircase", "too many")
def delta_of_many_columns(d):
    many = json.loads((CORPUS / "honest_columns_many.json").read_text())
    d.clear()
    d.update(many | {"work": "20000000"})
    d["promises"][0]["delta"] = "1/10"


# --- strata -----------------------------------------------------------------------------------------------------------
@forged("strata_two", "a list of 4 is expected")
def stratum_missing(d):
    d["channel"]["channels"].pop()


@forged("strata_two", "the claimed value is not reached")
def strata_swapped(d):
    d["channel"]["channels"].reverse()


@forged("strata_two", "a list of 3 is expected")
def proof_of_a_stratum_missing(d):
    d["proof"]["proofs"].pop()


@forged("strata_two", "a list of 3 is expected")
def proof_of_an_empty_stratum(d):
    d["proof"]["proofs"].append(d["proof"]["proofs"][0])


@forged("strata_two", "leaves as it is")
def level_between_strata(d):
    d["promises"][0]["given"] = []


@forged("strata_two", "leaves as it is")
def level_given_one_stratum(d):
    d["promises"][0]["given"] = ["s"]


@forged("strata_two", "the level of local_dp is")
def level_of_a_stratum_too_low(d):
    d["promises"][0]["epsilon"] = "0.99"
    d["claims"]["promises"] = [[]]


@forged("strata_pram", "the level of local_dp is")
def level_of_the_first_stratum_too_high(d):
    d["channel"]["channels"][0]["stay"] = ["0.9"] * 3


@forged("strata_pram", "the level of local_dp is")
def level_of_the_last_stratum_too_high(d):
    d["channel"]["channels"][1]["stay"] = ["0.9"] * 3


@forged("strata_empty", "the level of local_dp is")
def level_of_an_empty_stratum_too_high(d):
    d["channel"]["channels"][2] |= {"ratio": "9", "columns": [["1/10", [0]], ["1/10", [1]]]}


@forged("strata_two", "different numbers of letters")
def stratum_with_more_letters(d):
    d["channel"]["channels"][0]["columns"].append(["0", []])


@forged("strata_two", "there are no strata")
def strata_that_are_not_said(d):
    d["mechanism"]["strata"] = []
    d["mechanism"]["keep"] = ["s", "t"]


@forged("strata_two", "not one row for each")
def one_matrix_for_all_strata(d):
    d["channel"] = {"form": "dense", "letters": 1, "scale": "1", "rows": [["1"]]}


@forged("strata_two", "the keys must be form, channels")
def word_in_the_channel(d):
    d["channel"]["strata"] = ["s", "t"]


@forged("strata_two", "a list is expected")
def text_for_channels(d):
    d["channel"]["channels"] = "strata"


@forged("strata_pram", "the matrix is not of form pram")
def stratum_of_another_form(d):
    stay = d["channel"]["channels"][0]["stay"]
    d["channel"]["channels"][0] = {"form": "resample", "stay": ["0"] * len(stay), "others": ["1", "0", "0"]}
    d["claims"]["value"] = "0"
    d["claims"]["gap"] = "9"


@forged("strata_pram", "does not prove preserved marginals")
def marginals_of_strata(d):
    d["mechanism"]["preserve_marginals"] = True


@forged("strata_pram", "a forbidden letter can be released")
def forbidden_changes_of_strata(d):
    d["mechanism"]["forbid"] = [["n", "s"]]


@forged("strata_two", "parts are for information that is maximised")
def rate_of_strata(d):
    d["objective"] = {"aim": "leakage", "about": ["X"], "theta": "1"}


@forged("strata_two", "not proved beside side information")
def strata_beside_side_information(d):
    d["promises"][0]["given"] = ["s"]
    d["mechanism"]["strata"] = ["s"]
    d["mechanism"]["side"] = {"variable": "t", "encoder": "informed"}


@forged("columns_in_strata", "a higher level than it may have")
def level_of_a_column_in_a_stratum_too_low(d):
    d["mechanism"]["each"] = ["1/2", "3/2"]


@forged("columns_in_strata", "observed columns alone")
def windows_that_know_no_stratum(d):
    d["channel"] = d["channel"]["channels"][0]


@forged("columns_in_strata", "the columns do not have a matrix each")
def stratum_without_columns(d):
    rows = [["1"]] * 6
    d["channel"]["channels"] = [{"form": "dense", "letters": 1, "scale": "1", "rows": rows}] * 2


@forged("columns_in_strata", "bounded by parts")
def stratum_proved_as_a_whole(d):
    d["proof"]["proofs"][0] = d["proof"]["proofs"][0]["proofs"][0]


# --- windows ----------------------------------------------------------------------------------------------------------
@forged("windows_chain", "an integer from 0 to 8 is expected")
def window_over_what_is_not_observed(d):
    d["channel"]["windows"][0]["reads"] = [0, 1, 9]


@forged("windows_chain", "not different columns, rising")
def window_that_reads_backwards(d):
    d["channel"]["windows"][0]["reads"] = [2, 1, 0]


@forged("windows_chain", "not different columns, rising")
def window_that_reads_twice(d):
    d["channel"]["windows"][0]["reads"] = [0, 1, 1]


@forged("windows_chain", "not different columns, rising")
def window_that_reads_nothing(d):
    d["channel"]["windows"][0]["reads"] = []


@forged("windows_chain", "a list is expected")
def names_for_places(d):
    d["channel"]["windows"][0]["reads"] = "X1"


@forged("windows_chain", "an integer from 0 to 8 is expected")
def truth_for_places(d):
    d["channel"]["windows"][0]["reads"] = [False, True, 2]


@forged("windows_chain", "the keys must be reads, channel")
def word_in_a_window(d):
    d["channel"]["windows"][0]["output"] = "Y1"


@forged("windows_chain", "there is no window")
def no_window(d):
    d["channel"]["windows"] = []


@forged("windows_chain", "letters of its own")
def letters_for_all_windows(d):
    d["mechanism"]["fresh"] = ["0", "1"]


@forged("windows_chain", "window 4 closes a cycle")
def window_twice(d):
    d["channel"]["windows"].append(d["channel"]["windows"][0])


@forged("windows_chain", "window 3 closes a cycle")
def window_that_closes_a_ring(d):
    d["channel"]["windows"][3]["reads"] = [0, 6, 7]


@forged("windows_chain", "is not independent of")
def window_with_other_rows(d):
    d["channel"]["windows"][1]["channel"]["rows"].reverse()


@forged("windows_chain", "is not independent of X1")
def window_that_tells_of_its_own_sample(d):
    rows = [["2", "1"]] * 4 + [["1", "2"]] * 4
    d["channel"]["windows"][0]["channel"] = {"form": "dense", "letters": 2, "scale": "3", "rows": rows}


@forged("windows_chain", "is not independent of X1, X2")
def two_samples_of_one_window(d):
    d["promises"][0]["secret"] = ["X1", "X2"]


@forged("windows_chain", "no window looks at all of X1, X9")
def secret_over_several_windows(d):
    d["promises"][0]["secret"] = ["X1", "X9"]


@forged("windows_chain", "the claimed leakage_bits|X2 is not proved")
def one_more_column_tells_less(d):
    d["claims"]["promises"][0][5]["value"] = "0.3"


@forged("windows_chain", "no window looks at all of X1, X9")
def one_more_column_that_no_window_has(d):
    d["claims"]["promises"][0][5]["given"] = "X9"


@forged("windows_chain", "guess_after is not proved")
def guess_that_gets_worse(d):
    d["claims"]["promises"][0][4]["value"] = "0.6"


@forged("windows_chain", "guess_before is not proved")
def guess_that_was_better(d):
    d["claims"]["promises"][0][3]["value"] = "0.8"


@forged("windows_chain", "the matrix is not of the form")
def windows_of_form_pram(d):
    d["mechanism"]["form"] = "pram"


@forged("windows_chain", "beside which nothing leaves")
def windows_beside_a_kept_column(d):
    d["promises"] = d["promises"][:0]
    d["evidence"], d["claims"]["promises"] = [], []
    d["objective"] = {"aim": "information", "about": ["X9"], "theta": "1"}
    d["mechanism"]["observe"].pop()
    d["mechanism"]["keep"] = ["X9"]
    windows = [window for window in d["channel"]["windows"] if 8 not in window["reads"]]
    d["channel"]["windows"] = windows[:1]
    d["channel"]["windows"][0]["reads"] = [0, 1, 2]
    d["claims"]["value"] = "0"
    d["claims"]["gap"] = "9"
    law = d["law"]["groups"]
    d["variables"] = d["variables"][:3] + d["variables"][8:]
    d["law"]["groups"] = law[:3] + law[8:]
    d["mechanism"]["observe"] = ["X1", "X2", "X3"]


@forged("windows_chain", "the keys must be rule")
def word_in_the_proof_of_groups(d):
    d["proof"]["views"] = [["X1"]]


@forged("windows_chain", "groups are for information")
def groups_for_what_is_minimised(d):
    d["objective"] = {"aim": "leakage", "about": ["X1"], "theta": "1"}
    d["claims"]["value"] = "99"
    d["claims"]["bound"] = "0"
    d["claims"]["gap"] = "99"


@forged("windows_chain", "the claimed bound is not proved")
def bound_of_groups_too_low(d):
    d["claims"]["bound"] = str(Fraction(d["claims"]["bound"]) - Fraction(1, 10**6))


@forged("windows_chain", "too many entries")
def levels_of_metric_windows(d):
    d["promises"] = [{"promise": "contraction", "at_most": "1"}]
    d["evidence"], d["claims"]["promises"] = [None], [[]]
    more = [f"X{k}" for k in range(10, 30)]
    d["variables"] += [{"name": name, "letters": ["0", "1"]} for name in more]
    d["law"]["groups"] += [{"law": "known", "variables": [name], "outcomes": [[0, "1"]]} for name in more]
    d["mechanism"]["observe"] += more


# --- sums -------------------------------------------------------------------------------------------------------------
@forged("sums_pairs", "an integer from 2 to 1023 is expected")
def modulus_one(d):
    d["channel"]["modulus"] = 1


@forged("sums_pairs", "the row is not a law of the letters")
def another_modulus(d):
    d["channel"]["modulus"] = 9


@forged("sums_pairs", "an integer from 2 to 1023 is expected")
def modulus_that_is_a_text(d):
    d["channel"]["modulus"] = "10"


@forged("sums_pairs", "a list of 8 is expected")
def states_missing(d):
    d["channel"]["states"].pop()


@forged("sums_pairs", "is not uniform")
def states_that_are_not_uniform(d):
    row = d["channel"]["states"][0]["rows"][0]
    row[0], row[1] = str(int(row[0]) + 1), str(int(row[1]) - 1)


@forged("sums_pairs", "there is not one row for each input")
def states_of_a_letter_missing(d):
    d["channel"]["states"][0]["rows"].pop()


@forged("sums_pairs", "the row is not a law of the letters")
def states_that_do_not_sum_to_one(d):
    d["channel"]["states"][0]["rows"][0][0] = "0"


@forged("sums_pairs", "an integer from 0 on is expected")
def negative_states(d):
    row = d["channel"]["states"][0]["rows"][0]
    row[0], row[1] = "-1", str(int(row[0]) + int(row[1]) + 1)


@forged("sums_pairs", "the sums are not independent of each other")
def sum_twice(d):
    d["channel"]["sums"].append(d["channel"]["sums"][0])


@forged("sums_pairs", "not proved to hide X1")
def sum_of_one_sample(d):
    d["channel"]["sums"][0] = [0]


@forged("sums_pairs", "not different columns, rising")
def sum_of_nothing(d):
    d["channel"]["sums"][0] = []


@forged("sums_pairs", "not different columns, rising")
def sum_that_adds_twice(d):
    d["channel"]["sums"][0] = [0, 0]


@forged("sums_pairs", "nothing is added up")
def no_sum(d):
    d["channel"]["sums"] = []


@forged("sums_pairs", "an integer from 0 to 7 is expected")
def sum_of_what_is_not_observed(d):
    d["channel"]["sums"][0] = [0, 8]


@forged("sums_pairs", "a list is expected")
def names_in_a_sum(d):
    d["channel"]["sums"][0] = "X1"


@forged("sums_pairs", "letters of their own")
def letters_of_all_sums(d):
    d["mechanism"]["fresh"] = ["0"]


@forged("sums_pairs", "observed columns alone")
def sums_of_strata(d):
    d["mechanism"]["observe"].pop()
    d["mechanism"]["strata"] = ["X8"]


@forged("sums_pairs", "the keys must be form, modulus, states, sums")
def word_in_the_sums(d):
    d["channel"]["outputs"] = ["Y1"]


@forged("sums_pairs", "not proved to hide X1, X2")
def two_neighbours(d):
    d["promises"][0]["secret"] = ["X1", "X2"]


@forged("sums_pairs", "the claimed leakage_bits|X2 is not proved")
def one_more_sample_tells_less(d):
    (claim,) = (claim for claim in d["claims"]["promises"][0] if claim["given"] == "X2")
    claim["value"] = str(Fraction(claim["value"]) / 2)


@forged("sums_pairs", "the claimed value is not reached")
def value_of_sums_too_high(d):
    d["claims"]["value"] = str(Fraction(d["claims"]["value"]) + Fraction(1, 10**6))


@forged("sums_pairs", "the columns do not have a matrix each")
def sums_of_columns_with_a_matrix_each(d):
    d["mechanism"]["each"] = ["9"] * 8


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_design_is_refused_with_a_sentence(name):
    with pytest.raises(Refused, match=FORGERIES[name][1]):
        check(text_of(name))


@pytest.mark.long
def test_what_the_forgeries_are_made_of_is_accepted():
    for base in {base for base, _, _ in FORGERIES.values()}:
        check((CORPUS / f"honest_{base}.json").read_text())


# --- planted errors ---------------------------------------------------------------------------------------------------
PLANTED = {  # what is right, what is planted, and a design that is then misjudged
    "groups that need not be all variables": (
        "begin == len(variables) > 0",
        "begin <= len(variables)",
        "group_dropped",
    ),
    "margins multiplied as if they were independent": (
        "        require(self.independent, UNSTATED)\n",
        "",
        "secret_without_a_joint_law",
    ),
    "margins of different tables": ("len({law.rows for law in found}) == 1", "True", "margins_of_two_tables"),
    "levels of windows not added up": (
        "return sum((part.level(given, None) for part in self.parts), Fraction(0))",
        "return max(part.level(given, None) for part in self.parts)",
        "level_of_all_too_low",
    ),
    "levels of columns not compared": (
        "require(part.level((), None) <= level",
        "require(True",
        "level_of_a_column_too_low",
    ),
    "the form of columns not examined": (
        "            part.keep_shape()\n            require",
        "            require",
        "matrix_of_another_form",
    ),
    "the least level of the strata": (
        "return max(part.level(given",
        "return min(part.level(given",
        "level_of_the_first_stratum_too_high",
    ),
    "only strata that occur": (
        "return max(part.level(given, None) for _, part in self.parts)",
        "return max(part.level(given, None) for share, part in self.parts if share)",
        "level_of_an_empty_stratum_too_high",
    ),
    "strata without weights": (
        "low += Fraction(many, self.setting.total) * ends[0]",
        "low += ends[0]",
        "columns_in_strata",
    ),
    "what the strata tell is counted twice": (
        "low, high = told_by_strata(self.setting, wanted)",
        "low, high = (2 * end for end in told_by_strata(self.setting, wanted))",
        "columns_in_strata",
    ),
    "bounds without weights": (
        "bound += Fraction(many, setting.total) * proved",
        "bound += proved",
        "columns_in_strata",
    ),
    "bounds without what the strata tell": (
        "bound = Fraction(0) if spread else told_by_strata(setting, objective.wanted)[1]",
        "bound = Fraction(0)",
        "columns_in_strata",
    ),
    "columns bounded by the level of all": (
        "promise = LocalDP(level,",
        "promise = LocalDP(sum(levels),",
        "columns_in_strata",
    ),
    "cycles of windows": ("require(len(roots) == len(own)", "require(True", "window_twice"),
    "what windows share is not examined": (
        "for part, _ in windows if len(windows) > 1 else ():",
        "for part, _ in ():",
        "another_law",
    ),
    "views of one window are not examined": (
        "for part in looking:\n",
        "for part in []:\n",
        "two_samples_of_one_window",
    ),
    "views over several windows": (
        "require(bool(looking) or not touched",
        "require(True",
        "secret_over_several_windows",
    ),
    "every group is shared": (
        "if len(own) == 1 and len(looks[min(own)]) > 1:",
        "if len(own) == 1 and len(looks[min(own)]) > 0:",
        "window_that_tells_of_its_own_sample",
    ),
    "given columns are forgotten": (
        "return part.information(about, given)[1]",
        "return Fraction(0)",
        "one_more_column_tells_less",
    ),
    "any rule for columns": ('setting.mechanism.each is None or rule == "parts"', "True", "joint_matrices_compete"),
    "the places of windows in any order": (
        "found == sorted(set(found))",
        "len(set(found)) == len(found)",
        "window_that_reads_backwards",
    ),
    "states that are not uniform": ("mass * size == small.total * states.scale", "True", "states_that_are_not_uniform"),
    "sums that hide themselves": ("hidden = set(view)", "hidden = set()", "sum_of_one_sample"),
    "sums that may be one": ('require(self.onto(()), "', 'require(True, "', "sum_twice"),
    "what each sum tells is counted twice": ("found += known[key]", "found += 2 * known[key]", "sums_ternary"),
    "the noise of states is not counted": (
        "[name for name in about if name not in given and name in self.sample_of]",
        "[]",
        "one_more_sample_tells_less",
    ),
    "the surprisal of the commonest": ("least = [min(m, alone", "least = [max(m, alone", "sums_pairs"),
    "views that are not observed": ("set(view) <= observed", "True", "windows_hidden"),
    "gains of all views together": (
        "gain = max(gain, sum(less, Fraction(0)))",
        "gain += sum(less, Fraction(0))",
        "sums_pairs",
    ),
    "the chance of the rarest": (
        "return Fraction(max(self.counts(names, work).values()), self.total)",
        "return Fraction(min(self.counts(names, work).values()), self.total)",
        "sums_pairs",
    ),
    "matrices for each column or not": (
        'require(mechanism.each is None, "the columns',
        'require(True, "the columns',
        "one_matrix_for_all",
    ),
}


def judged_well(name, checker):
    """Whether an honest design has its value and bound, and a forged one its refusal."""
    try:
        verdict = checker.check(text_of(name) if name in FORGERIES else (CORPUS / f"honest_{name}.json").read_text())
    except checker.Refused as refusal:
        return name in FORGERIES and re.search(FORGERIES[name][1], str(refusal)) is not None
    except Exception:  # a crash is no refusal
        return False
    if name in FORGERIES:
        return False
    ends = verdict.value - Fraction(ORACLE[name]["value"]), verdict.bound - Fraction(ORACLE[name]["bound"])
    return max(map(abs, ends)) < Fraction(1, 2**58)


@pytest.mark.long
def test_the_exported_checker_judges_everything_as_the_package_does():
    assert [name for name in (*ORACLE, *FORGERIES) if not judged_well(name, one_file())] == []


def test_the_corpus_has_the_forgeries_that_are_not_long():
    kept = {path.stem.removeprefix("forged_"): path.read_text() for path in CORPUS.glob("forged_*.json")}
    assert kept == {name: text for name in FORGERIES if len(text := text_of(name)) <= LONGEST}


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_error_is_seen(name):
    right, wrong, seen_by = PLANTED[name]
    assert right in source(), "the line has changed: plant the error anew"
    assert not judged_well(seen_by, loaded(source().replace(right, wrong)))
