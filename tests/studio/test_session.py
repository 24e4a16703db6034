"""The session behind the page: choices, points of the curve, and a release that is written whole or not at all."""

import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dalenius.api import load
from dalenius.cli import main
from dalenius.core import Guess
from dalenius.errors import InputError
from dalenius.ledger import Ledger
from dalenius.mechanisms import registry
from dalenius.starting import PYTHON, Spoken
from dalenius.studio import session as sessions
from dalenius.studio import work
from dalenius.studio.choices import Choices
from dalenius.studio.phrasing import PAGE
from dalenius.studio.session import Session
from tests.studio.conftest import Beginning, write_table


def released_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.long
@pytest.mark.parametrize(
    ("promise", "level", "axis"),
    [
        ("reveal", "0.01", "Bits revealed about vote"),
        ("guess", "60%", "Right guesses of vote, of 1,000"),
        ("nothing", "", "Bits revealed about vote"),
        ("deny", "3", "Times likelier, at most"),
    ],
)
def test_a_curve_is_solved_for_every_promise(begin: Beginning, promise: str, level: str, axis: str) -> None:
    session = begin(promise, level)
    assert session.curved
    session.solve()
    state = session.state()
    trade = state["trade"]
    assert (trade["state"], trade["error"], trade["axis"]["up"]) == ("done", "", axis)
    assert len(trade["points"]) == trade["total"] == trade["tried"]
    # More change buys more privacy: along the curve what is promised never gets weaker.
    heights = [point["y"] for point in trade["points"]]
    assert heights == sorted(heights, reverse=True)
    assert [point["level"] for point in trade["points"]][trade["chosen"]] == (
        str(session.choices.wish().level) if level else ""
    )
    here = trade["points"][trade["chosen"]]
    assert "vote" in here["title"] or promise == "deny"
    first = "An entry is at most" if promise == "deny" else "A row reveals"
    assert next(fact["term"] for fact in here["facts"]) == first
    assert {fact["term"] for fact in here["facts"]} > {"Rows changed"}
    assert len(here["examples"]) == 8
    assert here["columns"][0]["name"] == "way"


@pytest.mark.long
def test_the_ends_of_a_curve_change_nothing_and_reveal_nothing(begin: Beginning) -> None:
    session = begin()
    session.solve()
    first, last = session.trade["points"][0], session.trade["points"][-1]
    assert (first["x"], first["changed"], first["columns"][0]["note"]) == (0, "none", "not changed")
    assert last["y"] == 0
    assert last["title"] == "A row reveals nothing about vote"
    assert last["columns"][0]["note"].startswith("changed in ")
    assert {fact["term"]: fact["value"] for fact in last["facts"]}["Worst row"] == "1 ×"
    session.pick(0)
    assert session.state()["release"]["losses"] == []
    assert f'"{first["level"]}"' in session.text() or str(float(Fraction(first["level"]))) in session.text()
    with pytest.raises(InputError, match="no such point"):
        session.pick(len(session.trade["points"]))


@pytest.mark.long
def test_a_release_is_what_its_commands_would_write(begin: Beginning, tmp_path: Path, table: Path) -> None:
    session = begin(title="Votes", owner="The office")
    session.solve()
    session.release("one", accepted=True)
    state = session.state()["release"]
    assert (state["state"], state["error"]) == ("done", "")
    assert released_files(tmp_path) == ["one", "one.key", "one.toml"]
    assert state["found"]["rows"] == 400
    assert state["found"]["files"] == released_files(tmp_path / "one")
    design = load(tmp_path / "one" / "design.json")
    assert design.fingerprint() == state["found"]["fingerprint"]
    text = session.statement()
    assert text is not None
    assert "Votes" in text
    init = shlex.split(session.command("two").splitlines()[0])[1:]
    init[init.index("-o") + 1] = str(tmp_path / "two.toml")
    init[1] = str(table)
    assert main(init) == 0
    written = (tmp_path / "two.toml").read_text()
    assert written.splitlines()[-3:] == (tmp_path / "one.toml").read_text().splitlines()[-3:]
    (tmp_path / "one" / "statement.html").unlink()
    assert session.statement() is None


