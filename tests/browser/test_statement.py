"""The statement as people open it: on a screen, on a phone, on paper, without scripts, and forged."""

import gzip
import hashlib
import re
import time
from base64 import b64decode
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dalenius.answering import answer
from dalenius.cli import main
from dalenius.core import Column
from dalenius.core.question import Question
from dalenius.report.reproof import enclosed
from dalenius.report.statement import public_statement
from dalenius.sampling import Key
from dalenius.tables import read_told
from tests.browser.conftest import SIZES, quickly
from tests.report.conftest import made_up
from tests.report.test_statement import changing

pytestmark = pytest.mark.browser

A4_PAGES = 3
MOST_BYTES = 100_000
PAGES = ("statement.html", "statement-public.html")
HOSTILE = ["<img src=x onerror=alert(1)>", "x" * 200, "\u202eright to left", "\U0001f600 \u05e9\u05dc\u05d5\u05dd", ""]


@pytest.mark.parametrize(("width", "scheme"), SIZES)
@pytest.mark.parametrize("name", PAGES)
def test_the_page_has_no_fault(demo: Path, watch: Any, name: str, width: int, scheme: str) -> None:
    watched = watch((demo / "release" / name).as_uri(), width, scheme)
    assert watched.faults() == {}
    assert len(watched.requests) == 1  # the file itself
    for summary in watched.page.query_selector_all("details:not([open]) > summary"):
        summary.click()
    assert watched.faults() == {}


@pytest.mark.parametrize("width", [740, 900, 1000])
def test_nothing_stands_alone_in_its_row(demo: Path, watch: Any, width: int) -> None:
    """At 900 pixels the last of five facts, and of four signs, stood in a row by itself."""
    page = watch((demo / "release" / "statement.html").as_uri(), width).page
    for many in (".facts > div", ".status > li"):
        tops = page.eval_on_selector_all(many, "all => all.map(one => one.getBoundingClientRect().top)")
        assert tops.count(tops[-1]) > 1, many


@pytest.mark.parametrize("name", PAGES)
def test_it_prints_on_three_pages(demo: Path, watch: Any, name: str) -> None:
    page = watch((demo / "release" / name).as_uri()).page
    paper = page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) <= A4_PAGES
    page.emulate_media(media="print")
    assert page.is_visible("text=What this does not protect")


