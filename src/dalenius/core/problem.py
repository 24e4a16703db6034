"""`Problem`: what is known, what the mechanism may look at, what it emits, what is promised and what is wanted.

No solver and no tolerance lives here. A problem is *declared* when it comes from a file and names its source, and
*bound* once the joint pmf has been counted or read; only a bound problem can be solved.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any, Literal, Self

from dalenius.core import contradictions
from dalenius.core.combination import Combination
from dalenius.core.guarantee import Guarantee, Names
from dalenius.core.guess_guarantees import Sibson
from dalenius.core.information_guarantees import Dalenius, Independent
from dalenius.core.markov import MarkovChain
from dalenius.core.noise_law import NoiseLaw
from dalenius.core.numbers import written
from dalenius.core.objective import AtLeast, Distortion, MaximizeInformation, MinimizeDistortion, Objective
from dalenius.core.odds_guarantees import LocalDP
from dalenius.core.pmf import Pmf
from dalenius.core.product_pmf import Margins, ProductPmf
from dalenius.core.samples import Samples
from dalenius.core.source import Column, Dialect, Source, TableSource
from dalenius.errors import MismatchError, ProblemFileError

__all__ = ["Mismatch", "Problem", "SideInformation"]

PRIOR_FREE = ("randomised-response", "subset-selection")
"""Forms whose matrix depends on the number of letters and the level alone: nothing is decided from the records."""


@dataclass(frozen=True)
class SideInformation:
    """A variable that the user of the release has anyway; every leakage then counts it (003, section V).

    Parameters
    ----------
    variable : str
        The column that the user has.
    encoder : str
        "uninformed", "statistically-informed" or "informed".
    """

    variable: str
    encoder: str = "uninformed"

    def to_json(self) -> dict[str, Any]:
        return {"variable": self.variable, "encoder": self.encoder}


@dataclass(frozen=True)
class Mismatch:
    """How far the law of those to protect may lie from the estimated one.

    A ball, `total_variation` or `kl_bits` of a radius; or, with `confidence`, whatever law the `rows` of the table
    leave possible when they are independent draws from it.

    Parameters
    ----------
    ball : str
        "total_variation", "kl_bits" or "confidence".
    radius : Fraction
        Of the ball, or the confidence.
    rows : int, optional
        How many rows the law was counted from.
    """

    ball: str
    radius: Fraction
    rows: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {self.ball: written(self.radius)} | ({"rows": self.rows} if self.rows else {})


def located(
    file: Path | None,
    lines: Mapping[tuple[str | int, ...], int],
    place: tuple[str | int, ...],
    message: str,
    code: str = "",
) -> ProblemFileError:
    """An error that names the file and the line of a key, or of the nearest section around it."""
    known = next((lines[place[:k]] for k in range(len(place), 0, -1) if place[:k] in lines), None)
    at = file.name if file else "problem"
    return ProblemFileError(f"{at}, line {known}: {message}" if known else f"{at}: {message}", code=code)


def _promise_line(guarantee: Guarantee) -> str:
    """A promise in the words of a problem file, on one line.

    >>> from dalenius.core.information_guarantees import Leakage
    >>> _promise_line(Leakage("health", Fraction(1, 100)))
    'leakage of health at most 1/100'
    """
    about = f" of {', '.join(guarantee.secret)}" if guarantee.secret else ""
    return f"{guarantee.key}{about}" + (f" at most {written(guarantee.level)}" if guarantee.level is not None else "")


# --- the noun -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Problem:
    """A release to be designed.

    Parameters
    ----------
    observe : names
        What the mechanism may look at.
    objective : Objective
        What is made as large or as small as possible.
    guarantees : tuple of Guarantee
        What is promised.
    output, release : str or names
        A fresh letter, or columns in their own letters: one of the two.
    keep, strata : names
        Columns that leave as they are; the channel may depend on strata.
    forbid, freeze, preserve_marginals, allow_inverted : optional
        What a released column may become.
    form : str, optional
        A form that the channel is to have; `windows`, `modulus`, `each`, `noise`, `towards`, `min_multiplicity` belong
        to single forms.
    order : {"shuffle", "keep"}
        The order of released rows.
    limits, keep_rows : optional
        Limits of distortions; the share of rows that each value keeps.
    side_information : SideInformation, optional
        What the user has anyway.
    robust : Mismatch, optional
        How far the law may be off.
    joint : Pmf and its like, optional
        The law, once it is counted or read.
    source, columns : optional
        Where the records are and what their letters are.
    digest, file, lines : optional
        Of the problem file, for errors and proofs.

    Raises
    ------
    ProblemFileError
        If something contradicts something else, with the place in the file.

    Examples
    --------
    >>> from dalenius.testing import xor
    >>> xor().observe, xor().guarantees[0].words()
    (('X1', 'X2'), 'what is released is exactly independent of X1')
    """

    observe: Names
    objective: Objective
    guarantees: tuple[Guarantee, ...] = ()
    output: str | None = None
    release: Names = ()
    keep: Names = ()
    strata: Names = ()
    forbid: tuple[tuple[str, str] | Combination, ...] = ()
    freeze: Names = ()
    preserve_marginals: bool = False
    allow_inverted: bool = False
    form: str | None = None
    windows: tuple[Names, ...] = ()
    modulus: int | None = None
    each: bool | Mapping[str, Fraction] = False
    noise: NoiseLaw | None = None
    towards: Fraction | Literal["median"] | None = None
    min_multiplicity: int | None = None
    order: str = "shuffle"
    limits: tuple[Distortion, ...] = ()
    tells: tuple[AtLeast, ...] = ()
    keep_rows: Fraction | None = None
    side_information: SideInformation | None = None
    robust: Mismatch | None = None
    joint: Pmf | ProductPmf | Margins | Samples | MarkovChain | None = None
    source: Source | None = None
    columns: Mapping[str, Column] = field(default_factory=dict)
    digest: str = ""
    file: Path | None = field(default=None, compare=False)
    lines: Mapping[tuple[str | int, ...], int] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        for attribute in ("observe", "release", "keep", "strata", "freeze", "guarantees", "limits", "tells"):
            object.__setattr__(self, attribute, tuple(getattr(self, attribute)))
        promises = [self._said_plainly(promise) for promise in self.guarantees]
        object.__setattr__(self, "guarantees", tuple(dict.fromkeys(promises)))  # made twice, it is one promise
        object.__setattr__(self, "windows", tuple(map(tuple, self.windows)))
        contradictions.refuse(self)
        if self.form in PRIOR_FREE and isinstance(self.source, TableSource) and self.source.prior is None:
            object.__setattr__(self, "source", replace(self.source, prior="uniform"))
        self._count_rows()
        contradictions.refuse_levels(self)
        if self.joint is not None:
            contradictions.refuse_names(self, self.joint)
            contradictions.refuse_combinations(self, self.joint)

    def _count_rows(self) -> None:
        """A level is that of a person with all of its rows; all rows of a release are those of a table."""
        most = self.source.max_rows if isinstance(self.source, TableSource) else None
        guarantees = list(self.guarantees)
        for k, guarantee in enumerate(guarantees):
            if isinstance(guarantee, Dalenius) and guarantee.rows == "all" and self.source is not None:
                if not isinstance(self.source, TableSource):
                    raise self.error(("guarantee", k, "rows"), 'rows = "all" counts the rows of a table; this has none')
            elif isinstance(guarantee, LocalDP) and most is not None:
                if guarantee.rows not in (1, most):
                    sentence = f"the level is that of {guarantee.rows} rows, and a person has up to {most}"
                    raise self.error(("guarantee", k, "local_dp"), sentence)
                guarantees[k] = replace(guarantee, rows=most)
        object.__setattr__(self, "guarantees", tuple(guarantees))

    @property
    def of_one_row(self) -> "Problem":
        """The problem of a single row: every level of local_dp is divided by the rows that a person may have."""
        most = max((promise.rows for promise in self.guarantees if isinstance(promise, LocalDP)), default=1)
        if most == 1:
            return self
        source = replace(self.source, max_rows=None) if isinstance(self.source, TableSource) else self.source
        each = {n: v / most for n, v in self.each.items()} if isinstance(self.each, Mapping) else self.each
        single = tuple(promise.of_one_row if isinstance(promise, LocalDP) else promise for promise in self.guarantees)
        return replace(self, source=source, each=each, guarantees=single)

    def __repr__(self) -> str:
        """One line that never shows the statistics of the table: a repr ends in logs and notebooks."""
        outputs = ", ".join(self.release) if self.release else f"a new column {self.output}"
        promises = "; ".join(_promise_line(guarantee) for guarantee in self.guarantees) or "no promise"
        bound = "not bound"
        many = ""
        if isinstance(self.joint, Pmf):
            bound = f"bound to {self.joint.total * self.joint.common:,} rows"
            many = f" from {prod(len(self.joint.variables[n]) for n in self.observe):,} combinations"
        elif self.joint is not None:
            bound = "bound"
        return f"Problem(release {outputs}{many}; {promises}; {bound})"

    # --- births -----------------------------------------------------------------------------------------------------
    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a problem file; errors name the key and the line. Data are read later, when the problem is bound."""
        from dalenius.core.problem_file import read

        return read(cls, Path(path))

    @classmethod
    def from_document(cls, document: Mapping[str, Any], **rest: Any) -> Self:
        """From the sections of a problem file as plain values, as `to_json` writes them."""
        from dalenius.core.problem_file import parse

        return parse(cls, document, **rest)

    def bound(
        self, joint: Pmf | ProductPmf | Margins | Samples | MarkovChain, columns: Mapping[str, Column] | None = None
    ) -> Self:
        """The same problem with its joint pmf (and with alphabets that are now known)."""
        return replace(self, joint=joint, columns=self.columns if columns is None else columns)

    def to_json(self) -> dict[str, Any]:
        """The sections of the problem file, without the joint pmf."""
        from dalenius.core.problem_sections import sections_of

        return sections_of(self)

    def _said_plainly(self, promise: Guarantee) -> Guarantee:
        """A limit of zero is independence, and is promised as such: the same meaning, and proved by equality.

        Forms of one column and closed forms about all that is observed take the zero itself; within a ball of laws a
        limit of zero says more.
        """
        itself = self.form not in (None, "records") or set(promise.secret) == set(self.observe)
        plain = isinstance(promise, Sibson) or isinstance(self.objective, MaximizeInformation) or not itself
        return Independent(promise.secret) if promise.tells_nothing and plain and not self.robust else promise

    # --- questions --------------------------------------------------------------------------------------------------
    @property
    def law(self) -> Pmf | ProductPmf | Margins | Samples | MarkovChain:
        """The joint law as it was given; a problem that is only declared has none."""
        if self.joint is None:
            raise MismatchError("this problem is declared but not bound: its source has not been read")
        return self.joint

    @property
    def pmf(self) -> Pmf:
        """The joint law as one pmf; independent groups are multiplied out while that is small, else refused."""
        if isinstance(self.law, Samples):
            raise MismatchError(
                f"the {self.law.n} samples {self.law.sample} of this problem are not written out",
                do="Use fewer samples, or a form for samples that are alike.",
            )
        if isinstance(self.law, Margins):
            raise MismatchError(
                "of the columns of this problem only the margins are known, not how they depend",
                do="Give the statistics of all columns together, or a table.",
            )
        return self.law.multiplied if isinstance(self.law, ProductPmf | MarkovChain) else self.law

    @property
    def rows(self) -> int | None:
        """How many rows of a table the law was counted from; None where it was not counted."""
        counted = isinstance(self.source, TableSource) and self.source.prior is None
        if counted and isinstance(self.joint, Pmf):
            return self.joint.total * self.joint.common
        return self.robust.rows if self.robust else None

    @property
    def measures(self) -> tuple[Distortion, ...]:
        """Every distortion that it limits or minimises."""
        goal = (self.objective.measure,) if isinstance(self.objective, MinimizeDistortion) else ()
        return self.limits + goal

    @property
    def transitions(self) -> tuple[tuple[str, str], ...]:
        """The forbidden pairs: a record with the first letter is never released with the second."""
        return tuple(entry for entry in self.forbid if not isinstance(entry, Combination))

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """The forbidden combinations of letters: impossible before the release, never released."""
        return tuple(entry for entry in self.forbid if isinstance(entry, Combination))

    @property
    def kept(self) -> Names:
        """Columns that leave as they are, in the order of documents: they are outputs in every guarantee.

        A kept column that the mechanism looks at is a stratum, and stands after the strata that are called so.
        """
        alone = tuple(n for n in self.keep if n not in self.observe)
        return alone + self.divided_by

    @property
    def divided_by(self) -> Names:
        """Columns that are looked at and leave as they are."""
        return self.strata + tuple(n for n in self.keep if n in self.observe)

    @property
    def dialect(self) -> Dialect:
        """How text files with its records are written."""
        return self.source.dialect if isinstance(self.source, TableSource) else Dialect()

    @property
    def by_margins(self) -> bool:
        """Whether columns have recipes of their own under promises that hold whatever their joint law is."""
        alone = bool(self.each) and not self.kept
        return alone and not any(guarantee.secret for guarantee in self.guarantees)

    @property
    def fresh_output(self) -> str:
        """The name of the output, or of one that no column has, where values of its own are released."""
        taken = self.law.variables
        return self.output or ("Y" if "Y" not in taken else "Y" * (1 + max(map(len, taken))))

    @property
    def inputs(self) -> Names:
        """What the channel reads, in the order of documents: observed columns, strata, a Z that the encoder knows."""
        side = self.side_information
        informed = (side.variable,) if side is not None and side.encoder == "informed" else ()
        leaving = self.kept
        hidden = tuple(n for n in self.observe if n not in leaving)
        return tuple(dict.fromkeys(hidden + self.divided_by + informed))

    @property
    def beside(self) -> Names:
        """What counts beside the released letter in every leakage: kept columns, and a Z that the design counts."""
        side = self.side_information
        return self.kept + ((side.variable,) if side is not None and side.encoder != "uninformed" else ())

    @property
    def views(self) -> tuple[Names, ...]:
        """The views that the output must be independent of."""
        return tuple(promise.view for promise in self.guarantees if isinstance(promise, Independent))

    def named(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Every variable that the problem names, with the place in the file that names it."""
        for key in ("observe", "release", "keep", "strata"):
            for name in getattr(self, key):
                yield ("mechanism", key), name
        for name in self.objective.names:
            yield ("objective", self.objective.sense), name
        for k, guarantee in enumerate(self.guarantees):
            for name in guarantee.secret:
                yield ("guarantee", k, guarantee.key), name
        for k, limit in enumerate(self.limits):
            for name in limit.of:
                yield ("limit", k, "of"), name
        for k, least in enumerate(self.tells, len(self.limits)):
            for name in least.about:
                yield ("limit", k, "information"), name
        if self.side_information:
            yield ("side_information", "variable"), self.side_information.variable

    def variables(self) -> list[str]:
        """The names above, each once, in order of appearance."""
        return list(dict.fromkeys(name for _, name in self.named()))

    def error(self, place: tuple[str | int, ...], message: str, code: str = "") -> ProblemFileError:
        """An error that says where in the problem file it is, as far as that is known."""
        return located(self.file, self.lines, place, message, code)
