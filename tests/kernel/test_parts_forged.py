"""False and idle claims about windows, columns, strata and sums are refused; and planted errors are seen by them.

Every forgery changes one thing in a real design. A planted error is a changed line of the checker, written as one file:
it must accept a forgery or refuse it for another reason, or misjudge an honest design.
"""

import re
from fractions import Fraction

import pytest

from dalenius.kernel.check import check
from dalenius.kernel.numbers import Refused
from tests.kernel.one_file import loaded, one_file, source
from tests.kernel.parts_forgeries import CORPUS, LONGEST, ORACLE, text_of
from tests.kernel.parts_forgeries_chained import FORGERIES


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
