"""The grammar of the problem file: the complete example reads back, and every mistake is named with its line."""

import json
import re
import time
import tomllib
from fractions import Fraction

import pytest

from dalenius.core import (
    Column,
    ConditionallyIid,
    Contraction,
    Dalenius,
    Distortion,
    Grid,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MaximizeInformation,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeRate,
    MinimizeVariance,
    Pmf,
    PmfSource,
    Problem,
    SideInformation,
    TableSource,
    WorstCaseLeakage,
)
from dalenius.core.section import key_lines
from dalenius.errors import InputError, MismatchError, ProblemFileError
from dalenius.testing import example2, xor

COMPLETE = """\
[source]
table = "patients.csv"            # csv, parquet, arrow, a database query
unit = "row"
prior = "public.json"
weights = "PWGTP"

[columns.region]
values = ["north", "south"]
missing = "category"
[columns.income]
grid = { low = 0, high = 200000, step = 1000 }

[mechanism]
observe = ["diagnosis", "region"]
release = ["region"]
keep = ["year"]
strata = ["sex"]
forbid = [["child", "widowed"]]

[objective]
minimize = { distortion = "hamming", of = ["region"] }

[[guarantee]]
leakage = ["diagnosis"]
at_most_bits = 0.05
[[guarantee]]
independent = ["sex"]
[[guarantee]]
local_dp = 1.0
[[guarantee]]
information_privacy = ["diagnosis"]
epsilon = 1.0
[[guarantee]]
worst_case_leakage = ["diagnosis"]
at_most_bits = 0.2
[[guarantee]]
dalenius = true
at_most_bits = 0.1
group = 1
[[guarantee]]
contraction = 0.2

[[limit]]
distortion = "hamming"
of = ["region"]
at_most = "3/20"
"""

SMALL = """\
[source]
pmf = "joint.json"

[mechanism]
observe = ["X1", "X2"]
output = "Y"

[objective]
maximize = { information = ["W"] }

[[guarantee]]
independent = ["X1"]
[[guarantee]]
independent = ["X2"]
"""


def problem(tmp_path, text):
    file = tmp_path / "problem.toml"
    file.write_text(text, encoding="utf-8")
    return Problem.from_file(file)


# --- what it means ---------------------------------------------------------------------------------------------------
def test_the_complete_example_means_what_it_says(tmp_path):
    p = problem(tmp_path, COMPLETE)
    assert p.source == TableSource("patients.csv", prior="public.json", weights="PWGTP")
    assert p.columns == {
        "region": Column(values=("north", "south"), missing="category"),
        "income": Column(grid=Grid(Fraction(0), Fraction(200000), Fraction(1000))),
    }
    assert (p.observe, p.release, p.output) == (("diagnosis", "region"), ("region",), None)
    assert (p.kept, p.inputs, p.forbid) == (("year", "sex"), ("diagnosis", "region", "sex"), (("child", "widowed"),))
    assert p.objective == MinimizeDistortion(Distortion("hamming", ("region",)))
    assert p.objective.unit == "distortion"
    assert p.guarantees == (
        Leakage(("diagnosis",), Fraction(1, 20)),
        Independent(("sex",)),
        LocalDP(Fraction(1)),
        InformationPrivacy(("diagnosis",), Fraction(1)),
        WorstCaseLeakage(("diagnosis",), Fraction(1, 5)),
        Dalenius(Fraction(1, 10)),
        Contraction(Fraction(1, 5)),
    )
    assert p.limits == (Distortion("hamming", ("region",), Fraction(3, 20)),)
    assert p.variables() == ["diagnosis", "region", "year", "sex"]
    assert (p.order, len(p.digest)) == ("shuffle", 64)
    with pytest.raises(MismatchError, match="declared but not bound"):
        _ = p.pmf


