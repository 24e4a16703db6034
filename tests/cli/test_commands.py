"""The other commands: verify, apply, audit, explain, profile, and the manners of all of them."""

import json
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dalenius.documents import canonical
from dalenius.documents import checked as check
from dalenius.documents.checking import plain
from dalenius.errors import NotCertified
from tests.cli.conftest import Place, released_in, rows, write_csv

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = Place(tmp_path_factory.mktemp("done"))
    write_csv(here / "t.csv", rows())
    here.problem()
    return released_in(here.folder, "--new-key", str(here / "key"))


@pytest.fixture
def done(once: Path, tmp_path: Path) -> Place:
    return Place(shutil.copytree(once, tmp_path, dirs_exist_ok=True))


@pytest.mark.long
# --- verify ---------------------------------------------------------------------------------------------------------
def test_verify_recounts_the_table_and_compares_the_promises(done: Place, run: Run) -> None:
    design = done / "out" / "design.json"
    code, out, _ = run("verify", design, "--table", done / "t.csv", "--problem", done / "p.toml")
    assert code == 0
    assert "Recounted" in out
    assert "Compared" in out
    assert "--table recounts one" not in out
    assert "; --table recounts one." in run("verify", design)[1]
    write_csv(done / "other.csv", rows(seed=6))
    code, _, err = run("verify", design, "--table", done / "other.csv")
    assert code == 4
    assert "in the table" in err
    other = done.problem(('independent = ["age"]', 'independent = ["age", "sex"]'), name="other.toml")
    code, _, err = run("verify", design, "--problem", other)
    assert code == 4
    assert "It promises that what is released is exactly independent of age;" in err


def test_verify_says_that_stated_statistics_have_no_rows_to_recount(place: Place, run: Run) -> None:
    shares = [{"S": s, "X": x, "p": p} for s, x, p in (("0", "0", "1/4"), ("1", "0", "1/4"), ("1", "1", "1/2"))]
    law = {"variables": {"S": ["0", "1"], "X": ["0", "1"]}, "pmf": shares}
    (place / "joint.json").write_text(json.dumps(law))
    (place / "p.toml").write_text(
        '[source]\npmf = "joint.json"\n[mechanism]\nobserve = ["X"]\nrelease = ["X"]\n'
        '[objective]\nminimize = { distortion = "hamming", of = ["X"] }\n[[guarantee]]\nindependent = ["S"]\n'
    )
    (place / "t.csv").write_text("S,X\n0,0\n1,0\n1,1\n1,1\n")
    assert run("solve", place / "p.toml", "-o", place / "d.json")[0] == 0
    code, out, _ = run("verify", place / "d.json", "--table", place / "t.csv")
    assert code == 0
    assert "which states no number of rows" in out
    assert "rows and counts" not in out


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"a": 1}', "an object without a format"),
        ("[1]", "a list"),
        ("3", "a number"),
        ('{"format": "dalenius-estimate/1"}', "of format 'dalenius-estimate/1'"),
        ('{"inputs": {}, "output": {}, "rows": []}', "a bare recipe"),
        ('{"variables": {}, "pmf": []}', "a distribution"),
        ('{"query": {}, "at_most_bits": "1"}', "the result of a calibration"),
    ],
)
def test_verify_says_what_a_file_is_that_is_no_design(tmp_path, run: Run, text: str, what: str) -> None:
    (tmp_path / "x.json").write_text(text)
    code, out, err = run("verify", tmp_path / "x.json")
    assert (code, out) == (2, "")
    assert f"x.json is {what}" in err
    assert "name a design.json or a card.json" in err
    assert err.count("\n") == 1


def test_verify_of_a_card_says_what_it_cannot_prove(done: Place, run: Run) -> None:
    code, out, _ = run("verify", done / "out" / "card.json")
    assert code == 0
    assert "only design.json can prove it" in out
    assert "That nothing better is possible depends on statistics: only design.json can prove it." in out
    assert run("verify", done / "out" / "card.json", "--table", done / "t.csv")[0] == 2


