"""The first page of help, completion in shells, and what a release says in ten lines."""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dalenius import solve, verify
from dalenius.cli.grammar import parser
from dalenius.cli.helping import WANTED, commands_of, completion
from dalenius.cli.summary import check_command
from dalenius.documents import canonical
from dalenius.errors import ProofTooLong
from dalenius.testing import xor
from tests.cli.conftest import Place

Run = Callable[..., tuple[int, str, str]]


def test_every_command_stands_once_on_the_first_page(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    for name in commands_of(parser()):
        assert len(re.findall(rf"^  {name} ", out, re.MULTILINE)) == 1, name
    for title in WANTED:
        assert f"\n{title}:\n" in out
    assert max(map(len, out.splitlines())) <= 120


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(run: Run, shell: str) -> None:
    code, out, _ = run("completion", shell)
    assert code == 0
    assert out == completion(parser(), shell)
    for name in commands_of(parser()):
        assert name in out
    assert "reveal" in out
    assert "--independent" not in out  # an older name, which is understood and not offered


def test_bash_offers_what_fits() -> None:
    script = completion(parser(), "bash")
    ask = "COMP_WORDS=(dalenius init --re); COMP_CWORD=2; _dalenius; echo ${COMPREPLY[@]}"
    done = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["--release", "--reveal", "--reveal-at-most", "--reveal-nothing"]


def test_a_release_is_said_in_ten_lines_losses_first(place: Place, run: Run) -> None:
    wishes = ["--protect", "out", "--release", "sex,age", "--reveal", "0.01", "-o", place / "main.toml"]
    assert run("init", place / "t.csv", *wishes)[0] == 0
    code, out, _ = run("release", place / "main.toml", "-o", place / "out", "--new-key", place / "k")
    assert code == 0
    lines = out.splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == [
        "LOST",
        "Promise",
        "Attacker",
        "Worst row",
        "Changed",
        "Not covered several rows of one person, a second release, people outside the table.",
        "To sign",
        "Keep safe",
        "Check",
    ]
    fingerprint = hashlib.sha256((place / "out" / "design.json").read_bytes()).hexdigest()
    assert f"(fingerprint {fingerprint[:8]} {fingerprint[8:16]})" in lines[-1]
    assert str(place / "k") in out


def test_small_combinations_are_named_with_a_merge_that_was_tried(place: Place, run: Run) -> None:
    text = "a,s\n" + "x,1\nx,2\n" * 40 + "y,1\ny,2\n" * 40 + "z,1\n" * 3
    (place / "few.csv").write_text(text)
    wishes = ["--protect", "s", "--release", "a", "--nothing", "--min-rows", "1", "-o", place / "few.toml"]
    assert run("init", place / "few.csv", *wishes)[0] == 0
    loose = (place / "few.toml").read_text()
    (place / "few.toml").write_text(re.sub(r"min_cell = 1 ", "min_cell = 10 ", loose))
    code, _, err = run("release", place / "few.toml", "-o", place / "few")
    assert code == 2
    assert "1 combination has fewer than 10 rows; the smallest (a=z, s=1) has 3." in err
    line = 'groups = { "x or z" = ["x", "z"], "y" = ["y"] }'
    assert f"Merge values: in [columns.a] write {line} instead of values. Then the smallest has 40 rows. Or" in err
    assert "Nothing was written" in err
    merged = re.sub(r'values = \["x", "y", "z"\]', line, (place / "few.toml").read_text())
    (place / "few.toml").write_text(merged)
    assert run("release", place / "few.toml", "-o", place / "few")[0] == 0


def test_the_command_that_checks_a_long_proof_allows_its_work(tmp_path: Path) -> None:
    (tmp_path / "design.json").write_text('{"work": "19000000"}')
    assert check_command(tmp_path / "design.json") == f"dalenius verify {tmp_path / 'design.json'}"
    (tmp_path / "design.json").write_text('{"work": "26000000"}')
    assert check_command(tmp_path / "design.json").endswith("design.json --work 26000000")


def test_a_file_that_asks_for_more_work_is_not_called_wrong(tmp_path: Path) -> None:
    file = tmp_path / "design.json"
    file.write_text(canonical(json.loads(solve(xor()).dumps()) | {"work": "26000000"}))
    with pytest.raises(ProofTooLong, match="was not repeated") as refused:
        verify(file)
    assert refused.value.do == "Check it again with --work."
    assert verify(file, work=26_000_000).value == 1


@pytest.mark.long
@pytest.mark.parametrize("word", ["--help", "--bad"])
def test_help_and_a_refused_flag_open_no_checker(word: str) -> None:
    program = f"""
import contextlib, sys
from dalenius.cli import main
with contextlib.suppress(SystemExit):
    main([{word!r}])
print([m for m in ("dalenius.kernel", "dalenius.core", "numpy") if m in sys.modules])
"""
    r = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert r.stdout.splitlines()[-1] == "[]", r.stderr
