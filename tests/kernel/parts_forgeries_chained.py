"""False and idle claims about windows and sums: each changes one thing in a real design."""

from fractions import Fraction

from tests.kernel.parts_forgeries import FORGERIES, forged

__all__ = ["FORGERIES"]


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