def test_what_is_no_number_is_said_so(done: Place, run: Run) -> None:
    code, _, err = run("solve", done / "problem.toml", "-o", done / "new.json", "--gap", "x")
    assert (code, err.count("\n")) == (2, 1)
    assert "--gap: 'x' is not a number" in err


def test_a_folder_instead_of_a_design_is_named(done: Place, run: Run) -> None:
    for command in ("verify", "explain", "audit", "channel"):
        code, _, err = run(command, done.folder)
        assert code == 2
        assert f"{done.folder}: Is a directory" in err


def spoilt(design: str, how: str) -> str:
    changed = json.loads(design)
    if how == "value":
        changed["claims"]["value"] = "1"
    elif how == "bound":
        changed["claims"]["bound"] = changed["claims"]["value"]
    elif how == "row":
        changed["channel"]["rows"][0], changed["channel"]["rows"][1] = changed["channel"]["rows"][1::-1]
    elif how == "promise":
        changed["promises"] = changed["promises"][:1]
    elif how == "figure":
        given = next(claim for claim in changed["claims"]["promises"][0] if claim["given"] == "age")
        given["value"] = "0"
    elif how == "number":
        changed["channel"]["rows"][0][0] = "1e400"
    elif how == "rule":
        changed["proof"]["rule"] = "faith"
    elif how == "truncated":
        return canonical(changed)[:-40]
    elif how == "twice":
        return canonical(changed)[:-1] + ',"work":"0"}'
    elif how == "laid out":
        return json.dumps(changed)
    return canonical(changed)


WAYS = ["sound", "value", "bound", "row", "promise", "figure", "number", "rule", "truncated", "twice", "laid out"]


def refusal(checker: Callable[[str], object], kind: type[Exception], text: str) -> str:
    try:
        checker(text)
    except kind as e:
        return str(e)
    return ""


@pytest.mark.long
def test_the_exported_checker_needs_nothing_and_agrees_with_the_package(done: Place, run: Run) -> None:
    code, _, _ = run("verify", "--export", done / "verifier.py")
    assert code == 0
    lines = (done / "verifier.py").read_text().splitlines()
    assert not [line for line in lines if line.startswith(("import dalenius", "from dalenius"))]
    design = (done / "out" / "design.json").read_text()
    here = runpy.run_path(str(done / "verifier.py"), run_name="verifier")  # in this process, for all the ways
    for how in WAYS:
        text = spoilt(design, how)
        why = refusal(check, NotCertified, text)
        assert bool(why) is (how != "sound"), how
        said = refusal(here["check"], here["Refused"], text)
        assert plain(said) == why  # the package says it in the words of the glossary
        if how in ("sound", "value"):  # and by itself: no package, no site
            (done / "d.json").write_text(text)
            command = [sys.executable, "-I", "-S", str(done / "verifier.py"), str(done / "d.json")]
            alone = subprocess.run(command, capture_output=True, text=True)
            assert alone.returncode == (4 if why else 0), alone.stderr
            assert said in alone.stderr
    assert run("verify", "--export", done / "verifier.py")[0] == 2


@pytest.mark.long
# --- apply ----------------------------------------------------------------------------------------------------------
def test_apply_draws_again_for_the_same_counts_and_refuses_other_ones(done: Place, run: Run) -> None:
    design = done / "out" / "design.json"
    code, _, _ = run("apply", design, done / "t.csv", "-o", done / "again.csv", "--key", done / "key")
    assert code == 0
    assert (done / "again.csv").read_bytes() == (done / "out" / "released.csv").read_bytes()
    write_csv(done / "twice.csv", rows() + rows())  # other rows, same distribution: proved anew
    assert run("apply", design, done / "twice.csv", "-o", done / "twice.parquet")[0] == 0
    write_csv(done / "other.csv", rows(seed=6))
    code, _, err = run("apply", design, done / "other.csv", "-o", done / "no.csv")
    assert code == 4
    assert "does not hold for this table" in err
    assert not (done / "no.csv").exists()
    assert run("apply", design, done / "t.csv", "-o", done / "again.csv")[0] == 2
    assert run("apply", design, done / "t.csv", "-o", done / "again.xls")[0] == 2


