"""Every forged or hostile file is refused, soon, with one sentence, by the package and by the exported file."""

import re
import subprocess
import sys
import time
from functools import cache

import pytest

from dalenius.kernel import Refused, check
from tests.effort import effort
from tests.kernel.documents import design, text_of
from tests.kernel.forgeries import forged
from tests.kernel.honest_documents import honest
from tests.kernel.one_file import one_file, source

FORGED = forged()
BOUNDS = {name: text for name, text in forged(bounds=True).items() if name not in FORGED}


@cache
def refusal(name):
    """What the package says about a forged text, and the seconds that it took."""
    start = time.process_time()
    with pytest.raises(Refused) as refused:
        check(FORGED[name], privacy_only=True)
    return str(refused.value), time.process_time() - start


@pytest.mark.long
@pytest.mark.parametrize("name", FORGED)
def test_a_forged_file_is_refused(name):
    sentence, took = refusal(name)
    assert 10 < len(sentence) < 250
    assert "\n" not in sentence
    assert took < 2


@pytest.mark.parametrize("name", honest())
def test_an_honest_file_is_proved(name):
    check(text_of(honest()[name]), privacy_only=True)


@pytest.mark.long
def test_the_exported_file_refuses_all_of_them_with_the_same_sentence():
    other = one_file()
    for name, text in FORGED.items():
        with pytest.raises(other.Refused, match=f"^{re.escape(refusal(name)[0])}$"):
            other.check(text, privacy_only=True)


@pytest.mark.long
@pytest.mark.parametrize("name", BOUNDS)
def test_a_false_bound_is_refused(name):
    for checker, refused in ((check, Refused), (one_file().check, one_file().Refused)):
        with pytest.raises(refused) as said:
            checker(BOUNDS[name])
        assert "\n" not in str(said.value)


def test_a_file_of_version_1_is_refused_with_a_hint():
    for text in ('{\n  "format": "dalenius-design/1"\n}', '{"format":"dalenius-card/1"}'):
        with pytest.raises(Refused, match="dalenius convert"):
            check(text)


@pytest.mark.parametrize("digits", [640, 4299])
def test_a_python_that_reads_short_numbers_only_is_refused(digits):
    before = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(digits)
        with pytest.raises(Refused, match="PYTHONINTMAXSTRDIGITS"):
            check(text_of(design()))
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--privacy", "honest"], 0, "PROVED  sha256"),
        (["--privacy", "--work", "20000000", "honest"], 0, "promise 1: kept"),
        (["--privacy", "--work", "2000", "honest"], 4, "REFUSED: $.work: the file asks for"),
        (["--privacy", "forged"], 4, "REFUSED: "),
        (["--privacy", "missing"], 2, "cannot read"),
        ([], 2, "usage"),
        (["--all", "honest"], 2, "usage"),
        (["--work", "honest"], 2, "usage"),
    ][:: effort(3, 1)],  # `test_command` runs them all in this process
)
def test_the_exported_file_runs_alone(tmp_path, arguments, status, said):
    program = tmp_path / "verifier.py"
    program.write_text(source(), encoding="utf-8")
    texts = {"honest": text_of(honest()["leakage"]), "forged": FORGED["leakage just missed"]}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode())
    paths = [str(tmp_path / a) if a in {*texts, "missing"} else a for a in arguments]
    run = subprocess.run(
        [sys.executable, "-I", str(program), *paths], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert run.returncode == status
    assert said in run.stdout + run.stderr
    assert "Traceback" not in run.stderr