@pytest.mark.long
def test_a_release_is_charged_to_the_ledger_that_was_chosen(begin: Beginning, tmp_path: Path) -> None:
    book = tmp_path / "all.ledger"
    assert main(["ledger", "init", str(book), "--budget", "leakage:vote=1"]) == 0
    session = begin(ledger="all.ledger")
    assert session.state()["ledgers"] == ["all.ledger"]
    assert "--ledger all.ledger" in session.command("one")
    session.release("one", accepted=True)
    assert (session.releasing["state"], session.releasing["error"]) == ("done", "")
    (entry,) = Ledger(book).entries()
    assert entry.state == "released"
    session.choose(Choices(session.choices.roles, "reveal", "0.01", ledger="none.ledger"))
    with pytest.raises(InputError, match="There is no ledger none"):
        session.release("two", accepted=True)


def test_what_is_in_the_way_of_a_release_is_refused_before_it_begins(begin: Beginning, tmp_path: Path) -> None:
    session = begin()
    with pytest.raises(InputError, match="Accept what is lost first"):
        session.release("one", accepted=False)
    for name in ("../one", "", "a/b", "-x", "x" * 65):
        with pytest.raises(InputError, match="A name has a to z"):
            session.release(name, accepted=True)
    (tmp_path / "one.key").symlink_to("nowhere")
    with pytest.raises(InputError, match=r"one\.key exists already"):
        session.release("one", accepted=True)
    assert released_files(tmp_path) == ["one.key"]
    assert session.statement() is None


def half_written(send: Any, text: str, file: str, staging: str, name: str, ledger: str | None) -> None:
    Path(staging).mkdir()
    (Path(staging) / "half").write_text("half")


def meanwhile(send: Any, text: str, file: str, staging: str, name: str, ledger: str | None) -> None:
    """Somebody else writes under the same name while the release is drawn."""
    work.release_table(send, text, file, staging, name, ledger)
    Path(file).write_text("of somebody else")


@pytest.mark.long
@pytest.mark.parametrize(
    ("job", "said"),
    [(half_written, "The work ended before it was done."), (meanwhile, "one.toml was made meanwhile by somebody else")],
)
def test_a_release_that_does_not_end_well_leaves_nothing(
    begin: Beginning, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: Any, said: str
) -> None:
    monkeypatch.setattr(sessions, "release_table", job)
    session = begin()
    session.release("one", accepted=True)
    assert session.releasing["state"] == "refused"
    assert said in session.releasing["error"]
    assert released_files(tmp_path) in ([], ["one.toml"])


@pytest.mark.long
def test_a_point_that_is_said_twice_keeps_the_release_of_it(begin: Beginning, monkeypatch: pytest.MonkeyPatch) -> None:
    session = begin()
    session.solve()

    def said_again(send: Any, *arguments: Any) -> None:
        session.pick(session.trade["chosen"])
        with pytest.raises(InputError, match="is being released"):
            session.pick(session.trade["chosen"] - 1)
        work.release_table(send, *arguments)

    session.pick(len(session.trade["points"]) - 1)
    monkeypatch.setattr(sessions, "release_table", said_again)
    session.release("one", accepted=True)
    assert (session.releasing["state"], session.releasing["error"]) == ("done", "")


@pytest.mark.parametrize("ending", ["choose", "solve", "cancel"])
def test_whatever_ends_a_release_removes_what_it_had_written(begin: Beginning, tmp_path: Path, ending: str) -> None:
    session, _ = waiting(begin)
    session.release("one", accepted=True)
    staging = Path(session.releasing["staging"])
    half_written(None, "", "", str(staging), "one", None)
    if ending == "choose":
        session.choose(Choices(session.choices.roles, "reveal", "0.02"))
    else:
        getattr(session, ending)()
    assert session.releasing["state"] != "running"
    assert not staging.exists()