@pytest.mark.long
# --- audit ----------------------------------------------------------------------------------------------------------
def test_audit_accepts_the_release_and_refuses_a_forged_one(done: Place, run: Run) -> None:
    design, released = done / "out" / "design.json", done / "out" / "released.csv"
    for extra in ([], ["--key", done / "key"]):
        code, out, _ = run("audit", design, "--released", released, "--original", done / "t.csv", "--json", *extra)
        assert code == 0
        seen = json.loads(out)
        assert seen["rows_matched_to_the_original"] is bool(extra)
        assert seen["contradicts_the_proof"] is False
    lines = released.read_text().splitlines()
    (done / "forged.csv").write_text("\n".join([lines[0], *[lines[1]] * (len(lines) - 1)]) + "\n")
    code, _, err = run("audit", design, "--released", done / "forged.csv", "--original", done / "t.csv")
    assert code == 4
    assert "contradicts" in err
    (done / "short.csv").write_text("\n".join(lines[:-5]) + "\n")
    assert run("audit", design, "--released", done / "short.csv", "--original", done / "t.csv")[0] == 4
    (done / "named.csv").write_text("\n".join(["Z", *lines[1:]]) + "\n")
    assert run("audit", design, "--released", done / "named.csv", "--original", done / "t.csv")[0] == 2


# --- explain, profile -------------------------------------------------------------------------------------------------
def test_explain_reads_designs_and_cards(done: Place, run: Run) -> None:
    for name in ("design.json", "card.json"):
        code, out, _ = run("explain", done / "out" / name)
        assert code == 0
        assert "reveals nothing about sex" in out
        assert "Not protected" in out
    assert "(Proposition 1)" in run("explain", done / "p.toml")[1]
    assert run("explain", done / "t.csv")[0] == 2


@pytest.mark.parametrize(
    "change",
    [
        ('unit = "row"', 'unit = "id"\nmax_rows = 3'),
        ('unit = "row"', 'unit = "row"\nweights = "age"'),
        ("[mechanism]", '[mechanism]\norder = "keep"'),
    ],
    ids=["unit", "weights", "order"],
)
def test_a_problem_that_says_more_than_the_design_is_refused(
    done: Place, run: Run, tmp_path: Path, change: tuple[str, str]
) -> None:
    text = (done / "p.toml").read_text().replace("[source]\n", '[source]\nunit = "row"\n', 1)
    other = done / "other.toml"
    other.write_text(text)
    assert run("verify", done / "out" / "design.json", "--problem", other)[0] == 0
    other.write_text(text.replace(*change, 1))
    assert run("verify", done / "out" / "design.json", "--problem", other)[0] == 4
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "design.json").write_bytes((done / "out" / "design.json").read_bytes())
    assert run("verify", tmp_path / "alone" / "design.json", "--problem", other)[0] == 4


def test_explain_says_nothing_of_a_design_that_is_not_proved(done: Place, run: Run, tmp_path: Path) -> None:
    said = json.loads((done / "out" / "design.json").read_bytes())
    for claim in said["claims"]["promises"][0]:
        if claim["figure"] == "guess_after":
            claim["value"] = "0.01"
    (tmp_path / "design.json").write_bytes(canonical(said).encode())
    code, out, err = run("explain", tmp_path / "design.json")
    assert code == 4
    assert "guess_after is not proved" in out + err
    assert "Promised" not in out


