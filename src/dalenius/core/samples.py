"""`Samples`: the law of a hidden variable and n samples that are independent and alike given it, never written out."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from dalenius.core.channel import Channel
from dalenius.core.markov import MarkovChain
from dalenius.core.multinomial import count_types
from dalenius.core.pmf import Alphabets, Pmf
from dalenius.core.product_pmf import Margins, ProductPmf, law_of
from dalenius.errors import InputError, MismatchError

__all__ = ["Samples", "joint_of"]


@dataclass(frozen=True)
class Samples:
    r"""p(w, x_1, ..., x_n) = p(w) prod_i k(x_i | w). The name of the kernel's output stands for each of the samples.

    Parameters
    ----------
    hidden : str
        The variable W.
    prior : Pmf
        p(w).
    kernel : Channel
        p(x | w).
    n : int
        How many samples.

    >>> w = Pmf.from_records({"W": ("0", "1")}, [(("0",), "1/2"), (("1",), "1/2")])
    >>> k = Channel({"W": ("0", "1")}, {"X": ("a", "b")}, ((Fraction(1, 2),) * 2,) * 2)
    >>> Samples("W", w, k, 400).names[-1]
    'X400'
    """

    hidden: str
    prior: Pmf
    kernel: Channel
    n: int

    def __post_init__(self) -> None:
        if list(self.prior.variables) != [self.hidden]:
            found = ", ".join(self.prior.variables)
            raise MismatchError(f"the stated distribution should be about {self.hidden!r} alone; it has {found}")
        if list(self.kernel.inputs) != [self.hidden] or len(self.kernel.output) != 1:
            raise MismatchError(f"the kernel should be a recipe from {self.hidden!r} to one sample variable")
        if tuple(self.kernel.inputs[self.hidden]) != tuple(self.prior.variables[self.hidden]):
            raise MismatchError(
                f"{self.hidden!r} has another list of values in the stated distribution than in the kernel"
            )
        count_types(self.n, len(self.letters))  # first: there may be too many samples to name
        if self.hidden in (self.sample, *self.names):
            raise MismatchError(
                f"the samples are named {self.names[0]} to {self.names[-1]}, and so is the hidden variable"
            )

    @property
    def sample(self) -> str:
        """The name of the samples."""
        return next(iter(self.kernel.output))

    @property
    def letters(self) -> tuple[str, ...]:
        """The alphabet of a sample."""
        return tuple(self.kernel.output[self.sample])

    @property
    def names(self) -> list[str]:
        """The names of the samples as columns of a table."""
        sample = self.sample
        return [f"{sample}{i + 1}" for i in range(self.n)]

    @property
    def variables(self) -> Alphabets:
        return {self.hidden: tuple(self.prior.variables[self.hidden]), self.sample: self.letters}

    @property
    def note(self) -> str:
        return self.prior.note

    @property
    def masses(self) -> list[Fraction]:
        """p(w) for every letter of the hidden variable."""
        return [self.prior.probability(**{self.hidden: w}) for w in self.prior.variables[self.hidden]]

    def to_json(self) -> dict[str, Any]:
        model = {"hidden": self.hidden, "prior": self.prior.to_json(), "kernel": self.kernel.to_json(), "n": self.n}
        return {"conditionally_iid": model}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        model = document["conditionally_iid"]
        if set(document) != {"conditionally_iid"} or set(model) != {"hidden", "prior", "kernel", "n"}:
            raise InputError("conditionally_iid has exactly the keys hidden, `prior`, kernel and n")
        if type(model["n"]) is not int:
            raise InputError(f"the number of samples is {model['n']!r}, not an integer")
        prior = Pmf.from_json(model["prior"])
        kernel = Channel.from_json(model["kernel"])
        return cls(str(model["hidden"]), prior, kernel, model["n"])


def joint_of(document: object) -> Pmf | ProductPmf | Margins | Samples | MarkovChain:
    """The law of a design: a joint pmf, independent groups, margins, a Markov chain, or samples alike given another."""
    if isinstance(document, dict) and "markov" in document:
        return MarkovChain.from_json(document)
    if isinstance(document, dict) and "margins" in document:
        return Margins.from_json(document)
    if isinstance(document, dict) and "conditionally_iid" in document:
        return Samples.from_json(document)
    return law_of(document)
