"""What can go wrong, as one tree; only these cross the border of the package.

DaleniusError                      exit code of the command line
├── InputError (ValueError)        2   bad input, existing output
│   ├── InvalidPmf                     "probabilities sum to 13/12, not 1"
│   ├── InvalidChannel                 "row ('a', '0') sums to 9/10, not 1"
│   ├── ProblemFileError               "problem.toml, line 7: unknown key 'maximise_' in [objective]"
│   ├── TableError                     "t.csv, row 124, column 'sex': 'x' is not in its list of values"
│   ├── MismatchError                  "no variable 'age'; there are 'W', 'X1', 'X2'"
│   └── SmallCombinations              "no grouping gives every combination so many rows"
├── Unsupported                    2   a combination that nothing here solves, with the reason
├── Infeasible                     3   no mechanism can keep the promise; says by how much
├── NotCertified                   4   a proof fails, or the evidence contradicts it
│   └── ProofTooLong                   the file asks for more work than is allowed, and was not checked
├── SolverFailed                   5   no certified answer; carries the solver's own words
└── LedgerRefused                  6   the budget of the ledger would be exceeded

An error has an anatomy: what is wrong, where, why it matters, what to do, and what was written or charged; and a code,
the name of a page of `dalenius help`.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Self

__all__ = [
    "DaleniusError",
    "Infeasible",
    "InputError",
    "InvalidChannel",
    "InvalidPmf",
    "LedgerRefused",
    "MismatchError",
    "NotCertified",
    "ProblemFileError",
    "ProofTooLong",
    "SmallCombinations",
    "SolverFailed",
    "TableError",
    "Unsupported",
]


class DaleniusError(Exception):
    """Root of everything this package raises on purpose.

    Parameters
    ----------
    what : str
        One sentence. Where nothing else is given it may also hold where ("t.csv, row 3: ...") and what to do ("...;
        say --force"), and `anatomy` takes it apart.
    where : str, optional
        A file and a line, a row and a column, or a flag.
    why : str, optional
        Why it matters, where that is not obvious.
    do : str, optional
        What to do, beginning with a verb; tried before it is suggested.
    state : str, optional
        What was written or charged, where it is not nothing.
    code : str, optional
        The page of `dalenius help`; that of the class unless given.
    """

    exit_code = 1
    code = "failure"
    usual_way = ""
    """What helps with most errors of a class, where the error itself says nothing of the kind."""

    def __init__(
        self, what: str = "", *, where: str = "", why: str = "", do: str = "", state: str = "", code: str = ""
    ) -> None:
        super().__init__(what)
        self.where, self.why, self.do, self.state = where, why, do, state
        self.code = code or type(self).code

    def __str__(self) -> str:
        what = super().__str__()
        if self.why or self.do:
            what = _ended(what)
        return " ".join(filter(None, (f"{self.where}: {what}" if self.where else what, self.why, self.do)))

    def within(self, place: str) -> Self:
        """The same error, found while something larger was read: its place comes first.

        Parameters
        ----------
        place : str
            A file, or an entry of one.

        Returns
        -------
        DaleniusError
            Of the same class and code.
        """
        where = f"{place}, {self.where}" if self.where else ""
        what = super().__str__() if where else f"{place}: {super().__str__()}"
        return type(self)(what, where=where, why=self.why, do=self.do, state=self.state, code=self.code)

    def anatomy(self) -> dict[str, str]:
        """The parts of the error, for machines and for the terminal.

        Returns
        -------
        dict of str to str
            With the keys code, what, where, why, do and state; a part that is obvious is empty.

        Examples
        --------
        >>> InputError("t.csv, row 3: age is 'x', not a number; correct it").anatomy()["do"]
        'Correct it.'
        """
        what, where, do = super().__str__(), self.where, self.do
        if not where and (placed := _PLACE.match(what)):
            where, what = placed[1], what[placed.end() :]
        if not do and not self.why and (advice := _ADVICE.search(what)):
            what, do = what[: advice.start()], advice[1]
        elif not do and (right := _RIGHT.search(what)):
            what, do = what[: right.start()], f"Correct it: {right[1]}"
        if not do and not _ASKS.search(what):
            do = self.usual_way
        parts = {"what": what, "where": where, "why": self.why, "do": do, "state": self.state or NOTHING_DONE}
        parts["do"] = parts["do"][:1].upper() + parts["do"][1:]
        return {"code": self.code} | {k: _ended(v) if k != "where" else v for k, v in parts.items()}


NOTHING_DONE = "Nothing was written, nothing was charged."

_PLACE = re.compile(r"((?:[^\s:;,'\"]+\.\w+|(?:line|row|column) \S+?)(?:, [^:;]{1,80}?)?): ")
"""Where, at the beginning of a message: a file, perhaps with its line, row or column."""

_VERBS = (
    r"(?!(?:list|name|read|release|set|split|state) (?:\d|of\b))"  # as a noun
    "(?:add|allow|answer|apply|ask|audit|change|check|choose|compare|correct|declare|design|drop|estimate|forbid|give|group|"
    "install|keep|leave|let|list|lower|make|merge|move|name|observe|press|prepare|promise|put|raise|read|release|"
    "remove|rename|repeat|replace|restore|run|save|say|see|select|set|sort|split|state|take|try|turn|use|write)"
)
_ADVICE = re.compile(rf"[;.:] ({_VERBS}\b.*)$", re.IGNORECASE | re.DOTALL)
"""What to do, at the end of a message: from a verb that asks for something."""

_ASKS = re.compile(rf"(?:^|[,(] (?:or |then )?){_VERBS}\b|\bpip install\b|\bExample: |\bas in ", re.IGNORECASE)
"""A message that says what to do in its own sentence."""

_RIGHT = re.compile(r"; ((?:it|they|there (?:are|is)|both|at least|at most|known are|drawn exactly are|only) .*)$")
"""What would be right, at the end of a message."""


def _ended(text: str) -> str:
    """With a full stop."""
    text = text.strip().rstrip(";")
    return f"{text}." if text and not text.endswith((".", "!", "?")) else text


@contextmanager
def advising(code: str, do: str) -> Iterator[None]:
    """What to do about errors of a code, where the usual advice would lead nowhere.

    >>> with advising("exists", "Say --force."):
    ...     raise InputError("out/ exists already.", do="Choose another name.", code="exists")
    Traceback (most recent call last):
    dalenius.errors.InputError: out/ exists already. Say --force.
    """
    try:
        yield
    except DaleniusError as error:
        if error.code == code:
            error.do = do
        raise


class InputError(DaleniusError, ValueError):
    """Bad input: says what is wrong, where, and what to do."""

    exit_code = 2
    code = "input"


class InvalidPmf(InputError):
    """A joint pmf with a negative entry, a wrong sum or an outcome outside its lists of values."""

    code = "statistics"
    usual_way = "Correct this in the file of statistics; `dalenius help statistics` says what it needs."


class InvalidChannel(InputError):
    """A channel that is not row-stochastic or does not fit its alphabets."""

    code = "recipe"
    usual_way = "Correct this in the file of the recipe; `dalenius help recipe` says what it needs."


class ProblemFileError(InputError):
    """A problem file that breaks the grammar; the message names the key and the line."""

    code = "problem-file"
    usual_way = "Correct this in the file, then run the command again."


class TableError(InputError):
    """A table that cannot be read, or a value outside its declared alphabet."""

    code = "table"
    usual_way = "Correct the table, or how the problem file reads it: `dalenius profile` shows what it holds."


class MismatchError(InputError):
    """Names or alphabets that do not fit together."""

    code = "unknown-column"
    usual_way = "Use the names and values of the table: `dalenius profile` lists them."


class SmallCombinations(InputError):
    """Some combination has fewer rows than were asked for.

    Parameters
    ----------
    what : str
        One sentence.
    smallest : int
        Rows of the smallest combination; where `draft` raises it, when values are grouped as far as they can be.
    do : str
        What to do.
    why, state : str, optional
        As in every error.
    combinations : sequence of (str, int)
        The combinations in words and their rows, the smallest first.
    suggestion : str
        Groups that pass, as a problem file writes them; empty where there are none.
    """

    code = "small-combinations"

    def __init__(
        self,
        what: str,
        *,
        smallest: int,
        do: str,
        why: str = "",
        state: str = "",
        combinations: Sequence[tuple[str, int]] = (),
        suggestion: str = "",
    ) -> None:
        super().__init__(what, do=do, why=why, state=state)
        self.smallest, self.combinations, self.suggestion = smallest, tuple(combinations), suggestion


class Unsupported(DaleniusError):
    """A well-formed combination that no mechanism family solves."""

    exit_code = 2
    code = "unsupported"
    usual_way = "Leave out what stands in the way, or ask for less: `dalenius help unsupported` says how."


class Infeasible(DaleniusError):
    """No mechanism meets the promise; the message carries the nearest feasible figure."""

    exit_code = 3
    code = "infeasible"
    usual_way = "Allow more change, or promise less."


class NotCertified(DaleniusError):
    """A claim that its proof does not support."""

    exit_code = 4
    code = "not-proved"
    usual_way = "Do not rely on this file: ask for the original, or make it again."


class ProofTooLong(NotCertified):
    """A proof that takes longer to check than is allowed; nothing is said against it.

    Examples
    --------
    >>> ProofTooLong("the file asks for 26,000,000 operations").exit_code
    4
    """


class SolverFailed(DaleniusError):
    """The search ended without a certified answer.

    Examples
    --------
    >>> SolverFailed("no recipe was found").anatomy()["do"]
    'Dalenius failed, not your file: give it more time (--seconds 600), or use fewer groups.'
    """

    exit_code = 5
    code = "no-answer"
    usual_way = "Dalenius failed, not your file: give it more time (--seconds 600), or use fewer groups."


class LedgerRefused(DaleniusError):
    """The release would exceed the budget of the ledger."""

    exit_code = 6
    code = "over-budget"
    usual_way = "Promise more secrecy, or release nothing more: `dalenius ledger status` shows what is left."