def test_what_is_said_beside_a_file_is_not_explained_as_proved(done: Place, run: Run, tmp_path: Path) -> None:
    for name in ("design", "card"):
        (tmp_path / f"{name}.json").write_bytes((done / "out" / f"{name}.json").read_bytes())
        about = json.loads((done / "out" / f"{name}.about.json").read_bytes())
        about["remarks"] = ["nobody learns anything"]
        if name == "card":
            for figures in about["stated_by_the_design"]["guarantees"]:
                figures["guess_after"] = "0.01"
        (tmp_path / f"{name}.about.json").write_text(json.dumps(about))
        told = run("explain", tmp_path / f"{name}.json")[1]
        proved, beside = told.split("Said beside the file, and not proved:")
        assert "nobody learns anything" in beside
        if name == "card":
            assert "1.00 %" not in proved.split("Stated of the design, which alone can prove it:")[0]


def test_the_file_beside_a_design_cannot_change_its_shape(done: Place, run: Run, tmp_path: Path) -> None:
    text = (done / "out" / "design.json").read_bytes()
    (tmp_path / "design.json").write_bytes(text)
    honest = json.loads((done / "out" / "design.about.json").read_bytes())
    for lie in (
        {"mechanism": {"form": "pram"}},
        {"mechanism": {"each": {"age": "1"}}},
        {"source": honest["source"] | {"prior": "public.json"}},
    ):
        (tmp_path / "design.about.json").write_text(json.dumps(honest | lie))
        assert run("explain", tmp_path / "design.json")[0] == 2
    (tmp_path / "design.about.json").write_text(json.dumps(honest | {"mechanism": {"preserve_marginals": True}}))
    assert run("explain", tmp_path / "design.json")[1] == run("explain", done / "out" / "design.json")[1]


@pytest.mark.parametrize("figure", ["1/0", "x", "1e999999999", None])
def test_what_a_card_states_of_its_design_is_a_number(done: Place, run: Run, tmp_path: Path, figure: object) -> None:
    (tmp_path / "card.json").write_bytes((done / "out" / "card.json").read_bytes())
    about = json.loads((done / "out" / "card.about.json").read_bytes())
    about["stated_by_the_design"]["value"] = figure
    (tmp_path / "card.about.json").write_text(json.dumps(about))
    code, _, err = run("explain", tmp_path / "card.json")
    assert code == 2
    assert "what is stated beside the card is no number" in err


def test_profile_tells_what_would_be_refused(place: Place, run: Run) -> None:
    code, out, _ = run("profile", place / "t.csv", "--keys", "sex", "age")
    assert code == 0
    assert "identifier" in out
    assert "missing" in out
    code, out, _ = run("profile", place / "t.csv", "--unit", "id", "--json")
    assert json.loads(out)["rows"] == 3000


# --- manners ----------------------------------------------------------------------------------------------------------
def test_profile_puts_suggested_groups_into_the_sections(tmp_path: Path, run: Run) -> None:
    visits = [0] * 50 + [*range(40)]
    (tmp_path / "t.csv").write_text("visits,sex\n" + "".join(f"{v},{'fm'[v % 2]}\n" for v in visits))
    code, out, _ = run("profile", tmp_path / "t.csv")
    assert code == 0
    assert "suggested groups: none, 1-14, 15-29, 30 or more" in out
    assert '# suggested groups\ncuts = [1, 15, 30]\nlabels = ["none", "1-14", "15-29", "30 or more"]\n' in out
    assert '[columns.sex]\nvalues = ["f", "m"]' in out