VARIATIONS = {
    "complete": COMPLETE,
    "small": SMALL,
    "iid": SMALL.replace(
        'pmf = "joint.json"', 'conditionally_iid = { hidden = "W", prior = "w.json", kernel = "k.json", n = 400 }'
    ),
    "persons": SMALL.replace('pmf = "joint.json"', 'table = "t.csv"\nunit = "person_id"\nmax_rows = 5\nmin_cell = 3'),
    "leakage": SMALL.replace("maximize = { information", "minimize = { leakage"),
    "rate": SMALL.replace('maximize = { information = ["W"] }', "minimize = { rate = true }"),
    "variance": SMALL.replace("maximize = { information", "minimize = { variance"),
    "matrix": SMALL + '\n[[limit]]\ndistortion = [[0, "1/2"], [0.25, 1]]\nof = ["X1"]\nat_most = 0.1\n',
    "side": SMALL + '\n[side_information]\nvariable = "Z"\nencoder = "statistically-informed"\n',
    "side-plain": SMALL + '\n[side_information]\nvariable = "Z"\n',
    "pram": SMALL.replace(
        'output = "Y"', 'release = ["X1"]\nform = "pram"\npreserve_marginals = true\nfreeze = ["X2"]\norder = "keep"'
    ),
    "metric": SMALL + '\n[[guarantee]]\nlocal_dp = "1/3"\nmetric = "d.json"\ndelta = "1/1000000"\n',
    "letters": SMALL + '\n[columns.X1]\nvalues = ["a", 7]\n[columns.X2]\nvalues = "letters.txt"\n',
    "from-table": SMALL + '\n[columns.X1]\nvalues = "from-table"\nmissing = "category"\n',
    "one-name": SMALL.replace('independent = ["X1"]', 'independent = "X1"'),
}


@pytest.mark.parametrize("text", VARIATIONS.values(), ids=VARIATIONS.keys())
def test_a_problem_reads_back_from_its_own_sections(tmp_path, text):
    p = problem(tmp_path, text)
    document = json.loads(json.dumps(p.to_json()))
    assert Problem.from_document(document, digest=p.digest) == p
    assert Problem.from_document(document).to_json() == p.to_json()


def test_the_variations_mean_what_they_say(tmp_path):
    read = {name: problem(tmp_path, text) for name, text in VARIATIONS.items()}
    assert read["small"].source == PmfSource("joint.json")
    assert read["small"].views == (("X1",), ("X2",))
    assert read["iid"].source == ConditionallyIid("W", "w.json", "k.json", 400)
    assert read["persons"].source == TableSource("t.csv", unit="person_id", max_rows=5, min_cell=3)
    assert read["leakage"].objective == MinimizeLeakage(("W",))
    assert read["rate"].objective == MinimizeRate()
    assert read["variance"].objective == MinimizeVariance(("W",))
    assert read["small"].objective == MaximizeInformation(("W",))
    assert read["matrix"].limits[0].distortion == ((0, Fraction(1, 2)), (Fraction(1, 4), 1))
    assert read["side"].side_information == SideInformation("Z", "statistically-informed")
    assert read["side-plain"].side_information == SideInformation("Z", "uninformed")
    assert read["pram"].form == "pram"
    assert read["pram"].preserve_marginals
    assert read["pram"].order == "keep"
    assert read["letters"].columns["X1"].values == ("a", "7")
    assert read["letters"].columns["X2"].values_file == "letters.txt"
    assert read["from-table"].columns["X1"].from_table
    assert read["one-name"].guarantees == read["small"].guarantees


def test_groups_of_values_and_of_numbers_are_written_as_they_are_read():
    text = SMALL + "[columns.X1]\ncuts = [0, '5/2']\nmissing = 'category'\n"
    text += "[columns.X2.groups]\nlow = [1, '2']\nhigh = [3]\n"
    problem = Problem.from_document(tomllib.loads(text))
    cut, grouped = problem.columns["X1"], problem.columns["X2"]
    assert cut.values == ("under 0", "0 to under 5/2", "5/2 or more")
    assert cut.missing == "category"
    assert (grouped.values, grouped.groups) == (("low", "high"), (("1", "2"), ("3",)))
    assert Problem.from_document(problem.to_json()).columns == problem.columns


