"""False and idle claims about laws, columns and strata: each changes one thing in a real design."""

import json
from pathlib import Path

from dalenius.kernel.numbers import canonical

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