COMMANDS = ["init", "profile", "release", "solve", "verify", "apply", "explain", "audit", "channel", "figures"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(run: Run, command: str) -> None:
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"dalenius {command}" in out.split("example:")[1]
    assert "--json" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["solve", "absent.toml", "-o", "d.json"], "absent.toml"),
        (["release", "absent.toml", "-o", "out"], "absent.toml"),
        (["verify", "absent.json"], "absent.json"),
        (["verify"], "--export"),
        (["apply", "absent.json", "t.csv", "-o", "x.csv"], "absent.json"),
        (["explain", "absent.json"], "absent.json"),
        (["audit", "absent.json", "--released", "r.csv", "--original", "t.csv"], "absent.json"),
        (["profile", "absent.csv"], "absent.csv"),
        (["init", "absent.csv"], "absent.csv"),
        (["nonsense"], "nonsense"),
        (["solve"], "problem"),
        (["audit", "d.json", "--released", "r", "--original", "t", "--error", "2"], "between 0 and 1"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_2(
    place: Place, run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str
) -> None:
    monkeypatch.chdir(place.folder)
    before = place.names()
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert says in err
    assert err.count("\n") == 1
    assert place.names() == before


@pytest.mark.parametrize(
    ("swap", "says"),
    [
        (('independent = ["sex"]', "local_dp = 101"), "more than 100 promises nothing"),
        (('independent = ["sex"]', "dalenius = true\nat_most_bits = 1"), "dalenius"),
        (('output = "Y"', 'release = ["sex"]'), "output"),
        (('maximize = { information = ["out"] }', 'minimize = { leakage = ["out"] }'), "values may be released"),
    ],
)
def test_what_no_family_solves_is_refused_by_name(place: Place, run: Run, swap: tuple[str, str], says: str) -> None:
    place.problem(swap)
    code, _, err = run("solve", place / "p.toml", "-o", place / "d.json")
    assert code == 2
    assert says in err
    assert not (place / "d.json").exists()


@pytest.mark.long
def test_json_for_machines_everywhere(done: Place, run: Run) -> None:
    for arguments in (
        ["solve", done / "p.toml", "-o", done / "d.json"],
        ["verify", done / "out" / "design.json"],
        ["explain", done / "out" / "card.json"],
        ["apply", done / "out" / "design.json", done / "t.csv", "-o", done / "x.csv"],
        ["release", done / "p.toml", "-o", done / "second"],
    ):
        code, out, _ = run(*arguments, "--json")
        assert code == 0
        assert isinstance(json.loads(out), dict)


@pytest.mark.long
def test_a_fault_of_ours_says_so_and_exits_1(place: Place) -> None:
    program = (
        "import sys; import dalenius.cli.solve as s; from dalenius.cli import main\n"
        "def broken(arguments): raise ZeroDivisionError('planted')\n"
        "s.run = broken\nsys.exit(main(['solve', 'p.toml', '-o', 'x']))"
    )
    r = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=place.folder)
    assert r.returncode == 1
    assert "Dalenius failed, not your file" in r.stderr
    assert "Traceback" not in r.stderr


@pytest.mark.long
def test_version_and_module_entry() -> None:
    r = subprocess.run([sys.executable, "-m", "dalenius", "--version"], capture_output=True, text=True)
    assert r.returncode == 0
    assert r.stdout.startswith("dalenius ")


def test_help_loads_nothing_heavy() -> None:
    heavy = ("numpy", "pyarrow", "highspy", "flint", "jinja2", "cryptography")
    program = f"import sys, dalenius.cli.grammar as g; g.parser(); print([m for m in {heavy} if m in sys.modules])"
    r = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert r.stdout.strip() == "[]", r.stderr


@pytest.mark.long
def test_the_walk_loads_neither_searches_nor_pages_until_it_needs_them() -> None:
    program = (
        "import sys, dalenius.api; print([m for m in ('scipy', 'jinja2', 'duckdb', 'pandas') if m in sys.modules])"
    )
    r = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert r.stdout.strip() == "[]", r.stderr


@pytest.mark.long
def test_verify_opens_no_arrays_and_no_nouns(done: Place) -> None:
    """The check of a small file takes milliseconds; arrays take longer to open than the whole of it."""
    program = (
        f"import sys; sys.argv = ['dalenius', 'verify', {str(done / 'out' / 'design.json')!r}]; "
        "from dalenius.cli import main; main(); "
        "print([m for m in ('numpy', 'pyarrow', 'dalenius.core', 'dalenius.mechanisms') if m in sys.modules])"
    )
    r = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert r.stdout.startswith("Proved"), r.stderr
    assert r.stdout.splitlines()[-1] == "[]"


