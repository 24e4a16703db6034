"""`Ledger`: what was released about the same people so far, what it adds up to, and what may still be released."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from secrets import token_hex
from typing import Any

from dalenius.core.guarantee_section import guarantees_told
from dalenius.core.numbers import down, exact, up, written
from dalenius.errors import InputError, LedgerRefused, NotCertified
from dalenius.ledger.accounting import RULES, Spent, spent
from dalenius.ledger.budget import Line, budget_of
from dalenius.ledger.documents import mechanism_of, proved
from dalenius.ledger.entry import DRAWING, RELEASED, RESERVED, VOID, Entry
from dalenius.ledger.query import QueryMechanism
from dalenius.ledger.store import WAIT, connected, created, transaction
from dalenius.mechanisms.charging import Mechanism

__all__ = ["Ledger"]


def _is_card_of(card: Mechanism, release: Mechanism) -> bool:
    """Whether a card shows the channel of a release; one that shows none must read, release and promise the same."""
    if card.document["channel"].get("form") == "withheld":
        return card.described == release.described
    return card.channel == release.channel


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _sha(*parts: str | None) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class Ledger:
    """A durable account of all releases about the same people.

    A release is charged when it is reserved, before anything is drawn, and stays charged whatever happens then; the
    same release (design, table and key) is charged once, however often it is begun.

    Parameters
    ----------
    path : str or Path
        The file.
    wait : float
        Seconds to wait for another process.

    Examples
    --------
    >>> import tempfile
    >>> from dalenius import solve
    >>> from dalenius.testing import xor
    >>> ledger = Ledger.create(tempfile.mkdtemp() + "/people.ledger", ["dalenius=3"])
    >>> entry = ledger.add(solve(xor()).dumps(), dataset="bits", rows=1)
    >>> entry.id, ledger.status()["left"]
    (1, {'dalenius': '2'})
    """

    def __init__(self, path: str | Path, *, wait: float = WAIT) -> None:
        self.path = Path(path)
        self.wait = wait
        with connected(self.path, wait=wait) as c:
            said = c.execute("SELECT rule, people, made_at FROM ledger").fetchone()
            lines = c.execute("SELECT line, at_most FROM budget ORDER BY rowid").fetchall()
        if said is None or said["rule"] not in RULES:
            raise InputError(
                f"{path} is damaged: it names no rule that this version of dalenius knows",
                do="Restore a copy, or use the version of dalenius that wrote it.",
            )
        self.rule: str = said["rule"]
        self.people: str = said["people"]
        self.made_at: str = said["made_at"]
        self.budget = budget_of(f"{line['line']}={line['at_most']}" for line in lines)

    @classmethod
    def create(cls, path: str | Path, budget: Iterable[str], *, rule: str = "joint", people: str = "") -> "Ledger":
        """A new ledger with its budget, which never changes afterwards."""
        if rule not in RULES:
            raise InputError(f"there is no rule {rule!r}; there are {' and '.join(RULES)}")
        fill: list[tuple[str, tuple[str, ...]]] = [("INSERT INTO ledger VALUES (1, ?, ?, ?)", (rule, people, _now()))]
        fill += [("INSERT INTO budget VALUES (?, ?)", (b.name, written(b.at_most))) for b in budget_of(budget)]
        created(Path(path), fill)
        return cls(path)

    # --- the life of a release --------------------------------------------------------------------------------------
    def reserve(
        self,
        document: str,
        *,
        dataset: str,
        identity: Sequence[str],
        rows: int | None = None,
        max_rows: int = 1,
        table_digest: str | None = None,
        key_fingerprint: str | None = None,
    ) -> Entry:
        """Charge a release before it is drawn, or raise `LedgerRefused`; a release that is charged already stays so.

        `identity` names the draw (digests of design and table, fingerprint of the key). The proof of the document is
        checked again here.
        """
        new = Entry(
            id=0,
            identity=_sha(*identity),
            state=RESERVED,
            dataset=dataset,
            document=document,
            document_digest=_digest(document),
            rows=rows,
            max_rows=max_rows,
            table_digest=table_digest,
            key_fingerprint=key_fingerprint,
        )
        proved(document)
        # The proof was checked outside the transaction: it takes seconds, and others wait for the lock.
        return self._charge(new)

    def begin(self, entry: Entry) -> None:
        """Say that letters are about to be drawn; from here on the charge cannot be taken back.

        Parameters
        ----------
        entry : Entry
            That was reserved.
        """
        with connected(self.path, wait=self.wait) as c, transaction(c):
            state = self._entry(c, entry.id).state
            if state == VOID:
                raise LedgerRefused(f"release {entry.id} of {self.path} was declared void meanwhile; nothing was drawn")
            if state == RESERVED:
                self._move(c, entry.id, DRAWING)

    def settle(self, number: int, card: str | None = None) -> Entry:
        """Say that a release is complete, with the text of the card that went with it.

        Parameters
        ----------
        number : int
            Of the release in the ledger.
        card : str, optional
            Its text.

        Returns
        -------
        Entry
        """
        with connected(self.path, wait=self.wait) as c, transaction(c):
            entry = self._entry(c, number)
            if card is not None and not _is_card_of(mechanism_of(card), entry.mechanism):
                raise InputError(
                    f"this is not the card of release {number}: it has another recipe",
                    do="Name the card of this release.",
                )
            if entry.state == VOID:
                raise InputError(f"release {number} is void; what was released after all is recorded with `ledger add`")
            if entry.state == RESERVED:
                self._move(c, number, DRAWING)
            if entry.state != RELEASED:
                self._move(c, number, RELEASED, card and _digest(card))
            return self._entry(c, number)

    def void(self, number: int) -> Entry:
        """Take back the charge of a release of which certainly nothing was drawn: its draw never began.

        Safe while the process that reserved it still runs: `begin` then refuses it, before it draws.

        Parameters
        ----------
        number : int
            Of the release in the ledger.

        Returns
        -------
        Entry
        """
        with connected(self.path, wait=self.wait) as c, transaction(c):
            entry = self._entry(c, number)
            # A draw says here that it begins, before it does: what never said so drew nothing.
            if entry.state in (DRAWING, RELEASED):
                began = "its draw had begun, and nobody can know that no value left"
                raise LedgerRefused(
                    f"release {number} cannot be void: {began if entry.state == DRAWING else 'it was released'}"
                )
            self._move(c, number, VOID)
            return self._entry(c, number)

    def add(
        self,
        document: str,
        *,
        dataset: str | None = None,
        rows: int | None = None,
        max_rows: int | None = None,
        again: bool = False,
        already_released: bool = False,
    ) -> Entry:
        """Record a release that is or was made outside `release`, from its design, its card or its query.

        Dataset and rows of a person are those of the file unless they are said; `rows` counts the records drawn for.

        The same file is charged once, unless it was drawn `again`; what `already_released` is recorded even when the
        budget does not allow it, because a fact is never hidden.
        """
        mechanism = proved(document)
        origin, source = mechanism.origin, mechanism.source
        if mechanism.at_once and rows not in (None, 1):
            raise InputError(
                "an answer is one draw from all records of its query; --rows is for designs and cards",
                do="Leave out --rows.",
            )
        if isinstance(mechanism, QueryMechanism) and (max_rows or 1) > mechanism.query.records:
            raise InputError(
                f"a person cannot have {max_rows} rows in a query over {mechanism.query.records} records",
                do="Write at most so many rows for one person.",
            )
        most = _rows_of_a_person(mechanism) if max_rows is None else max_rows
        if not mechanism.at_once and rows is not None and rows < most:
            raise InputError(
                f"a person has up to {most} rows, and only {rows} were drawn for; --rows counts all rows",
                do="Write all rows of the release, or fewer for one person.",
            )
        dataset = dataset or Path(str(source.get("table", source.get("pmf", "")))).name
        if not dataset:
            raise InputError("this file does not say which data it is about; name them with --dataset")
        new = Entry(
            id=0,
            identity=_sha("added", origin, mechanism.channel, dataset, token_hex() if again else ""),
            state=RELEASED,
            dataset=dataset,
            document=document,
            document_digest=_digest(document),
            rows=rows,
            max_rows=most,
            card_digest=mechanism.digest if mechanism.card else None,
        )
        return self._charge(new, origin=None if again else origin, even_if_exceeded=already_released)

    def _charge(self, new: Entry, *, origin: str | None = None, even_if_exceeded: bool = False) -> Entry:
        """In one transaction: look whether it is there, add up, refuse or insert."""
        _plausible(new)
        with connected(self.path, wait=self.wait) as c, transaction(c):
            entries = _read(c)
            for entry in entries:
                if entry.charged and (entry.identity == new.identity or _same_release(entry, new, origin)):
                    return entry
            charges = {}
            for line in self.budget:
                # Both sums are taken under the lock: whoever reads the old one may not write the new one after somebody
                # else.
                before, after = (spent(line, group, self.rule) for group in (entries, [*entries, new]))
                if not even_if_exceeded:
                    self._refuse(line, before, after)
                charges[line.name] = {"before": _shown(before.figure), "after": _shown(after.figure), "how": after.how}
            values = {k: getattr(new, k) for k in _COLUMNS} | {"charges": json.dumps(charges)}
            values["made_at"] = values["changed_at"] = _now()
            marks = ", ".join(f":{value}" for value in values)
            done = c.execute(f"INSERT INTO releases ({', '.join(values)}) VALUES ({marks})", values)
            return self._entry(c, int(done.lastrowid or 0))

    def _refuse(self, line: Line, before: Spent, after: Spent) -> None:
        # What cannot be added up is refused like what is too much: the sum could be anything.
        if after.figure is None:
            raise LedgerRefused(
                f"the ledger cannot charge {line.name}: {after.how}; nothing was charged or drawn",
                do="Release with a promise that this budget counts, or with another ledger.",
            )
        if after.figure > line.at_most:
            had = (
                "nothing" if before.figure == 0 else f"{up(before.figure, 6)}" if before.figure is not None else "more"
            )
            raise LedgerRefused(
                f"the budget of {line.name} is {down(line.at_most, 6)} {line.unit}, {had} is spent, and this release "
                f"would make it {up(after.figure, 6)} ({after.how}); nothing was charged or drawn",
                do="Promise more secrecy for this release, or release nothing more about these people.",
            )

    def _entry(self, connection: sqlite3.Connection, number: int) -> Entry:
        entries = _read(connection, number)
        if not entries:
            raise InputError(f"{self.path} has no release {number}", do="Look up its number: dalenius ledger status.")
        return entries[0]

    def _move(self, connection: sqlite3.Connection, number: int, state: str, card: str | None = None) -> None:
        connection.execute(
            "UPDATE releases SET state = ?, changed_at = ?, card_digest = coalesce(?, card_digest) WHERE id = ?",
            (state, _now(), card, number),
        )

    # --- questions --------------------------------------------------------------------------------------------------
    def entries(self) -> list[Entry]:
        """All releases, void ones too, in the order in which they were charged."""
        with connected(self.path, wait=self.wait) as c:
            return _read(c)

    def waiting_for(self, fingerprint: str) -> Entry | None:
        """The release that was charged for this key and is not complete.

        Parameters
        ----------
        fingerprint : str
            Of a key.

        Returns
        -------
        Entry or None
        """
        return next((e for e in self.entries() if e.open and e.key_fingerprint == fingerprint), None)

    def status(self) -> dict[str, Any]:
        """What was released when, what it cost, what is left, under which rule; figures are proved upper bounds."""
        entries = self.entries()
        now = {line: spent(line, entries, self.rule) for line in self.budget}
        return {
            "ledger": str(self.path),
            "people": self.people,
            "made_at": self.made_at,
            "rule": self.rule,
            "rule_in_words": RULES[self.rule],
            "budget": {line.name: down(line.at_most) for line in now},
            "spent": {line.name: _shown(s.figure) for line, s in now.items()},
            "left": {
                line.name: None if s.figure is None else down(max(line.at_most - s.figure, Fraction(0)))
                for line, s in now.items()
            },
            "units": {line.name: line.unit for line in now},
            "how": {line.name: s.how for line, s in now.items()},
            "within_budget": all(s.figure is not None and s.figure <= line.at_most for line, s in now.items()),
            "releases": [_described(entry) for entry in entries],
            "open": [entry.id for entry in entries if entry.open],
        }

    def check(self) -> dict[str, Any]:
        """The file is sound, every stored proof holds again, the sums hold; and what is to be settled by hand."""
        with connected(self.path, wait=self.wait) as c:
            sound = c.execute("PRAGMA integrity_check").fetchone()[0]
        if sound != "ok":
            damage = " ".join(sound.split())  # SQLite says it in lines
            raise InputError(f"{self.path} is damaged ({damage}); restore a copy and add what was released since")
        for entry in self.entries():
            if _digest(entry.document) != entry.document_digest:
                raise NotCertified(
                    f"the document of release {entry.id} was changed after it was charged",
                    do="Restore a copy of the ledger that was made before the change.",
                )
            try:
                proved(entry.document)
            except (InputError, NotCertified) as e:
                raise NotCertified(
                    f"the proof of release {entry.id} does not hold: {e}",
                    do="Restore a copy of the ledger, and count this release as unproved.",
                ) from None
        return self.status() | {"proved": True}


def _digest(document: str) -> str:
    return hashlib.sha256(document.encode()).hexdigest()


def _same_release(entry: Entry, new: Entry, origin: str | None) -> bool:
    """Whether an added document is the design or the card of a release that is here already."""
    return (
        origin is not None
        and entry.dataset == new.dataset
        and entry.mechanism.origin == origin
        and entry.mechanism.channel == new.mechanism.channel
    )


def _rows_of_a_person(mechanism: Mechanism) -> int:
    """As many as the file beside a document says, and no fewer than a promise of the document itself is about."""
    counted = (promise.rows_of_a_person for promise in guarantees_told(mechanism.document))
    return max([int(mechanism.source.get("max_rows", 1)), *counted])


def _plausible(new: Entry) -> None:
    if not new.dataset.strip():
        raise InputError("name the dataset that the release is about")
    if new.max_rows < 1 or (new.rows is not None and new.rows < 0):
        raise InputError(
            "rows are counted: max_rows is at least 1, rows at least 0", do="Write whole numbers of at least that."
        )


def _shown(figure: Fraction | None) -> str | None:
    return None if figure is None else up(figure)


def _described(entry: Entry) -> dict[str, Any]:
    costs = {line: _cost(c) for line, c in entry.charges.items()} if entry.charged else {}
    return {
        "id": entry.id,
        "state": entry.state,
        "at": entry.made_at,
        "changed_at": entry.changed_at,
        "dataset": entry.dataset,
        **entry.mechanism.described,
        "kind": entry.mechanism.kind,
        "cost": costs,
        "rows": entry.rows,
        "max_rows": entry.max_rows,
        "document_digest": entry.document_digest,
        "table_digest": entry.table_digest,
        "card_digest": entry.card_digest,
    }


def _cost(charge: Mapping[str, Any]) -> str | None:
    """By how much the sum rose when the release was charged; a bound may also become tighter, which costs nothing."""
    if charge["before"] is None or charge["after"] is None:
        return None
    # Each charge is a sum rounded up, so that a difference may come out just below zero.
    return up(max(exact(charge["after"]) - exact(charge["before"]), Fraction(0)))


_COLUMNS = tuple(f for f in Entry.__dataclass_fields__ if f != "id")


def _read(connection: sqlite3.Connection, number: int | None = None) -> list[Entry]:
    where, values = ("", ()) if number is None else (" WHERE id = ?", (number,))
    names = ("id", *_COLUMNS)  # as asked for: SQLite answers with the names of its schema, in whatever case those are
    rows = connection.execute(f"SELECT {', '.join(names)} FROM releases{where} ORDER BY id", values)
    found = (dict(zip(names, row, strict=True)) for row in rows)
    return [Entry(**{**row, "charges": json.loads(row["charges"])}) for row in found]
