"""The studio behind its page: one table, what was chosen so far, what was solved, and the release of it."""

import os
import re
import secrets
import shlex
import shutil
import threading
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dalenius.errors import DaleniusError, InputError
from dalenius.starting import DENSE, RECORDS, Draft, Wish, as_written, draft, few_columns, flags_of, look_at, roles
from dalenius.starting.columns import with_gaps
from dalenius.studio.choices import LEVELS, Choices
from dalenius.studio.jobs import Jobs
from dalenius.studio.phrasing import PAGE
from dalenius.studio.showing import shown_state
from dalenius.studio.work import at_level, release_table, solve_points
from dalenius.tables import open_table
from dalenius.tables.profile import profile

__all__ = ["Session"]

AT_FIRST = 4  # columns of a wide table that are released unless somebody says more
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

Json = dict[str, Any]


class Session:
    """The studio behind its page.

    Parameters
    ----------
    path : Path
        The table.
    folder : Path
        Where releases are written; problem files name the table from there.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self.folder = folder
        self.path = path
        self.jobs = Jobs()
        self.version = 0
        self.lock = threading.RLock()
        self.table = as_written(open_table(path))
        found = profile(self.table)
        self.table = with_gaps(self.table, found)
        self.left_out, sensitive = roles(self.table, PAGE, found=found)
        self.looks = look_at(self.table, [name for name in self.table.names if name not in self.left_out])
        self.rows = next(iter(self.looks.values())).rows
        usable = [name for name in self.table.names if name not in self.left_out and name != sensitive]
        released = usable if len(usable) <= AT_FIRST + 2 else self._at_first(usable, sensitive)
        first = dict.fromkeys(self.table.names, "out") | dict.fromkeys(released, "release")
        if sensitive:
            first[sensitive] = "protect"
        self.choices = Choices(first, "reveal", LEVELS["reveal"])
        self.draft: Draft | None = None
        self.error = ""
        self.trade: Json = {"state": "none", "points": [], "chosen": 0, "total": 0, "tried": 0, "error": ""}
        self.releasing: Json = {"state": "none", "error": ""}
        self.choose(self.choices)

    def _at_first(self, usable: list[str], sensitive: str | None) -> list[str]:
        """A few columns of a wide table that have one recipe together, so that the first picture comes in seconds."""
        if sensitive is None:
            return usable[:AT_FIRST]
        wish = Wish(((sensitive,),), tuple(usable), "reveal", Fraction(LEVELS["reveal"]))
        return few_columns(self.looks, wish, most=AT_FIRST) or usable[:AT_FIRST]

    # --- choosing -----------------------------------------------------------------------------------------------------
    def choose(self, choices: Choices) -> None:
        """Take new choices; what was solved for others is forgotten."""
        with self.lock:
            if self.draft is None or not choices.same_problem(self.choices):
                self.jobs.cancel()
                self.trade = {"state": "none", "points": [], "chosen": 0, "total": 0, "tried": 0, "error": ""}
                self._forget_release()
            self.choices = choices
            self.draft = None
            self.error = ""
            try:
                self.draft = draft(self.table, choices.wish(), path=self.table_path(), left_out=self.left_out)
            except DaleniusError as e:
                self.error = str(e)
            self._changed()

    def merge(self, column: str, one: int, other: int) -> None:
        """Make two groups of a column one, by hand."""
        with self.lock:
            if self.draft is None:
                raise InputError(self.error)
            drafted = (*self.draft.released, *self.draft.secrets)
            groups = next((g for g in drafted if g.look.name == column), None)
            if groups is None:
                raise InputError("Only released and protected columns have groups.", do="Choose one of these.")
            self.choose(self.choices.merged(groups, one, other))

    def ledgers(self) -> list[str]:
        """The ledgers beside the releases, by their names."""
        return sorted(file.name for file in self.folder.glob("*.ledger") if file.is_file() and not file.is_symlink())

    def table_path(self) -> str:
        """The table as a problem file in the folder names it, and as `init` writes it there."""
        return os.path.relpath(self.path, self.folder)

    def _changed(self) -> None:
        self.version += 1

    @property
    def _wish(self) -> Wish:
        """The wish at the chosen point."""
        if self.draft is None:
            raise InputError(self.error or "Choose what to release first.")
        points = self.trade["points"]
        if not points:
            return self.draft.wish
        level = points[self.trade["chosen"]]["level"]
        return replace(self.draft.wish, level=Fraction(level) if level else None)

    def text(self) -> str:
        """The problem file at the chosen point."""
        wish = self._wish
        assert self.draft is not None
        return at_level(self.draft.text, self.draft.wish, wish.level)

    def command(self, name: str) -> str:
        """What writes the same problem file, and releases it, on a command line."""
        arguments = flags_of(self._wish, self.table_path())
        charged = ["--ledger", self.choices.ledger] if self.choices.ledger else []
        lines = [
            shlex.join(["dalenius", "init", *arguments, "-o", f"{name}.toml"]),
            shlex.join(["dalenius", "release", f"{name}.toml", "-o", name, "--new-key", f"{name}.key", *charged]),
        ]
        return "\n".join(lines)

    @property
    def curved(self) -> bool:
        """Whether there is a curve: one recipe for all columns, or whole records under a limit of bits."""
        if self.draft is None:
            return False
        return self.draft.form == DENSE or (
            self.draft.form == RECORDS and self.choices.promise in ("reveal", "nothing")
        )

    # --- jobs ---------------------------------------------------------------------------------------------------------
    def solve(self) -> None:
        """Begin to solve the points of the trade-off."""
        with self.lock:
            if self.draft is None:
                raise InputError(self.error)
            if not self.curved:
                raise InputError(
                    f"{self.draft.because} There is no curve to choose from; the level is the one that you wrote.",
                    do="Go on to Release.",
                )
            self.trade = {"state": "running", "points": [], "chosen": 0, "total": 0, "tried": 0, "error": ""}
            self._forget_release()
            file = str(self.folder / "problem.toml")
            self.jobs.start(solve_points, (self.draft.text, file, self.draft.wish), self._heard_of_points)
            self._changed()

    def _heard_of_points(self, message: Json) -> None:
        with self.lock:
            trade = self.trade
            trade["tried"] += "point" in message or "skipped" in message
            if "levels" in message:
                trade["total"] = message["levels"]
            elif "point" in message:
                chosen = trade["points"][trade["chosen"]] if trade["points"] else message["point"]
                trade["points"] = sorted([*trade["points"], message["point"]], key=lambda point: point["x"])
                trade["chosen"] = trade["points"].index(chosen)
            elif "skipped" in message:
                trade["error"] = message["skipped"]
            elif "failed" in message:
                trade |= {"state": "failed", "error": message["failed"]}
            elif "ended" in message and trade["state"] == "running":
                fine = message["ended"] and trade["points"]
                trade["state"] = "done" if fine else "failed"
                trade["error"] = trade["error"] or ("" if fine else "The work ended before it was done.")
            self._changed()

    def pick(self, index: int) -> None:
        """Choose one of the solved points."""
        with self.lock:
            if not 0 <= index < len(self.trade["points"]):
                raise InputError("There is no such point.", do="Choose a point of the curve.")
            if self.releasing["state"] == "running":
                if index == self.trade["chosen"]:  # said twice, and the release of it has begun
                    return
                raise InputError("The point that you chose is being released.", do="Wait for it, or cancel it.")
            self.trade["chosen"] = index
            self._forget_release()
            self._changed()

    def losses(self) -> list[str]:
        """What has to be accepted before a release, one sentence each."""
        points = self.trade["points"]
        if not points:
            return ["Losses are not known before this release. The statement names them: read it before you publish."]
        here = points[self.trade["chosen"]]
        found = [
            f"{loss['name']} falls from {loss['before']} to about {loss['after']} rows." for loss in here["losses"]
        ]
        return [*found, *([here["vanished"]] if here["vanished"] else [])]

    def release(self, name: str, accepted: bool) -> None:
        """Begin a release into a new folder of this name, after its losses were accepted."""
        with self.lock:
            text = self.text()
            if self.losses() and not accepted:
                raise InputError("Accept what is lost first.", do="Tick the box below the losses.")
            ledger = self.choices.ledger
            if ledger and ledger not in self.ledgers():
                raise InputError(
                    f"There is no ledger {ledger} in this folder.",
                    do="Write the name of a file in the folder where the studio was started.",
                )
            if not NAME.fullmatch(name):
                raise InputError(
                    "A name has a to z, digits, - and _ alone, and at most 64 of them.", do="Choose another name."
                )
            for place in (self.folder / name, self.folder / f"{name}.toml", self.folder / f"{name}.key"):
                if place.exists() or place.is_symlink():
                    raise InputError(f"{place.name} exists already. Choose another name.")
            if self.trade["state"] == "running":  # one job at a time: the points that are solved stay
                self.trade["state"] = "done"
            staging = self.folder / f".{name}.studio-{secrets.token_hex(4)}"
            self.releasing = {
                "state": "running",
                "error": "",
                "stage": "Starting",
                "name": name,
                "staging": str(staging),
            }
            book = str(self.folder / ledger) if ledger else None
            arguments = (text, str(self.folder / f"{name}.toml"), str(staging), name, book)
            self.jobs.start(release_table, arguments, self._heard_of_release)
            self._changed()

    def _forget_release(self) -> None:
        """Nothing is released; a release that runs is ended, and what it had written by then is removed."""
        if self.releasing["state"] == "running":
            self.jobs.cancel()
            shutil.rmtree(self.releasing["staging"], ignore_errors=True)
        self.releasing = {"state": "none", "error": ""}

    def _heard_of_release(self, message: Json) -> None:
        with self.lock:
            state = self.releasing
            if "stage" in message:
                done, total = message["done"], message["total"]
                count = f": {done:,} of {total:,} rows" if done and total else f": {done:,} rows" if done else ""
                state["stage"] = f"{message['stage'][:1].upper()}{message['stage'][1:]}{count}"
            elif "released" in message:
                state["found"] = message["released"]
            elif "failed" in message:
                state |= {"state": "refused", "error": message["failed"]}
            elif "ended" in message:
                self._end_release()
            self._changed()

    def _end_release(self) -> None:
        """Move what was written to its place, all of it, or remove it."""
        state = self.releasing
        staging, name = Path(state["staging"]), state["name"]
        try:
            if "found" in state and state["state"] == "running":
                for written in (f"{name}.toml", f"{name}.key", name):
                    if (self.folder / written).exists():
                        raise InputError(
                            f"{written} was made meanwhile by somebody else. Nothing was written.",
                            do="Choose another name.",
                        )
                for written in (f"{name}.toml", f"{name}.key", name):
                    (staging / written).rename(self.folder / written)
                state["state"] = "done"
            elif state["state"] == "running":
                state |= {"state": "refused", "error": "The work ended before it was done."}
        except (OSError, InputError) as e:
            state |= {"state": "refused", "error": str(e)}
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def statement(self) -> str | None:
        """The statement of the release that was just made; None if there is none."""
        with self.lock:
            if self.releasing["state"] != "done":
                return None
            place = self.folder / self.releasing["name"] / "statement.html"
        return None if place.is_symlink() or not place.is_file() else place.read_text(encoding="utf-8")

    def cancel(self) -> None:
        """End the job that runs; a release that is cancelled leaves nothing behind."""
        with self.lock:
            if self.releasing["state"] == "running":
                self._forget_release()
                if ledger := self.choices.ledger:
                    said = f"Cancelled. dalenius ledger status {ledger} shows whether it counts this release as begun."
                    self.releasing = {"state": "refused", "error": said}
            else:
                self.jobs.cancel()
            if self.trade["state"] == "running":
                self.trade["state"] = "done" if self.trade["points"] else "none"
            self._changed()

    def state(self) -> Json:
        """Everything that the page shows, in words."""
        with self.lock:
            return shown_state(self)