@pytest.mark.long
def test_solve_opens_no_pages_no_evidence_no_frames_and_no_test_tools_of_its_solvers(
    place: Place, tmp_path: Path
) -> None:
    """A search over a hundred values takes a third of a second; these took longer than it. Drivers open no frames."""
    program = (
        f"import sys; sys.argv = ['dalenius', 'solve', {str(place / 'p.toml')!r}, '-o', {str(tmp_path / 'd.json')!r}]; "
        "from dalenius.cli import main; main(); print([m for m in "
        "('dalenius.evidence', 'dalenius.ledger', 'dalenius.report.statement', 'scipy.linalg', 'scipy.sparse', "
        "'numpy.f2py') if m in sys.modules])\n"
        "import adbc_driver_sqlite.dbapi; print([m for m in ('pandas', 'polars') if sys.modules.get(m)])"
    )
    r = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (tmp_path / "d.json").exists(), r.stderr
    assert r.stdout.splitlines()[-2:] == ["[]", "[]"], r.stderr


@pytest.mark.long
def test_solving_for_a_stated_law_opens_no_tables_ciphers_or_audits(tmp_path: Path) -> None:
    law = {"variables": {"S": ["0", "1"], "X": ["0", "1"]}, "pmf": []}
    law["pmf"] = [{"S": s, "X": x, "p": "3/8" if s == x else "1/8"} for s in "01" for x in "01"]
    (tmp_path / "law.json").write_text(json.dumps(law))
    (tmp_path / "p.toml").write_text(
        '[source]\npmf = "law.json"\n[mechanism]\nobserve = ["X"]\nrelease = ["X"]\n[objective]\n'
        'minimize = { leakage = ["S"] }\n[[limit]]\ndistortion = "hamming"\nof = ["X"]\nat_most = 0.2\n'
    )
    files = [str(tmp_path / "p.toml"), "-o", str(tmp_path / "d.json")]
    unwanted = ("pyarrow", "pandas", "cryptography", "importlib.metadata", "dalenius.mechanisms.auditing")
    program = (
        f"import sys; sys.argv = {['dalenius', 'solve', *files]}; "
        f"from dalenius.cli import main; print(main(), [m for m in {unwanted} if m in sys.modules])"
    )
    r = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert r.stdout.splitlines()[-1] == "0 []", r.stderr


def test_python_walk_is_the_same_walk(done: Place, tmp_path: Path) -> None:
    import dalenius

    design = dalenius.solve(dalenius.Problem.from_file(done / "p.toml"))
    assert dalenius.verify(design).bound >= design.value
    released, seen = dalenius.apply(design, done / "t.csv", key=dalenius.Key.unsafe(7))
    again, _ = dalenius.apply(design, done / "t.csv", key=dalenius.Key.unsafe(7))
    assert (released.columns["Y"][0] == again.columns["Y"][0]).all()
    assert not seen.contradicts


@pytest.mark.long
def test_explain_says_what_one_more_bit_of_leakage_buys(run: Run, tmp_path: Path) -> None:
    records = [{"S": s, "X": x, "p": "9/20" if s == x else "1/20"} for s in "01" for x in "01"]
    (tmp_path / "j.json").write_text(json.dumps({"variables": {"S": ["0", "1"], "X": ["0", "1"]}, "pmf": records}))
    (tmp_path / "p.toml").write_text(
        '[source]\npmf = "j.json"\n[mechanism]\nobserve = ["X"]\noutput = "Y"\n[objective]\n'
        'maximize = { information = ["X"] }\n[[guarantee]]\nleakage = ["S"]\nat_most_bits = "1/10"\n'
    )
    code, out, _ = run("explain", tmp_path / "p.toml")
    assert code == 0
    assert "each further bit of leakage buys at most 1.88 bits about X" in out