def test_a_grid_lists_its_points():
    assert Grid(Fraction(0), Fraction(1), Fraction(1, 4)).points() == [Fraction(k, 4) for k in range(5)]
    assert Grid(Fraction(0), Fraction(1), Fraction(2, 5)).points() == [Fraction(0), Fraction(2, 5), Fraction(4, 5)]


# --- what is refused: (text, the line that is named, what the message says) ------------------------------------------
def without(key):
    return "".join(line for line in SMALL.splitlines(keepends=True) if not line.startswith(key))


BROKEN = {
    "section": (SMALL + "\n[gurantee]\n", 16, "unknown section 'gurantee'; did you mean [guarantee]?"),
    "section-far": (SMALL + "\n[zzz]\n", 16, "unknown section 'zzz'; known are source"),
    "no-source": (without("[source]").replace('pmf = "joint.json"\n', ""), None, "there is no [source] section"),
    "no-objective": (SMALL.replace("[objective]\nmaximize = {", "x = {"), None, "there is no [objective] section"),
    "no-mechanism": (SMALL.replace("[mechanism]\n", ""), None, "there is no [mechanism] section"),
    "two-sources": (SMALL.replace("pmf =", 'table = "t.csv"\npmf ='), 1, "exactly one of `table`, `pmf`"),
    "empty-source": (SMALL.replace('pmf = "joint.json"\n', ""), 1, "exactly one of `table`, `pmf`"),
    "pmf-number": (SMALL.replace('"joint.json"', "7"), 2, "'pmf' in [source] must be a string, not 7"),
    "pmf-empty": (SMALL.replace('"joint.json"', '""'), 2, "'pmf' in [source] is an empty string"),
    "pmf-extra": (SMALL.replace("[mechanism]", 'unit = "row"\n[mechanism]'), 4, "unknown key 'unit' in [source]"),
    "max-rows": (SMALL.replace("pmf =", "max_rows = 5\ntable ="), 2, "max_rows needs unit"),
    "min-cell": (SMALL.replace("pmf =", "min_cell = 0\ntable ="), 2, "'min_cell' is 0; it must be at least 1"),
    "min-cell-text": (
        SMALL.replace("pmf =", 'min_cell = "9"\ntable ='),
        2,
        "'min_cell' in [source] must be an integer",
    ),
    "iid-n": (
        SMALL.replace(
            'pmf = "joint.json"', 'conditionally_iid = { hidden = "W", prior = "w.json", kernel = "k.json" }'
        ),
        2,
        "[source.conditionally_iid] lacks the key 'n'",
    ),
    "observe": (without("observe"), 4, "[mechanism] lacks the key 'observe'"),
    "observe-typo": (SMALL.replace("observe =", "observes ="), 5, "lacks the key 'observe'; 'observes' is not known"),
    "observe-empty": (
        SMALL.replace('observe = ["X1", "X2"]', "observe = []"),
        5,
        "must be a list of column names, not []",
    ),
    "observe-twice": (
        SMALL.replace('["X1", "X2"]', '["X1", "X1"]'),
        5,
        "'observe' in [mechanism] names a column twice",
    ),
    "observe-numbers": (SMALL.replace('["X1", "X2"]', "[1, 2]"), 5, "must be a list of column names"),
    "no-output": (without("output"), 4, "say either release = [...] (same values) or output"),
    "both-outputs": (SMALL.replace('output = "Y"', 'output = "Y"\nrelease = ["X1"]'), 4, "say either release"),
    "mechanism-typo": (
        SMALL.replace('"Y"\n', '"Y"\nstratum = ["X1"]\n'),
        7,
        "unknown key 'stratum' in [mechanism]; did you mean 'strata'?",
    ),
    "keep-and-stratum": (
        SMALL.replace('"Y"\n', '"Y"\nkeep = ["A"]\nstrata = ["A"]\n'),
        7,
        "'A' is kept and released or a stratum",
    ),
    "keep-and-release": (SMALL.replace('output = "Y"', 'release = ["A"]\nkeep = ["A"]'), 7, "'A' is kept and released"),
    "forbid": (SMALL.replace('"Y"\n', '"Y"\nforbid = ["a", "b"]\n'), 7, "forbid is a list of pairs of values"),
    "form": (SMALL.replace('"Y"\n', '"Y"\nform = "types"\n'), 7, "'form' is 'types'; it must be one of 'pram'"),
    "order": (
        SMALL.replace('"Y"\n', '"Y"\norder = "sorted"\n'),
        7,
        "'order' is 'sorted'; it must be one of 'shuffle', 'keep'",
    ),
    "flag": (SMALL.replace('"Y"\n', '"Y"\npreserve_marginals = 1\n'), 7, "must be true or false, not 1"),
    "objective-typo": (
        SMALL.replace("maximize", "maximise"),
        9,
        "unknown key 'maximise' in [objective]; did you mean 'maximize'?",
    ),
    "objective-both": (
        SMALL.replace("maximize =", "minimize = { rate = true }\nmaximize ="),
        8,
        "exactly one of maximize and minimize",
    ),
    "objective-text": (SMALL.replace('{ information = ["W"] }', '"W"'), 9, "'maximize' in [objective] must be a table"),
    "objective-key": (SMALL.replace("information", "leakage"), 9, "[objective.maximize] lacks the key 'information'"),
    "objective-extra": (SMALL.replace('["W"] }', '["W"], of = 1 }'), 9, "unknown key 'of' in [objective.maximize]"),
    "minimize": (
        SMALL.replace("maximize = { information", "minimize = { informaton"),
        9,
        "exactly one of distortion, sum, leakage, rate, capacity and variance",
    ),
    "rate": (
        SMALL.replace('maximize = { information = ["W"] }', "minimize = { rate = false }"),
        9,
        "write rate = true",
    ),
    "distortion": (
        SMALL.replace('maximize = { information = ["W"] }', 'minimize = { distortion = "manhattan", of = ["W"] }'),
        9,
        "distortion is 'manhattan'; use hamming",
    ),
    "guarantee-typo": (
        SMALL.replace('independent = ["X2"]', 'independant = ["X2"]'),
        13,
        "did you mean 'independent' for 'independant'?",
    ),
    "guarantee-single": (
        SMALL.replace("[[guarantee]]\nindependent", "[guarantee]\nindependent", 1).split("[[")[0],
        11,
        "write [[guarantee]] with two brackets",
    ),
    "guarantee-empty": (SMALL + "[[guarantee]]\n", 15, "names exactly one of independent"),
    "guarantee-two": (SMALL + "leakage = ['W']\nat_most_bits = 1\n", 13, "names exactly one of independent"),
    "guarantee-extra": (SMALL + "at_most_bits = 1\n", 15, "unknown key 'at_most_bits' in [[guarantee]]"),
    "guarantee-third": (SMALL + "[[guarantee]]\nlocal_dp = 'one'\n", 16, "'local_dp' is 'one'; write an integer"),
    "local-dp-negative": (SMALL + "[[guarantee]]\nlocal_dp = -1\n", 16, "'local_dp' is -1; write a number from 0 on"),
    "local-dp-nan": (SMALL + "[[guarantee]]\nlocal_dp = nan\n", 16, "not a finite number"),
    "local-dp-inf": (SMALL + "[[guarantee]]\nlocal_dp = inf\n", 16, "not a finite number"),
    "leakage-no-limit": (SMALL + '[[guarantee]]\nleakage = ["X1"]\n', 15, "[[guarantee]] lacks the key 'at_most_bits'"),
    "leakage-unit": (SMALL + '[[guarantee]]\nleakage = ["X1"]\nat_most = 0.1\n', 17, "lacks the key 'at_most_bits'"),
    "dalenius-false": (SMALL + "[[guarantee]]\ndalenius = false\nat_most_bits = 1\n", 16, "write dalenius = true"),
    "dalenius-group": (
        SMALL + "[[guarantee]]\ndalenius = true\nat_most_bits = 1\ngroup = 0\n",
        18,
        "'group' is 0; it must be at least 1",
    ),
    "limit-over-zero": (
        SMALL + '[[limit]]\ndistortion = "hamming"\nof = ["X1"]\nat_most = "1/0"\n',
        18,
        "a fraction over zero",
    ),
    "limit-ragged": (
        SMALL + '[[limit]]\ndistortion = [[0, 1], [1]]\nof = ["X1"]\nat_most = 1\n',
        16,
        "rows of the same length",
    ),
    "limit-word": (
        SMALL + '[[limit]]\ndistortion = [[0, "far"]]\nof = ["X1"]\nat_most = 1\n',
        16,
        "a distortion is 'far'",
    ),
    "limit-negative": (
        SMALL + '[[limit]]\ndistortion = [[0, -1]]\nof = ["X1"]\nat_most = 1\n',
        16,
        "a distortion is negative",
    ),
    "limit-no-of": (SMALL + '[[limit]]\ndistortion = "hamming"\nat_most = 1\n', 15, "[[limit]] lacks the key 'of'"),
    "column-empty": (SMALL + "[columns.X1]\nmissing = 'refuse'\n", 15, "needs one of values"),
    "column-both": (SMALL + "[columns.X1]\nvalues = ['a']\ngrid = {}\n", 15, "needs one of values"),
    "column-twice": (SMALL + "[columns.X1]\nvalues = ['a', 'a']\n", 16, "values lists a value twice"),
    "column-bool": (SMALL + "[columns.X1]\nvalues = [true, false]\n", 16, "(or true/false without quotes)"),
    "column-missing": (
        SMALL + "[columns.X1]\nmissing = 'drop'\nvalues = ['a']\n",
        16,
        "'missing' is 'drop'; it must be one of 'refuse', 'category'",
    ),
    "column-typo": (
        SMALL + "[columns.X1]\nvalues = ['a']\nmising = 'refuse'\n",
        17,
        "unknown key 'mising' in [columns.X1]; did you mean 'missing'?",
    ),
    "grid-step": (SMALL + "[columns.X1]\ngrid = { low = 0, high = 1, step = 0 }\n", 16, "step > 0 and high >= low"),
    "grid-order": (SMALL + "[columns.X1]\ngrid = { low = 1, high = 0, step = 1 }\n", 16, "step > 0 and high >= low"),
    "grid-large": (
        SMALL + "[columns.X1]\ngrid = { low = 0, high = 1, step = '1/20000000' }\n",
        16,
        "more than ten million points",
    ),
    "cuts-order": (SMALL + "[columns.X1]\ncuts = [5, 5]\n", 16, "numbers that grow"),
    "cuts-text": (SMALL + "[columns.X1]\ncuts = 5\n", 16, "cuts is a list of numbers, not 5"),
    "cuts-word": (SMALL + "[columns.X1]\ncuts = ['five']\n", 16, "five"),
    "cuts-labels": (SMALL + "[columns.X1]\ncuts = [5]\nlabels = ['low']\n", 16, "2 groups, and there are 1 labels"),
    "cuts-same": (SMALL + "[columns.X1]\ncuts = [5]\nlabels = ['a', 'a']\n", 16, "must differ"),
    "cuts-and": (SMALL + "[columns.X1]\ncuts = [5]\nvalues = ['a']\n", 15, "needs one of values"),
    "groups-twice": (SMALL + "[columns.X1]\ngroups = { a = ['x'], b = ['x'] }\n", 16, "lists the value 'x' twice"),
    "groups-empty": (SMALL + "[columns.X1]\ngroups = { a = [] }\n", 16, "at least one"),
    "groups-text": (SMALL + "[columns.X1]\ngroups = { a = 'x' }\n", 16, "must be a list of values"),
    "groups-labels": (SMALL + "[columns.X1]\ngroups = { a = ['x'] }\nlabels = ['b']\n", 17, "unknown key 'labels'"),
    "grid-key": (SMALL + "[columns.X1]\ngrid = { low = 0, high = 1 }\n", 16, "lacks the key 'step'"),
    "side": (SMALL + "[side_information]\nencoder = 'informed'\n", 15, "[side_information] lacks the key 'variable'"),
    "side-encoder": (
        SMALL + "[side_information]\nvariable = 'Z'\nencoder = 'yes'\n",
        17,
        "'encoder' is 'yes'; it must be one of 'uninformed'",
    ),
}


