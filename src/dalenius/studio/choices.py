"""What somebody chose on the page: texts as they were written, and the wish behind them."""

from collections.abc import Mapping
from dataclasses import dataclass

from dalenius.core.numbers import exact
from dalenius.errors import InputError
from dalenius.starting import PROMISES, Wish, level_of

__all__ = ["KEEPING", "LEVELS", "ROLES", "Choices"]

ROLES = {"protect": "protect", "release": "release", "keep": "release as it is", "out": "leave out"}
LEVELS = {"reveal": "0.01", "guess": "", "nothing": "", "deny": "3"}
KEEPING = {
    "1": "Every combination keeps its number of rows",
    "3/4": "Every value keeps 3 in 4 of its rows",
    "0": "No limit",
}


@dataclass(frozen=True)
class Choices:
    """Everything that the page sends: texts as they were written, read when they are needed."""

    roles: Mapping[str, str]
    promise: str
    level: str
    keep_rows: str = "1"
    times: str = ""
    person: str = ""
    cuts: Mapping[str, str] | None = None

    def wish(self) -> Wish:
        """The wish behind the choices; refused in one sentence where they do not fit together."""
        by_role = {role: tuple(n for n, r in self.roles.items() if r == role) for role in ROLES}
        if not by_role["protect"]:
            raise InputError("Choose the column that must stay secret.")
        if not by_role["release"]:
            raise InputError("Choose at least one column to release.")
        if self.promise not in PROMISES:
            raise InputError("Choose a promise.")
        cuts = {
            name: tuple(part.strip() for part in text.split(",") if part.strip())
            for name, text in (self.cuts or {}).items()
            if text.strip() and name in by_role["release"]
        }
        for name, numbers in cuts.items():
            for number in numbers:
                exact(number, f"the groups of {name}")
        return Wish(
            protect=tuple((name,) for name in by_role["protect"]),
            release=by_role["release"],
            promise=self.promise,
            level=level_of(self.promise, self.level),
            times=level_of("times", self.times) if self.times.strip() else None,
            keep=by_role["keep"],
            person=self.person or None,
            keep_rows=exact(self.keep_rows, "the share of rows that are kept"),
            cuts=cuts,
        )
