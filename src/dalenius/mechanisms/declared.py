"""`Mechanism`: what a mechanism takes, said once and read by everybody who asks.

The dispatcher, the sentences of a refusal, the table of docs/roadmap.md and the choices of the studio all read these
declarations. Nothing is imported for the search until a problem is designed: a declaration names its designer by path.

A problem is compared with a declaration aspect by aspect: objective, promises, form, letters, optional keys, rows of a
person; then come the further conditions. What is not declared is refused, so that a key that is new to the problem file
is refused by every mechanism that has not said what it means there.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from typing import Any, Literal

from dalenius.core import Design, Guarantee, Leakage, Objective, Problem, TableSource
from dalenius.errors import Unsupported
from dalenius.wording import joined

__all__ = ["GAP", "MOST_NATS", "SECONDS", "Condition", "Mechanism", "Promised"]

GAP = 1e-6
"""How far value and bound may be apart at the end of a search, in the unit of the objective."""

SECONDS = 120.0
"""How long a search takes at most."""

MOST_NATS = 100
"""A level of local_dp or information_privacy beyond which nothing is promised: e^100 is more than 10^43."""

OPTIONAL = (
    "keep",
    "strata",
    "each",
    "forbid",
    "freeze",
    "preserve_marginals",
    "limits",
    "tells",
    "keep_rows",
    "side_information",
    "robust",
)
"""Keys of a problem that a mechanism refuses unless it declares that it takes them."""

KEY_SENTENCES = {
    "each": "it makes one recipe for all columns, not one for each",
    "tells": "it does not take a [[limit]] on information from below",
}

ROWS_OF_A_PERSON = (
    "several rows of one person cannot be charged together under this promise, because what they reveal adds up; leave "
    "out max_rows, and one row is drawn for each person"
)

# How much speaks against a mechanism; only used to find those whose reasons are worth telling.
ANOTHER_LAW = 12  # the source, the law or a key without which the mechanism is not meant
ANOTHER_FORM = 8
ANOTHER_OBJECTIVE = 5
ANOTHER_PROMISE = 4
UNMET_CONDITION = 2
OTHER_LETTERS = 2
UNKNOWN_KEY = 1  # could be left out


@dataclass(frozen=True)
class Condition:
    """One thing that a mechanism asks of a problem, and what is said where it is not so.

    Parameters
    ----------
    holds : callable
        Whether a problem is so.
    otherwise : str or callable
        The sentence, or a function of the problem that writes it.
    """

    holds: Callable[[Problem], object]
    otherwise: str | Callable[[Problem], str]

    def refusal(self, problem: Problem) -> str | None:
        """The sentence where the condition is not met, else None.

        Parameters
        ----------
        problem : Problem
            Declared or bound.

        Returns
        -------
        str or None
        """
        if self.holds(problem):
            return None
        return self.otherwise if isinstance(self.otherwise, str) else self.otherwise(problem)


@dataclass(frozen=True)
class Promised:
    """One kind of promise that a mechanism keeps.

    Parameters
    ----------
    kind : type of Guarantee
        Exactly this class: a promise of another meaning is another class, even where it inherits.
    needs, without : tuple of str
        Fields of the promise that must be given, and that must not.
    above_zero : bool
        Whether a level of 0 is too little.
    most_nats : int or None
        The largest level that is designed for.
    """

    kind: type[Guarantee]
    needs: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    above_zero: bool = False
    most_nats: int | None = None

    @property
    def words(self) -> str:
        """The key in the problem file, with the fields that it needs."""
        return self.kind.key + "".join(f" with {name}" for name in self.needs)

    def covers(self, promise: Guarantee) -> bool:
        """Whether a promise is of this kind, with the fields that are needed.

        Parameters
        ----------
        promise : Guarantee
            Of a problem.

        Returns
        -------
        bool
        """
        return type(promise) is self.kind and all(getattr(promise, name) for name in self.needs)

    def refusal(self, promise: Guarantee) -> str | None:
        """Why a promise of this kind is not kept in its details, or None.

        Parameters
        ----------
        promise : Guarantee
            Of a problem.

        Returns
        -------
        str or None
        """
        level = promise.level if promise.in_nats else None
        if level is not None and self.most_nats is not None and level > self.most_nats:
            return f"epsilon is {float(level):g}; more than {self.most_nats} promises nothing"
        if any(getattr(promise, name) for name in self.without) or (self.above_zero and level == 0):
            without = f" without {joined(self.without)}" if self.without else ""
            above = ", above 0" if self.above_zero else ""
            return f"it promises {self.words}{without}{above}"
        return None


@dataclass(frozen=True)
class Mechanism:
    """What a mechanism takes and who designs it.

    Parameters
    ----------
    name : str
        Unique in the registry.
    title : str
        What it does in a user's words; the reasons of a refusal begin with it.
    designer : str
        "package.module:function", imported when the first problem is designed.
    objectives : tuple of types
        Exactly these classes of objectives.
    promises : tuple of Promised
        The kinds of promises that are kept.
    count : tuple of int or None
        The least and the most promises at once; None for no limit.
    forms : tuple of str or None
        Values of `form` in [mechanism]; None stands for a problem that names none.
    letters : {"fresh", "own", "any"}
        output = "Y", release of exactly what is observed, or either.
    takes : tuple of str
        Optional keys of the problem that it understands; all others are refused. "max_rows" stands for tables where a
        person has several rows, "robust" for promises that hold under every law, "ball" for bits within [robust].
    needs : tuple of str
        Optional keys without which it is not meant.
    law : tuple of Condition
        What is asked of the source and the law, before anything else.
    hints : tuple of Condition
        Said before anything else where they are not met: how to get what such a problem is after.
    conditions : tuple of Condition
        What is asked after every declared aspect fits.
    on_data : tuple of Condition
        What can be asked only of a problem that is bound to its data.
    sentences : mapping
        Better words for the refusal of an aspect: "objective", "promises", "form", "letters" or a key.
    shortcut : bool
        Another mechanism solves the same problems, more slowly or up to some size, so that a refusal of this one tells
        nobody anything unless the problem names its form.
    shows_cells : {"all", "observed", "none"}
        Of which columns the channel that leaves depends on how many records each combination of values has.
    lists_outcomes : bool
        Whether its channel has a row for every combination of the observed values, also those that never occur.
    """

    name: str
    title: str
    designer: str
    objectives: tuple[type[Objective], ...]
    promises: tuple[Promised, ...]
    count: tuple[int, int | None] = (1, 1)
    forms: tuple[str | None, ...] = (None,)
    letters: Literal["fresh", "own", "any"] = "fresh"
    takes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    law: tuple[Condition, ...] = ()
    hints: tuple[Condition, ...] = ()
    conditions: tuple[Condition, ...] = ()
    on_data: tuple[Condition, ...] = ()
    sentences: Mapping[str, str] = field(default_factory=dict)
    shortcut: bool = False
    shows_cells: Literal["all", "observed", "none"] = "all"
    lists_outcomes: bool = True

    # --- what is asked of a problem ---------------------------------------------------------------------------------
    def why_not(self, problem: Problem) -> str | None:
        """The first reason why this mechanism does not take a problem, or None.

        Conditions on the data are asked only where the problem is bound to them.

        Parameters
        ----------
        problem : Problem
            Declared or bound.

        Returns
        -------
        str or None
            One clause that says what the mechanism takes instead.
        """
        return next((reason for _, reason in self._reasons(problem)), None)

    def refuse(self, problem: Problem) -> None:
        """Raise where the mechanism does not take a problem.

        Raises
        ------
        Unsupported
            With the reason.
        """
        if reason := self.why_not(problem):
            raise Unsupported(f"{self.title} cannot solve this: {reason}")

    def distance(self, problem: Problem) -> int:
        """How far a problem is from what the mechanism takes; 0 for one that it takes.

        Parameters
        ----------
        problem : Problem
            Declared or bound.

        Returns
        -------
        int
        """
        return sum(weight for weight, _ in self._reasons(problem))

    def _reasons(self, problem: Problem) -> Iterator[tuple[int, str]]:
        """Everything that speaks against a problem, with a weight; conditions only where the aspects fit."""
        aspects_fit = True
        for weight, reason in self._aspects(problem):
            aspects_fit = aspects_fit and weight <= OTHER_LETTERS
            yield weight, reason
        if not aspects_fit:
            return
        for condition in (*self.conditions, *(self.on_data if problem.joint is not None else ())):
            if said := condition.refusal(problem):
                yield UNMET_CONDITION, said
                return

    def _aspects(self, problem: Problem) -> Iterator[tuple[int, str]]:
        for condition in self.hints:
            if reason := condition.refusal(problem):
                yield UNMET_CONDITION, reason
        for condition in self.law:
            if reason := condition.refusal(problem):
                yield ANOTHER_LAW, reason
        for key in self.needs:
            if not _said(problem, key):
                yield ANOTHER_LAW, self.sentences.get(key, f"it needs {key}")
        if type(problem.objective) not in self.objectives:
            yield ANOTHER_OBJECTIVE, self.sentences.get("objective", f"its objective is {self._objectives()}")
        if reason := self._promises(problem):
            yield ANOTHER_PROMISE, self.sentences.get("promises", reason)
        if problem.form not in self.forms:
            yield ANOTHER_FORM, self.sentences.get("form", self._forms())
        if reason := self._letters(problem):
            yield OTHER_LETTERS, self.sentences.get("letters", reason)
        if (
            problem.robust
            and "ball" not in self.takes
            and any(isinstance(promise, Leakage) for promise in problem.guarantees)
        ):
            yield (
                ANOTHER_LAW,
                "its bits are promised under the distribution of the table, not within the ball of [robust]",
            )
        for key in (*OPTIONAL, "max_rows"):
            if key not in self.takes and _said(problem, key):
                generic = ROWS_OF_A_PERSON if key == "max_rows" else f"it does not take {key}"
                yield UNKNOWN_KEY, self.sentences.get(key) or KEY_SENTENCES.get(key) or generic

    def _promises(self, problem: Problem) -> str | None:
        least, most = self.count

        def kinds(last: str = "and") -> str:  # put into words only for a refusal: every mechanism is asked
            return joined([promised.words for promised in self.promises], last)

        if len(problem.guarantees) < least:
            return f"nothing is promised; add a [[guarantee]] with {kinds('or')}"
        for promise in problem.guarantees:
            promised = next((p for p in self.promises if p.covers(promise)), None)
            if promised is None:
                alone = len(self.promises) == 1
                return (
                    f"it promises {kinds()} and nothing else" if alone else f"it promises {kinds()}, not {promise.key}"
                )
            if reason := promised.refusal(promise):
                return reason
        if most is not None and len(problem.guarantees) > most:
            return f"it promises {kinds('or')} and nothing else"
        return None

    def _objectives(self) -> str:
        return joined([objective.as_written for objective in self.objectives], "or")

    def _forms(self) -> str:
        named = [f'form = "{form}"' for form in self.forms if form is not None]
        return f"its mechanism says {' or '.join(named)}" if named else "it does not take form"

    def _letters(self, problem: Problem) -> str | None:
        if self.letters == "fresh" and problem.output is None:
            return 'it needs a fresh list of values, output = "Y", not release = [...]'
        if self.letters == "own" and tuple(problem.release) != tuple(problem.observe):
            return "it releases exactly the columns that it observes"
        return None

    # --- who designs it ---------------------------------------------------------------------------------------------
    def design(self, problem: Problem, **options: Any) -> Design:
        """Design a bound problem; imports the search on first use.

        A designer names the options that it reads among `gap`, `seconds` and `on_progress`, and is given no others.

        Parameters
        ----------
        problem : Problem
            Bound to its data.
        options
            Those of `gap`, `seconds` and `on_progress` that its designer reads.

        Returns
        -------
        Design
        """
        module, _, function = self.designer.partition(":")
        designer = getattr(import_module(module), function)
        read = signature(designer).parameters
        designed: Design = designer(problem, **{name: value for name, value in options.items() if name in read})
        return designed


def _said(problem: Problem, key: str) -> bool:
    """Whether a problem says something under a key."""
    if key == "max_rows":
        return isinstance(problem.source, TableSource) and problem.source.max_rows is not None
    return getattr(problem, key) not in (None, False, (), {})
