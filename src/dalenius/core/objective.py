"""`Objective`: what is wanted of a release, and distortions, which are wanted small or limited."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from dalenius.core.guarantee import Names, as_names
from dalenius.core.numbers import exact, written
from dalenius.errors import InputError

__all__ = [
    "AtLeast",
    "Distortion",
    "MaximizeInformation",
    "MaximizeInformationOfEach",
    "MinimizeCapacity",
    "MinimizeDistortion",
    "MinimizeLeakage",
    "MinimizeLeakageAndRate",
    "MinimizeRate",
    "MinimizeVariance",
    "Objective",
]


Matrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Objective:
    """What the design makes as large or as small as it can."""

    sense: ClassVar[str] = "minimize"
    unit: ClassVar[str] = "bits"
    as_written: ClassVar[str] = ""
    """How a problem file asks for it."""

    @property
    def names(self) -> Names:
        return ()

    def to_json(self) -> dict[str, Any]:
        raise NotImplementedError


@dataclass(frozen=True)
class _About(Objective):
    """What is told about some columns."""

    about: Names

    def __post_init__(self) -> None:
        object.__setattr__(self, "about", as_names(self.about))

    @property
    def names(self) -> Names:
        return self.about


@dataclass(frozen=True)
class MaximizeInformation(_About):
    """I(W; Y), everything that leaves counted as Y.

    Parameters
    ----------
    about : name or names
        The columns W that the output tells about.

    Examples
    --------
    >>> MaximizeInformation("illness").to_json()
    {'maximize': {'information': ['illness']}}
    """

    sense: ClassVar[str] = "maximize"
    as_written: ClassVar[str] = "maximize = { information = [...] }"

    def to_json(self) -> dict[str, Any]:
        return {"maximize": {"information": list(self.about)}}


@dataclass(frozen=True)
class MaximizeInformationOfEach(_About):
    """sum_j I(X_j; Y_j), what the release of each column tells about that column.

    Parameters
    ----------
    about : name or names
        The columns, each released by itself.

    Examples
    --------
    >>> MaximizeInformationOfEach(["visits", "plan"]).names
    ('visits', 'plan')
    """

    sense: ClassVar[str] = "maximize"
    as_written: ClassVar[str] = "maximize = { information_of_each = [...] }"

    def to_json(self) -> dict[str, Any]:
        return {"maximize": {"information_of_each": list(self.about)}}


@dataclass(frozen=True)
class MinimizeLeakage(_About):
    """I(S; Y); with side information Z of the user, I(S; Y, Z).

    Parameters
    ----------
    about : name or names
        The secret S.

    Examples
    --------
    >>> MinimizeLeakage("income").to_json()
    {'minimize': {'leakage': ['income']}}
    """

    as_written: ClassVar[str] = "minimize = { leakage = [...] }"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.about:
            raise InputError("nothing is private: name the columns whose leakage is minimised")

    def to_json(self) -> dict[str, Any]:
        return {"minimize": {"leakage": list(self.about)}}


@dataclass(frozen=True)
class MinimizeLeakageAndRate(MinimizeLeakage):
    """theta I(S; Y) + (1 - theta) I(X; Y): the frontier of what leaks and what must be sent (003, errata S3, S4).

    Parameters
    ----------
    about : name or names
        The secret S.
    theta : Fraction
        The share of the leakage, from 0 to 1.

    Examples
    --------
    >>> MinimizeLeakageAndRate("income", "1/4").theta
    Fraction(1, 4)
    """

    theta: Fraction = Fraction(1, 2)
    as_written: ClassVar[str] = "minimize = { leakage = [...], rate = true, theta = ... }"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "theta", exact(self.theta, "theta"))
        if not 0 <= self.theta <= 1:
            raise InputError(f"theta is {written(self.theta)}; it is a share from 0 to 1")

    def to_json(self) -> dict[str, Any]:
        return {"minimize": {"leakage": list(self.about), "rate": True, "theta": written(self.theta)}}


@dataclass(frozen=True)
class MinimizeRate(Objective):
    """I(X; Y) for everything X that the mechanism observes; given Z where the user has it and the encoder knows.

    Examples
    --------
    >>> MinimizeRate().to_json()
    {'minimize': {'rate': True}}
    """

    as_written: ClassVar[str] = "minimize = { rate = true }"

    def to_json(self) -> dict[str, Any]:
        return {"minimize": {"rate": True}}


@dataclass(frozen=True)
class MinimizeCapacity(Objective):
    """max I(X; Y) over every law of the observed columns X: what is told at most, whatever the records are (004).

    Examples
    --------
    >>> MinimizeCapacity().to_json()
    {'minimize': {'capacity': True}}
    """

    as_written: ClassVar[str] = "minimize = { capacity = true }"

    def to_json(self) -> dict[str, Any]:
        return {"minimize": {"capacity": True}}


@dataclass(frozen=True)
class MinimizeVariance(Objective):
    """Variance of the unbiased estimator of the distribution of these columns.

    Parameters
    ----------
    of : name or names
        The columns whose shares are estimated.

    Examples
    --------
    >>> MinimizeVariance("illness").unit
    'variance'
    """

    of: Names
    unit: ClassVar[str] = "variance"
    as_written: ClassVar[str] = "minimize = { variance = [...] }"

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", as_names(self.of))

    @property
    def names(self) -> Names:
        return self.of

    def to_json(self) -> dict[str, Any]:
        return {"minimize": {"variance": list(self.of)}}


@dataclass(frozen=True)
class Distortion:
    """Expected distortion between columns and what is released for them: a name, a matrix of numbers, or a sum.

    `classes` are letters that count as one, so that a function of the record is preserved (hamming alone); `parts`
    are the summands of a sum, each times its `weight`; `p` belongs to the norm (E|Y - x|^p)^(1/p) of added noise.
    "lost" is 1 where what is released is not in the class, whatever the record has; `keeps` says which value keeps
    which share of its rows by it (`[[limit]] keep_rows`).

    Parameters
    ----------
    distortion : str or matrix
        "hamming", "squared", "absolute", "erasure", "kl", "norm", "lost", "sum", or a number for each pair.
    of : name or names
        The columns that are compared with what is released for them.
    at_most : Fraction, optional
        A limit of the expectation.
    classes, weight, parts, p, keeps : optional
        As said above.

    Examples
    --------
    >>> Distortion.by(lambda x, y: abs(int(x) - int(y)), ["0", "2"], ["0", "1", "2"], of=("X",)).distortion[0]
    (Fraction(0, 1), Fraction(1, 1), Fraction(2, 1))
    """

    distortion: str | Matrix
    of: Names
    at_most: Fraction | None = None
    classes: tuple[Names, ...] = ()
    weight: Fraction = Fraction(1)
    parts: tuple["Distortion", ...] = ()
    p: str = ""
    keeps: tuple[str, Fraction] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", as_names(self.of))
        if self.at_most is not None:
            object.__setattr__(self, "at_most", exact(self.at_most, "at_most"))

    @classmethod
    def by(
        cls,
        function: Callable[..., Any],
        letters: Sequence[Any],
        released: Sequence[Any],
        *,
        of: Names,
        at_most: Fraction | None = None,
    ) -> Self:
        """The matrix of a function of a letter (or tuple of letters) and a released one."""
        matrix = tuple(tuple(exact(function(letter, y), "a distortion") for y in released) for letter in letters)
        return cls(matrix, of, at_most)

    @classmethod
    def sum_of(cls, parts: Iterable["Distortion"], at_most: Fraction | None = None) -> Self:
        """The weighted sum of several, for columns of different kinds."""
        parts = tuple(parts)
        return cls("sum", tuple(dict.fromkeys(n for part in parts for n in part.of)), at_most, parts=parts)

    @property
    def summands(self) -> tuple["Distortion", ...]:
        """The parts of a sum; of any other distortion itself."""
        return self.parts or (self,)

    def to_json(self) -> dict[str, Any]:
        limit = {} if self.at_most is None else {"at_most": written(self.at_most)}
        if self.parts:
            return {"sum": [part.to_json() for part in self.parts], **limit}
        d = (
            self.distortion
            if isinstance(self.distortion, str)
            else [[written(value) for value in r] for r in self.distortion]
        )
        classes = {"classes": [list(c) for c in self.classes]} if self.classes else {}
        weight = {"weight": written(self.weight)} if self.weight != 1 else {}
        norm = {"p": self.p} if self.p else {}
        keeps = {"keeps": {"value": self.keeps[0], "share": written(self.keeps[1])}} if self.keeps else {}
        return {"distortion": d, "of": list(self.of), **norm, **classes, **weight, **limit, **keeps}


@dataclass(frozen=True)
class AtLeast:
    """So many bits that everything that leaves must tell about some columns: `[[limit]] information = [...]`.

    Parameters
    ----------
    about : name or names
        The columns.
    at_least_bits : Fraction
        How much is told about them at least.
    """

    about: Names
    at_least_bits: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "about", as_names(self.about))
        object.__setattr__(self, "at_least_bits", exact(self.at_least_bits, "at_least_bits"))

    def to_json(self) -> dict[str, Any]:
        return {"information": list(self.about), "at_least_bits": written(self.at_least_bits)}


@dataclass(frozen=True)
class MinimizeDistortion(Objective):
    """The expected distortion.

    Parameters
    ----------
    measure : Distortion
        What is made small.

    Examples
    --------
    >>> MinimizeDistortion(Distortion("hamming", "plan")).to_json()
    {'minimize': {'distortion': 'hamming', 'of': ['plan']}}
    """

    measure: Distortion
    unit: ClassVar[str] = "distortion"
    as_written: ClassVar[str] = "minimize = { distortion = ..., of = [...] }"

    @property
    def names(self) -> Names:
        return self.measure.of

    def to_json(self) -> dict[str, Any]:
        return {"minimize": self.measure.to_json()}
