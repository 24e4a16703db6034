"""What somebody chose on the page: texts as they were written, and the wish behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dalenius.core.numbers import exact
from dalenius.errors import InputError
from dalenius.starting import Groups, Wish, level_of
from dalenius.studio.phrasing import PAGE

__all__ = ["KEEPING", "LEVELS", "ROLES", "Choices"]

ROLES = {"protect": "protect", "release": "release", "keep": "release as it is", "out": "leave out"}
LEVELS = {"reveal": "0.01", "guess": "", "nothing": "", "deny": "3"}
KEEPING = {
    "1": "Every combination keeps its rows, on average",
    "3/4": "Every value keeps 3 in 4 of its rows, on average",
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
    named: Mapping[str, Mapping[str, Sequence[str]]] | None = None
    title: str = ""
    owner: str = ""
    ledger: str = ""

    def wish(self) -> Wish:
        """The wish behind the choices; refused in one sentence where they do not fit together."""
        by_role = {role: tuple(n for n, r in self.roles.items() if r == role) for role in ROLES}
        if not by_role["protect"]:
            raise InputError("Choose the column that must stay secret.")
        if not by_role["release"]:
            raise InputError("Choose at least one column to release.")
        if self.promise not in LEVELS:
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
            named={
                name: {label: tuple(values) for label, values in groups.items()}
                for name, groups in (self.named or {}).items()
                if name in (*by_role["release"], *by_role["protect"])
            },
            title=self.title.strip() or None,
            owner=self.owner.strip() or None,
            spoken=PAGE,
        )

    def merged(self, groups: Groups, one: int, other: int) -> "Choices":
        """With two groups of a column made one by hand.

        Raises
        ------
        InputError
            If there are no such groups, or they are ranges that do not touch.
        """
        if one == other or not {one, other} <= set(range(len(groups.labels))) or len(groups.labels) < 3:
            raise InputError("Choose two different groups. At least two groups must stay.")
        if groups.cuts and abs(one - other) != 1:
            raise InputError("Only neighbouring ranges can be merged.", do="Choose two ranges that stand side by side.")
        found, name = groups.joined(one, other), groups.look.name
        if groups.cuts:
            return replace(self, cuts={**(self.cuts or {}), name: ", ".join(found.cuts)})
        members = dict(zip(found.labels, found.members, strict=True))
        return replace(self, named={**(self.named or {}), name: members})

    def as_suggested(self, name: str) -> "Choices":
        """With the groups of a column as they are suggested."""
        cuts = {k: v for k, v in (self.cuts or {}).items() if k != name}
        return replace(self, cuts=cuts, named={k: v for k, v in (self.named or {}).items() if k != name})

    def same_problem(self, other: "Choices") -> bool:
        """Whether only the words on the statement or the ledger differ, so that what was solved still holds."""

        def asked(choices: Choices) -> Wish | None:
            try:
                return replace(choices.wish(), title=None, owner=None)
            except InputError:
                return None

        return asked(self) is not None and asked(self) == asked(other)