@pytest.mark.parametrize(("text", "line", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_refused_with_key_and_line(tmp_path, text, line, message):
    where = f"problem.toml, line {line}: " if line else "problem.toml: "
    with pytest.raises(ProblemFileError, match=f"^{re.escape(where)}.*{re.escape(message)}"):
        problem(tmp_path, text)


def test_what_is_no_toml_is_refused_with_its_line(tmp_path):
    with pytest.raises(ProblemFileError, match=r"problem\.toml is not valid TOML: .*line 2"):
        problem(tmp_path, "[source]\npmf = joint\n")


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(InputError, match=r"there is no problem file .*nowhere\.toml"):
        Problem.from_file(tmp_path / "nowhere.toml")
    with pytest.raises(InputError, match="is a folder, not a problem file"):
        Problem.from_file(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"[source]\npmf = '\xe9'\n")
    with pytest.raises(InputError, match=r"latin\.toml is not UTF-8 text"):
        Problem.from_file(tmp_path / "latin.toml")


# --- binding ---------------------------------------------------------------------------------------------------------
def test_a_name_that_the_source_lacks_is_refused_with_the_line_that_names_it(tmp_path):
    declared = problem(tmp_path, SMALL)
    assert declared.bound(xor().pmf).pmf == xor().pmf
    other = Pmf.from_records({"X1": ("0",), "W": ("0",)}, [(("0", "0"), 1)])
    with pytest.raises(ProblemFileError, match=r"line 5: there is no variable 'X2'; the source has 'X1', 'W'"):
        declared.bound(other)
    without_w = Pmf.from_records({"X1": ("0",), "X2": ("0",)}, [(("0", "0"), 1)])
    with pytest.raises(ProblemFileError, match="line 9: there is no variable 'W'"):
        declared.bound(without_w)
    with pytest.raises(ProblemFileError, match="line 6: the output 'X2' is the name of a source variable"):
        problem(tmp_path, SMALL.replace('output = "Y"', 'output = "X2"')).bound(xor().pmf)


def test_problems_are_compared_by_what_they_say(tmp_path):
    assert problem(tmp_path, SMALL).bound(xor().pmf) == problem(tmp_path, SMALL).bound(xor().pmf)
    assert xor() == xor()
    assert xor() != example2()


def test_a_problem_without_input_or_output_is_refused():
    with pytest.raises(ProblemFileError, match="the mechanism observes nothing"):
        Problem(observe=(), objective=MinimizeRate(), output="Y")
    with pytest.raises(ProblemFileError, match="say either release"):
        Problem(observe=("X",), objective=MinimizeRate())
    with pytest.raises(ProblemFileError, match="keep names a column twice"):
        Problem(observe=("X",), objective=MinimizeRate(), output="Y", keep=("A", "A"))


def test_more_promises_than_a_proof_file_holds_are_refused_before_anything_is_searched():
    names = tuple(f"X{k}" for k in range(1001))
    promises = [Independent((name,)) for name in names]
    fits = Problem(observe=names, objective=MinimizeRate(), output="Y", guarantees=promises[1:])
    assert len(fits.guarantees) == 1000
    with pytest.raises(ProblemFileError, match="there are 1,001 promises, and a proof file holds at most 1,000"):
        Problem(observe=names, objective=MinimizeRate(), output="Y", guarantees=promises)


def test_the_lines_of_many_tables_of_one_name_are_found_in_one_pass():
    text = "[objective]\nx = 1\n" + "[[guarantee]]\ny = 1\n" * 3 + "[[guarantee.more]]\nz = 1\n"
    lines = key_lines(text)
    assert [lines["guarantee", k, "y"] for k in range(3)] == [4, 6, 8]
    assert lines["guarantee",] == 3
    assert lines["guarantee", "more", 0, "z"] == 10
    start = time.process_time()
    assert len(key_lines("[[guarantee]]\ny = 1\n" * 20_000)) == 40_001
    assert (
        time.process_time() - start < 5
    )  # ten times what it takes; looking for the next free number took half a minute