@pytest.mark.long
def test_a_table_that_is_gone_is_a_refusal_and_no_end(begin: Beginning, tmp_path: Path, table: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_bytes(table.read_bytes())
    session = begin(path=other)
    other.unlink()
    session.solve()
    assert session.trade["state"] == "failed"
    assert "other.csv" in session.trade["error"]
    session.release("one", accepted=True)
    assert session.releasing["state"] == "refused"
    assert "other.csv" in session.releasing["error"]
    assert released_files(tmp_path) == []


@pytest.mark.long
def test_points_that_cannot_be_solved_are_said_and_skipped(begin: Beginning, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: Any, **options: Any) -> Any:
        raise InputError("not today")

    monkeypatch.setattr(work, "solve", never)
    session = begin()
    session.solve()
    assert (session.trade["state"], session.trade["error"]) == ("failed", "not today")
    assert session.trade["tried"] == session.trade["total"] > 1


class Waiting:
    """Jobs that never end by themselves."""

    cancelled = 0

    def start(self, work: Any, arguments: Any, on_message: Any) -> None:
        self.on_message = on_message

    def cancel(self) -> bool:
        self.cancelled += 1
        return True


def waiting(begin: Beginning, **choices: Any) -> tuple[Session, Waiting]:
    session = begin(**choices)
    jobs = Waiting()
    session.jobs = jobs  # type: ignore[assignment]
    return session, jobs


@pytest.mark.long
def test_what_runs_says_how_long_and_can_be_cancelled(begin: Beginning) -> None:
    solved = begin()
    solved.solve()
    session, jobs = waiting(begin)
    session.solve()
    assert session.state()["trade"]["left"].startswith("The first point takes about ")
    jobs.on_message({"levels": 10})
    jobs.on_message({"point": solved.trade["points"][2]})
    jobs.on_message({"point": solved.trade["points"][0]})
    assert session.trade["chosen"] == 1  # still the point that came first
    assert session.state()["trade"]["left"].endswith(" left.")
    session.cancel()
    assert (session.trade["state"], len(session.trade["points"])) == ("done", 2)
    session.solve()
    session.cancel()
    assert session.trade["state"] == "none"
    session.solve()
    jobs.on_message({"point": solved.trade["points"][0]})
    session.release("one", accepted=True)  # one job at a time: the points that are solved stay
    assert session.trade["state"] == "done"
    jobs.on_message({"stage": "drawing", "done": None, "total": None})
    assert session.releasing["stage"] == "Drawing"
    jobs.on_message({"stage": "drawing", "done": 1000, "total": None})
    assert session.releasing["stage"] == "Drawing: 1,000 rows"
    jobs.on_message({"stage": "drawing", "done": 1000, "total": 4000})
    assert session.releasing["stage"] == "Drawing: 1,000 of 4,000 rows"
    session.cancel()
    assert session.releasing == {"state": "none", "error": ""}
    assert jobs.cancelled == 3


def test_whoever_cancels_a_charged_release_is_told_to_look(begin: Beginning, tmp_path: Path) -> None:
    assert main(["ledger", "init", str(tmp_path / "all.ledger"), "--budget", "leakage:vote=1"]) == 0
    session, _ = waiting(begin, ledger="all.ledger")
    session.release("one", accepted=True)
    session.cancel()
    assert session.releasing["state"] == "refused"
    assert "dalenius ledger status all.ledger" in session.releasing["error"]


@pytest.mark.long
def test_other_choices_forget_what_was_solved_and_other_words_do_not(begin: Beginning) -> None:
    session = begin()
    session.solve()
    solved = session.trade
    roles = session.choices.roles
    session.choose(Choices(roles, "reveal", "0.01", title="Votes", owner="The office", ledger="x.ledger"))
    assert session.trade is solved
    session.choose(Choices(roles, "reveal", "0.02"))
    assert session.trade["state"] == "none"
    session.choose(Choices(roles, "reveal", "many"))
    assert "is not a number" in session.error
    for refused in (session.solve, session.text, lambda: session.merge("way", 0, 1)):
        with pytest.raises(InputError, match="is not a number"):
            refused()
    state = session.state()
    assert state["problem"]["error"] == session.error
    assert (state["release"]["toml"], state["trade"]["left"], session.curved) == ("", "", False)


@pytest.mark.parametrize(
    ("roles", "promise", "said"),
    [
        ({"vote": "out"}, "reveal", "must stay secret"),
        ({"way": "out"}, "reveal", "at least one column to release"),
        ({}, "everything", "Choose a promise"),
    ],
)
def test_choices_that_say_too_little_are_refused(
    begin: Beginning, roles: dict[str, str], promise: str, said: str
) -> None:
    wanted = {"vote": "protect", "way": "release", "age": "out"} | roles
    with pytest.raises(InputError, match=said):
        Choices(wanted, promise, "0.01").wish()


@pytest.mark.long
def test_groups_are_merged_by_hand_and_set_back(begin: Beginning, tmp_path: Path) -> None:
    path = tmp_path / "towns.csv"
    lines = [f"{'yes' if n % 3 else 'no'},{'abcd'[n % 4]},{n % 50}" for n in range(600)]
    path.write_text("vote,town,years\n" + "\n".join(lines) + "\n")
    session = Session(path, tmp_path)
    roles = {"vote": "protect", "town": "release", "years": "release"}
    session.choose(Choices(roles, "reveal", "0.01", cuts={"years": "10, 20, 30"}, times="5"))
    shown = {column["key"]: column for column in session.state()["table"]["columns"]}
    assert shown["years"]["by_hand"]
    assert len(shown["years"]["groups"]) == 4
    session.merge("years", 1, 2)
    assert session.choices.cuts == {"years": "10, 30"}
    with pytest.raises(InputError, match="neighbouring ranges"):
        session.merge("years", 0, 2)
    with pytest.raises(InputError, match="two different groups"):
        session.merge("town", 0, 0)
    session.merge("town", 0, 3)
    assert session.choices.named is not None
    assert sorted(map(len, session.choices.named["town"].values())) == [1, 1, 2]
    with pytest.raises(InputError, match="Only released and protected columns"):
        session.merge("nothing", 0, 1)
    session.choose(session.choices.as_suggested("town"))
    assert session.choices.named == {}


@pytest.mark.long
def test_a_wide_table_opens_with_a_few_columns(tmp_path: Path) -> None:
    names = [f"c{k}" for k in range(8)]
    lines = [",".join(str(n // (k + 1) % 3) for k in range(8)) + f",{'ill' if n % 5 else 'well'}" for n in range(300)]
    path = tmp_path / "wide.csv"
    path.write_text(",".join([*names, "health"]) + "\n" + "\n".join(lines) + "\n")
    session = Session(path, tmp_path)
    assert session.choices.roles["health"] == "protect"
    assert 1 < [*session.choices.roles.values()].count("release") <= sessions.AT_FIRST
    assert session.curved
    path.write_text(",".join([*names, "other"]) + "\n" + "\n".join(lines) + "\n")
    unknown = Session(path, tmp_path)
    assert "protect" not in unknown.choices.roles.values()
    assert "must stay secret" in unknown.error
    assert [*unknown.choices.roles.values()].count("release") == sessions.AT_FIRST


def test_the_page_offers_the_promises_that_mechanisms_declare(
    begin: Beginning, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = begin()
    assert [promise["key"] for promise in session.state()["promises"]] == ["guess", "reveal", "nothing", "deny"]
    others = [known for known in registry.mechanisms() if all(one.kind is not Guess for one in known.promises)]
    monkeypatch.setattr(registry, "_MECHANISMS", others)
    left = [promise["key"] for promise in session.state()["promises"]]
    assert "guess" not in left
    assert "reveal" in left


def test_no_flag_of_the_command_line_is_named_on_the_page(begin: Beginning, tmp_path: Path) -> None:
    """ "Take it out of --keep and into --release" stood on a page that has neither."""
    write_table(tmp_path / "many.csv", rows=4000)
    said = begin("reveal", "0.0000001", path=tmp_path / "many.csv", roles={"age": "keep"}).error
    assert "age alone, released as it is, reveals" in said
    assert "Choose “release” for it instead of “release as it is”, or promise at most 0." in said
    assert "--" not in said


@pytest.mark.parametrize("spoken", [PAGE, PYTHON])
def test_only_a_command_has_flags(spoken: Spoken) -> None:
    words = [*vars(spoken).values(), *spoken.promises.values()]
    assert [word for word in words if isinstance(word, str) and "--" in word] == []