KINDS = {
    "nothing": ["--release", "plan,visits,illnesses", "--nothing"],
    "deny": ["--release", "plan,visits,illnesses", "--deny", "3"],
    "each": ["--release", "plan,visits,illnesses", "--deny", "3", "--form", "each"],
    "records": ["--release", "plan,visits,illnesses", "--reveal", "0.01", "--form", "records"],
    "beside": ["--release", "visits,illnesses", "--keep", "plan", "--reveal", "0.01"],
    "useful": ["--useful", "visits", "--look-at", "visits", "plan", "--reveal", "0.01"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_that_init_writes_is_as_short(demo: Path, watch: Any, tmp_path: Path, kind: str) -> None:
    problem = str(tmp_path / "problem.toml")
    assert main(["init", str(demo / "rand.csv"), "--protect", "health", *KINDS[kind], "-o", problem, "--quiet"]) == 0
    assert main(["release", problem, "-o", str(tmp_path / "release"), "--quiet"]) == 0
    for name in PAGES:
        place = tmp_path / "release" / name
        assert place.stat().st_size <= MOST_BYTES
        watched = watch(place.as_uri())
        assert watched.faults() == {}
        paper = watched.page.pdf(prefer_css_page_size=True, print_background=True)
        assert len(re.findall(rb"/Type\s*/Page\b", paper)) <= A4_PAGES, name
    page = watch((tmp_path / "release" / "statement.html").as_uri()).page
    chosen = page.query_selector("#prove-file") is not None
    assert chosen == (kind == "deny")  # a long proof file is chosen by the reader
    assert chosen or proved_again(page)[0] == "yes"


def test_it_is_small(demo: Path) -> None:
    for name in PAGES:
        assert (demo / "release" / name).stat().st_size <= MOST_BYTES, name


@pytest.mark.parametrize("name", PAGES)
def test_it_reads_the_same_without_scripts(demo: Path, watch: Any, name: str) -> None:
    address = (demo / "release" / name).as_uri()
    without = watch(address, java_script_enabled=False)
    assert without.page.is_visible("#promise")
    assert without.page.is_visible("#limits")
    assert not without.page.is_visible("#prove")
    plain = without.page.inner_text("#promise")
    assert plain == watch(address).page.inner_text("#promise")


@pytest.mark.parametrize("name", PAGES)
def test_paper_says_what_the_screen_says(demo: Path, watch: Any, name: str) -> None:
    """What is open on the screen is printed, word for word; only the button stays behind."""
    page = watch((demo / "release" / name).as_uri()).page
    words = "[...document.querySelectorAll('main, header')].map((part) => part.innerText).join('').replace(/\\s+/g, '')"
    page.evaluate("document.querySelectorAll('.prover, details:not([open])').forEach((part) => part.remove())")
    screen = page.evaluate(words)
    page.emulate_media(media="print")
    assert page.evaluate(words) == screen


def test_an_answer_has_a_page_without_a_fault(watch: Any, tmp_path: Path) -> None:
    table = pa.table({"sex": ["f", "m"] * 50, "age": ["old"] * 30 + ["young"] * 70})
    values = {"sex": Column(values=("f", "m")), "age": Column(values=("old", "young"))}
    asked = Question("histogram", ("sex", "age"), "discrete-laplace", Fraction(3), declared=values)
    answer(asked, table, key=Key.unsafe(3), card=tmp_path / "answer.json")
    for width, scheme in SIZES:
        watched = watch((tmp_path / "answer.html").as_uri(), width, scheme)
        assert watched.faults() == {}
        assert len(watched.requests) == 1
    paper = watched.page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 1


def test_the_fingerprint_is_what_sha256sum_prints(demo: Path, watch: Any) -> None:
    page = watch((demo / "release" / "statement.html").as_uri()).page
    digest = hashlib.sha256((demo / "release" / "design.json").read_bytes()).hexdigest()
    assert page.inner_text(".digest").strip() == digest
    assert page.inner_text(".top b") == digest[:8]


def proved_again(page: Any) -> tuple[str, str]:
    """The state of the button after it was pressed, and what it says.

    The wait must not evaluate text in the page: the page's own security policy forbids that, and a check that takes
    longer than one look would fail.
    """
    from playwright.sync_api import expect

    page.click("#prove")
    expect(page.locator("#prove-said")).not_to_have_text("Checking …", timeout=60_000)
    page.wait_for_timeout(100)
    return page.get_attribute("#prove", "class").split()[-1], page.inner_text("#prove-said")


def test_the_page_proves_itself(demo: Path, watch: Any) -> None:
    watched = watch((demo / "release" / "statement.html").as_uri())
    state, words = proved_again(watched.page)
    assert (state, "The promise holds: proved again" in words) == ("yes", True)
    assert "Also proved: no other recipe does better" in words
    assert watched.faults() == {}
    assert len(watched.requests) == 1


def test_the_public_page_says_what_a_card_cannot_prove(demo: Path, watch: Any) -> None:
    state, words = proved_again(watch((demo / "release" / "statement-public.html").as_uri()).page)
    assert state == "prove"  # neither proved nor refused
    assert "0 of 1 promises" in words
    assert "design.json" in words


def forged(page: str, old: str, new: str, *, fingerprint: bool) -> str:
    """The page with another proof file; if asked, with the fingerprint of that file too."""
    carried = re.search('<pre id="proof-file" hidden>(.*?)</pre>', page, flags=re.DOTALL)
    assert carried is not None
    text = gzip.decompress(b64decode(carried[1])).decode()
    assert old in text
    other = text.replace(old, new, 1)
    page = page.replace(carried[1], enclosed(other))
    if fingerprint:
        page = re.sub("[0-9a-f]{64}", hashlib.sha256(other.encode()).hexdigest(), page, count=2)
    return page


@pytest.mark.parametrize(
    ("old", "new", "fingerprint", "words"),
    [
        ('"at_most_bits":"1/100"', '"at_most_bits":"1/200"', False, "fingerprint differs"),
        ('"at_most_bits":"1/100"', '"at_most_bits":"1/200"', True, "Not proved"),
        ('"odds_nats","given":null,"value":"0.', '"odds_nats","given":null,"value":"0.0', True, "Not proved"),
        ('"bound":"0.1', '"bound":"0.2', True, "Not proved"),
        ('{"format":"dalenius-design/2"', '{"format":"dalenius-design/9"', True, "Not proved"),
    ],
)
def test_a_forged_page_turns_red(
    demo: Path, watch: Any, tmp_path: Path, old: str, new: str, fingerprint: bool, words: str
) -> None:
    page = (demo / "release" / "statement.html").read_text("utf-8")
    (tmp_path / "forged.html").write_text(forged(page, old, new, fingerprint=fingerprint), "utf-8")
    state, said = proved_again(watch((tmp_path / "forged.html").as_uri()).page)
    assert state == "no"
    assert words in said


def test_another_script_does_not_run(demo: Path, watch: Any, tmp_path: Path) -> None:
    page = (demo / "release" / "statement.html").read_text("utf-8")
    (tmp_path / "evil.html").write_text(
        page.replace("</main>", "</main><script>document.title = 'evil'</script>"), "utf-8"
    )
    watched = watch((tmp_path / "evil.html").as_uri())
    assert watched.page.title() != "evil"
    assert any("Content Security Policy" in error for error in watched.errors)


@pytest.mark.parametrize(("width", "scheme"), SIZES[::3])
def test_700_combinations_stay_readable(demo: Path, watch: Any, tmp_path: Path, width: int, scheme: str) -> None:
    card = read_told(demo / "release" / "card.json")
    card = card | {"channel": changing({"age": 14, "schooling": 7, "employment": 7}).to_json()}
    (tmp_path / "many.html").write_text(public_statement(card), "utf-8")
    assert (tmp_path / "many.html").stat().st_size < 500_000
    began = time.monotonic()
    watched = watch((tmp_path / "many.html").as_uri(), width, scheme)
    assert time.monotonic() - began < quickly(1)
    assert watched.page.locator(".tiles td.q0, .tiles td.q5").count() == 14 * 7 * 7
    assert watched.faults() == {}
    cut = "[...document.querySelectorAll('.tiles th')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
    assert watched.page.evaluate(cut) == 0


@pytest.mark.parametrize(("width", "scheme"), SIZES[::3])
@pytest.mark.parametrize("label", HOSTILE)
def test_hostile_labels_are_text(watch: Any, tmp_path: Path, label: str, width: int, scheme: str) -> None:
    card = made_up().card()
    card["channel"]["output"]["Y"][0] = label or "(empty)"
    card["released"] = [label or " "]
    (tmp_path / "hostile.html").write_text(public_statement(card | {"title": label}), "utf-8")
    watched = watch((tmp_path / "hostile.html").as_uri(), width, scheme)
    assert watched.faults() == {}
    assert watched.page.query_selector("img") is None
