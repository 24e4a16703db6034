"""The studio as people use it: with a mouse, with keys alone, on a phone, and until the release is written."""

import json
import shlex
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

from dalenius.api import load, solve
from dalenius.cli import main
from dalenius.core import Problem
from tests.browser.conftest import PATIENCE, SIZES, Watched, quickly
from tests.browser.studios import Running, running

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect

STEPS = ("data", "roles", "promise", "trade", "release")


class Visit:
    """A studio and the page of somebody who was let in."""

    def __init__(self, studio: Running, watch: Any) -> None:
        self.studio = studio
        self.watched: Watched = watch(studio.address)
        self.page = self.watched.page
        self.page.wait_for_selector("#main table")

    def go(self, step: str) -> None:
        self.page.goto(f"{self.studio.base}/#{step}")
        self.page.wait_for_selector(f".steps a[href='#{step}'][aria-current]")

    def state(self) -> dict[str, Any]:
        return self.page.evaluate("fetch('/api/state').then(answer => answer.json())")

    def send(self, address: str, **given: Any) -> dict[str, Any]:
        """What the page sends, without the page."""
        return self.page.evaluate(
            """([address, given]) =>
              fetch(address, {method: "POST", body: JSON.stringify(given)}).then(answer => answer.json())""",
            [address, given],
        )

    def until(self, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for a state of the server; requests of the page may still be on their way."""
        ends = time.monotonic() + PATIENCE / 1000
        while not true(state := self.state()):
            assert time.monotonic() < ends, state
            time.sleep(0.05)
        return state

    def asks_to_accept(self) -> bool:
        """Whether losses have to be accepted, once the page shows what the server knows."""
        lost = bool(self.state()["release"]["losses"])
        expect(self.page.locator("#accept")).to_be_visible(visible=lost)
        return lost

    def takes(self, **choices: str) -> None:
        """Wait until the server has these choices."""
        self.until(lambda state: all(state["choices"][key] == value for key, value in choices.items()))

    def solved(self) -> dict[str, Any]:
        """Wait for the whole curve."""
        self.go("trade")
        self.page.get_by_text("points are solved and proved").wait_for(timeout=PATIENCE)
        return self.until(lambda state: state["trade"]["state"] == "done")["trade"]


@pytest.fixture
def visit(demo: Path, tmp_path: Path, watch: Any) -> Iterator[Visit]:
    with running(demo / "rand.csv", tmp_path) as studio:
        yield Visit(studio, watch)


def test_every_state_has_no_fault(visit: Visit) -> None:
    page = visit.page
    visit.solved()
    faults = {}

    def look(name: str) -> None:
        for width, scheme in SIZES:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(50)
            if found := visit.watched.faults():
                faults[name, width, scheme] = found

    for step in STEPS:
        visit.go(step)
        look(step)
    page.fill("#name", "x/y")
    page.click("#next")
    page.get_by_text("A name has a to z").wait_for()
    look("release refused")
    visit.go("promise")
    page.fill("#level-reveal", "many")
    page.press("#level-reveal", "Tab")
    page.get_by_text("is not a number").wait_for()
    expect(page.locator("#next")).to_be_disabled()
    look("promise refused")
    page.fill("#level-reveal", "0.02")
    page.press("#level-reveal", "Tab")
    page.get_by_text("is not a number").wait_for(state="hidden")
    visit.go("roles")
    page.locator("fieldset", has_text="health").get_by_text("leave out").click()
    page.get_by_text("Choose the column that must stay secret").wait_for()
    expect(page.locator("#next")).to_be_disabled()
    look("roles refused")
    assert faults == {}
    origins = {
        "/".join(address.split("/")[:3]) for address in visit.watched.requests if not address.startswith("data:")
    }
    assert origins == {visit.studio.base}


def test_the_first_page_comes_at_once(demo: Path, tmp_path: Path, watch: Any) -> None:
    with running(demo / "rand.csv", tmp_path) as studio:
        began = time.monotonic()
        Visit(studio, watch)
        assert time.monotonic() - began < quickly(2)


def press_until(page: Any, key: str, wanted: str, most: int = 60) -> None:
    """Press a key until the element with this id has the focus."""
    for _ in range(most):
        if page.evaluate("document.activeElement.id") == wanted:
            return
        page.keyboard.press(key)
    raise AssertionError(f"#{wanted} was not reached")


def test_the_whole_walk_with_keys_alone(visit: Visit) -> None:
    page = visit.page
    page.keyboard.press("Tab")
    for number, step in enumerate(STEPS[1:], 2):
        press_until(page, "Tab", "next")
        page.keyboard.press("Enter")
        page.wait_for_selector(f".steps a[href='#{step}'][aria-current]")
        expect(page.locator("h1")).to_be_focused()
        expect(page.locator("#live")).to_contain_text(f"Step {number} of 5")
        if step == "trade":
            page.get_by_text("points are solved and proved").wait_for(timeout=PATIENCE)
            press_until(page, "Tab", "slide")
            before = page.inner_text("#kpi")
            page.keyboard.press("ArrowRight")
            expect(page.locator("#kpi")).not_to_have_text(before, use_inner_text=True)
            visit.until(lambda state: state["trade"]["chosen"] > 0)
    if visit.asks_to_accept():
        press_until(page, "Tab", "accept")
        page.keyboard.press("Space")
    press_until(page, "Tab", "next")
    page.keyboard.press("Enter")
    page.wait_for_selector("#fingerprint", timeout=PATIENCE)
    expect(page.locator("#live")).to_have_text("Released")
    assert {place.name for place in visit.studio.folder.iterdir()} == {"release", "release.key", "release.toml"}


def test_dragging_and_keys_give_the_proved_numbers(visit: Visit) -> None:
    page = visit.page
    trade = visit.solved()
    points = trade["points"]
    assert [p["x"] for p in points] == sorted(p["x"] for p in points)
    assert all(a["y"] >= b["y"] for a, b in pairwise(points))
    page.focus("#slide")
    page.keyboard.press("Home")
    seen = []
    for _ in points:
        seen.append((page.inner_text("#title"), page.inner_text("#kpi"), int(page.input_value("#slide"))))
        page.keyboard.press("ArrowRight")
    assert [title for title, _, _ in seen] == [f"{p['title']}." for p in points]
    assert [place for _, _, place in seen] == sorted(place for _, _, place in seen)  # as the axis goes
    box = page.locator("#main .curve").bounding_box()
    for k in (2, 7):
        left, right = 66 / 640, 1 - 18 / 640
        last = seen[-1][2] / 1000
        x = box["x"] + box["width"] * (left + (right - left) * seen[k][2] / 1000 / max(last, 1e-9) * last)
        page.mouse.move(x + 4, box["y"] + 60)
        page.mouse.down()
        page.mouse.move(x, box["y"] + 60, steps=5)
        page.mouse.up()
        assert (page.inner_text("#title"), page.inner_text("#kpi")) == seen[k][:2]
        state = visit.until(lambda state, k=k: state["trade"]["chosen"] == k)
        (visit.studio.folder / "here.toml").write_text(state["release"]["toml"])
        design = solve(Problem.from_file(visit.studio.folder / "here.toml"))
        assert float(100 * design.value) == pytest.approx(points[k]["x"], abs=1e-9)
        (visit.studio.folder / "here.toml").unlink()


def test_an_answer_to_an_earlier_move_does_not_take_back_a_later_one(visit: Visit) -> None:
    page = visit.page
    points = visit.solved()["points"]
    held: list[Any] = []
    page.route("**/api/point", lambda route: held.append(route))
    page.focus("#slide")
    for key, moves in (("End", 1), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        while len(held) < moves:
            page.wait_for_timeout(20)
    before_last = f"{points[-2]['title']}."
    with page.expect_response("**/api/point") as answered:
        held[0].continue_()
    answered.value.finished()
    page.wait_for_timeout(100)  # long enough for the page to take the answer in
    assert page.inner_text("#title") == before_last
    held[1].continue_()
    visit.until(lambda state: state["trade"]["chosen"] == len(points) - 2)
    assert page.inner_text("#title") == before_last


def test_a_move_along_the_curve_takes_a_moment(visit: Visit) -> None:
    visit.solved()
    took = visit.page.evaluate(
        """() => {
          const slide = document.getElementById("slide");
          const began = performance.now();
          for (let k = 0; k < 50; k += 1) {
            slide.value = (k * 20) % 1000;
            slide.dispatchEvent(new Event("input"));
          }
          return (performance.now() - began) / 50;
        }"""
    )
    assert took < 1000 * quickly(0.05)


def test_losses_are_accepted_before_a_release(visit: Visit) -> None:
    page = visit.page
    visit.go("promise")
    page.select_option("#keeping", "0")
    visit.takes(keep_rows="0")
    visit.solved()
    expect(page.get_by_text("Lost for analysis")).to_be_visible()
    visit.go("release")
    expect(page.get_by_text("falls from 3,200")).to_be_visible()
    expect(page.locator("#next")).to_be_disabled()
    refused = visit.send("/api/release", name="release", accepted=False)
    assert refused == {"error": "Accept what is lost first. Tick the box below the losses."}
    page.check("#accept")
    expect(page.locator("#next")).to_be_enabled()
    page.uncheck("#accept")
    expect(page.locator("#next")).to_be_disabled()
    assert list(visit.studio.folder.iterdir()) == []


def test_a_cancelled_release_leaves_no_file_and_a_reload_keeps_the_state(visit: Visit) -> None:
    page = visit.page
    visit.go("promise")
    page.fill("#level-reveal", "0.02")
    page.press("#level-reveal", "Tab")
    visit.takes(level="0.02")
    last = len(visit.solved()["points"]) - 1
    page.focus("#slide")
    page.keyboard.press("End")
    chosen = visit.until(lambda state: state["trade"]["chosen"] == last)["trade"]["chosen"]
    page.reload()
    page.wait_for_selector("#kpi b")
    state = visit.state()
    assert state["trade"]["chosen"] == chosen == len(state["trade"]["points"]) - 1
    assert state["choices"]["level"] == "0.02"
    visit.go("release")
    if visit.asks_to_accept():
        page.check("#accept")
    page.click("#next")
    page.wait_for_selector("#cancel")
    began = time.monotonic()
    page.click("#cancel")
    page.get_by_text("Name of the release").wait_for()
    assert time.monotonic() - began < quickly(1)
    time.sleep(0.5)
    assert list(visit.studio.folder.iterdir()) == []


@pytest.mark.parametrize("keep_rows", ["1", "3/4", "0"])
def test_command_and_problem_file_give_the_same_bytes_and_the_same_design(
    visit: Visit, keep_rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = visit.page
    visit.go("data")
    page.fill("#cuts-2", "1, 3, 7")
    page.press("#cuts-2", "Tab")
    page.get_by_text("7 or more").first.wait_for()
    visit.go("promise")
    page.select_option("#keeping", keep_rows)
    visit.takes(keep_rows=keep_rows)
    chosen = visit.solved()["chosen"]
    page.focus("#slide")
    page.keyboard.press("ArrowLeft")
    visit.until(lambda state: state["trade"]["chosen"] == max(0, chosen - 1))
    visit.go("release")
    page.fill("#title", "Survey of the insured")
    page.press("#title", "Tab")
    visit.takes(title="Survey of the insured")
    expect(page.locator("#toml")).to_contain_text("Survey of the insured")
    toml, command = (page.locator(f"#{name}").text_content() for name in ("toml", "command"))
    if visit.asks_to_accept():
        page.check("#accept")
    page.click("#next")
    page.wait_for_selector("#fingerprint", timeout=PATIENCE)
    folder = visit.studio.folder
    assert (folder / "release.toml").read_text("utf-8") == toml
    again = folder.with_name(f"{folder.name}-again")  # as far from the table as the folder of the studio
    again.mkdir()
    first, second = (shlex.split(line) for line in command.splitlines())
    assert first[:2] == ["dalenius", "init"]
    assert second[:3] == ["dalenius", "release", "release.toml"]
    monkeypatch.chdir(again)
    assert main(first[1:]) == 0
    assert (again / "release.toml").read_bytes() == (folder / "release.toml").read_bytes()
    design = load(folder / "release" / "design.json")
    assert design.fingerprint() == page.inner_text("#fingerprint")
    assert solve(Problem.from_file(again / "release.toml")).fingerprint() == design.fingerprint()
    assert main(["verify", str(folder / "release" / "design.json"), "--problem", str(again / "release.toml")]) == 0


def test_hostile_names_and_values_are_text(tmp_path: Path, watch: Any) -> None:
    evil = ["<img src=x onerror=alert(1)>", "x" * 200, "\u202eright to left", "\U0001f600 \u05e9\u05dc\u05d5\u05dd"]
    rows = 400
    columns = {
        "health": ["good" if k % 3 else evil[0] for k in range(rows)],
        evil[0]: [evil[k % 2] for k in range(rows)],
        evil[1]: [evil[2 + k % 2] for k in range(rows)],
        evil[2]: ["a" if k % 4 else "b" for k in range(rows)],
    }
    pyarrow.csv.write_csv(pa.table(columns), tmp_path / "evil.csv")
    with running(tmp_path / "evil.csv", tmp_path) as studio:
        visit = Visit(studio, watch)
        for width in (1280, 390):
            visit.page.set_viewport_size({"width": width, "height": 900})
            for step in STEPS:
                visit.go(step)
                visit.page.wait_for_timeout(500)
                assert visit.watched.faults() == {}, (step, width)
                assert visit.page.query_selector("#main img") is None


def test_forty_columns_stay_readable(tmp_path: Path, watch: Any) -> None:
    rows = 5000
    columns = {f"question {k}": [str((i * (k + 3)) % (2 + k % 5)) for i in range(rows)] for k in range(39)}
    columns = {"income": ["high" if i % 4 == 0 else "low" for i in range(rows)]} | columns
    pyarrow.csv.write_csv(pa.table(columns), tmp_path / "wide.csv")
    with running(tmp_path / "wide.csv", tmp_path) as studio:
        visit = Visit(studio, watch)
        paint = visit.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        assert paint < 1000 * quickly(1)
        assert len(json.dumps(visit.state())) < 500_000
        assert visit.page.locator("#main tbody tr").count() == 40
        for width in (1280, 390):
            visit.page.set_viewport_size({"width": width, "height": 900})
            for step in ("data", "roles"):
                visit.go(step)
                assert visit.watched.faults() == {}, (step, width)


def test_values_are_merged_by_hand_and_the_command_says_so(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = visit.page
    visit.go("data")
    for column, one, other in ((0, "1", "2"), (2, "0", "1")):
        page.locator(f"details:has(#merge-{column}) > summary").click()
        page.select_option(f"#one-{column}", one)
        page.select_option(f"#other-{column}", other)
        page.click(f"#merge-{column}")
        page.locator(f"#undo-{column}").wait_for()
    assert visit.watched.faults() == {}
    state = visit.state()
    assert list(state["choices"]["named"]) == ["health"]
    assert len(state["table"]["columns"][0]["groups"]) == 2
    visit.go("release")
    toml, command = (page.locator(f"#{name}").text_content() for name in ("toml", "command"))
    monkeypatch.chdir(visit.studio.folder)
    assert main(shlex.split(command.splitlines()[0])[1:]) == 0
    assert (visit.studio.folder / "release.toml").read_text("utf-8") == toml
    visit.go("data")
    page.click("#undo-0")
    visit.until(lambda state: not state["choices"]["named"])
    refused = visit.send("/api/merge", column="illnesses", one=0, other=2)
    assert refused["error"].startswith("Only neighbouring ranges can be merged.")


def test_a_ledger_is_chosen_and_charged(visit: Visit, capsys: pytest.CaptureFixture[str]) -> None:
    page, book = visit.page, visit.studio.folder / "people.ledger"
    assert main(["ledger", "init", str(book), "--budget", "leakage:health=0.01"]) == 0
    page.reload()
    page.wait_for_selector("#main table")
    visit.solved()
    visit.go("release")
    page.select_option("#ledger", "people.ledger")
    visit.takes(ledger="people.ledger")
    assert visit.state()["trade"]["points"]  # what was solved still holds
    expect(page.locator("#command")).to_contain_text("--ledger people.ledger")
    for name, ends in (("first", "#fingerprint"), ("second", ".alert.bad:visible")):
        page.fill("#name", name)
        if visit.asks_to_accept():
            page.check("#accept")
        page.click("#next")
        page.locator(ends).first.wait_for(timeout=PATIENCE)
        if name == "first":
            page.reload()
            visit.send("/api/point", index=0)  # another point: the release that is done is forgotten
            visit.go("release")
            page.locator("#name").wait_for()
    assert "leakage:health" in page.inner_text("#main")
    assert not (visit.studio.folder / "second").exists()


def test_the_statement_opens_apart_from_the_studio(visit: Visit) -> None:
    page = visit.page
    assert visit.page.request.get(f"{visit.studio.base}/statement").status == 404  # nothing is released yet
    visit.solved()
    visit.go("release")
    if visit.asks_to_accept():
        page.check("#accept")
    page.click("#next")
    page.locator("#statement").wait_for(timeout=PATIENCE)
    with page.context.expect_page() as opened:
        page.click("#statement")
    statement = opened.value
    expect(statement.locator("h1")).to_be_visible()
    assert statement.evaluate("window.origin") == "null"  # it has no part in the studio's cookie
    assert statement.evaluate("window.opener") is None
    asked = "fetch('/api/state').then(() => 'answered', () => 'refused')"
    assert statement.evaluate(asked) == "refused"
    expect(statement.locator("#prove")).to_be_visible(timeout=PATIENCE)  # its own scripts run
    statement.click("#prove")
    expect(statement.locator("#prove-said")).to_contain_text("The promise holds: proved again", timeout=PATIENCE)
    assert visit.watched.faults() == {}


def test_a_wide_table_shows_a_first_curve_at_once(tmp_path: Path, watch: Any) -> None:
    rows = 3000
    columns = {f"q{k}": [f"answer {(i * (k + 3) + i // 7) % 12}" for i in range(rows)] for k in range(12)}
    columns |= {"fnlwgt": [str(10_000 + 7 * i) for i in range(rows)]}
    columns = {"income": ["high" if (i // 3) % 4 == 0 else "low" for i in range(rows)]} | columns
    pyarrow.csv.write_csv(pa.table(columns), tmp_path / "wide.csv")
    with running(tmp_path / "wide.csv", tmp_path) as studio:
        visit = Visit(studio, watch)
        state = visit.state()
        assert state["choices"]["roles"]["fnlwgt"] == "out"
        assert sum(role == "release" for role in state["choices"]["roles"].values()) in range(1, 5)
        assert "one recipe" in state["problem"]["because"]
        visit.go("trade")
        seen = visit.until(lambda state: state["trade"]["points"] or state["trade"]["state"] == "failed")["trade"]
        assert seen["points"]
        assert visit.solved()["left"] == ""
        assert visit.watched.faults() == {}


def test_whole_records_have_a_curve(tmp_path: Path, watch: Any) -> None:
    rows = 3000
    columns = {f"q{k}": [str((i * (k + 3) + i // 7) % 3) for i in range(rows)] for k in range(9)}
    columns = {"income": ["high" if (i // 3) % 4 == 0 else "low" for i in range(rows)]} | columns
    pyarrow.csv.write_csv(pa.table(columns), tmp_path / "wide.csv")
    with running(tmp_path / "wide.csv", tmp_path) as studio:
        visit = Visit(studio, watch)
        roles = dict.fromkeys(columns, "release") | {"income": "protect"}
        visit.send("/api/choices", **{**visit.state()["choices"], "roles": roles})
        assert visit.state()["problem"]["curved"]
        points = visit.solved()["points"]
        assert len(points) >= 3
        assert all(point["columns"][0]["values"] for point in points)
        assert visit.watched.faults() == {}
