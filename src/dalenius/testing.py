"""Small named problems and hypothesis strategies, shipped so that a new family can be tested like the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from dalenius.core import (
    Channel,
    Distortion,
    Independent,
    Leakage,
    MaximizeInformation,
    MinimizeDistortion,
    MinimizeLeakage,
    Pmf,
    Problem,
    Samples,
)
from dalenius.core.problem import Mismatch

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = [
    "alike",
    "binary_tradeoff",
    "contracted_bit",
    "disclosure",
    "example2",
    "joints",
    "nearby_bit",
    "noisy_dice",
    "self_disclosure",
    "tradeoff",
    "two_binary",
    "xor",
]


def alike(prior: Sequence[Any], kernel: Sequence[Sequence[Any]], n: int) -> Problem:
    """n samples X, independent and alike given W; each single one is protected (000, section IV)."""
    hidden = {"W": tuple(str(w) for w in range(len(prior)))}
    letters = {"X": tuple(str(x) for x in range(len(kernel[0])))}
    law = Pmf.from_records(hidden, [((w,), p) for w, p in zip(hidden["W"], prior, strict=True)])
    rows = tuple(tuple(Fraction(k) for k in row) for row in kernel)
    return disclosure(Samples("W", law, Channel(hidden, letters, rows), n), ["X"], ["W"], [["X"]])


def disclosure(
    joint: Pmf | Samples, samples: Sequence[str], about: Sequence[str], views: Sequence[Sequence[str]]
) -> Problem:
    """Tell the most about some variables with an output independent of every view."""
    return Problem(
        joint=joint,
        observe=tuple(samples),
        output="Y",
        objective=MaximizeInformation(tuple(about)),
        guarantees=tuple(Independent(tuple(view)) for view in views),
    )


def _binary(n: int) -> dict[str, tuple[str, ...]]:
    return {f"X{number}": ("0", "1") for number in range(1, n + 1)}


def xor() -> Problem:
    """W = X1 xor X2 of two fair bits: one whole bit about W, nothing about either sample."""
    records = [((str(first), str(second), str(first ^ second)), "1/4") for first, second in product((0, 1), repeat=2)]
    return disclosure(Pmf.from_records({**_binary(2), "W": ("0", "1")}, records), ["X1", "X2"], ["W"], [["X1"], ["X2"]])


def example2() -> Problem:
    """Paper 000, Example 2: W seen through a BSC(2/3) and a BEC(1/2); value 0.0134208288992315 bits."""
    records = []
    for w, x1, x2 in product("01", "01", "0e1"):
        flip = Fraction(1, 3) if w == x1 else Fraction(2, 3)
        erased = Fraction(1, 2) if x2 == "e" or x2 == w else Fraction(0)
        records.append(((x1, x2, w), Fraction(1, 2) * flip * erased))
    pmf = Pmf.from_records({"X1": ("0", "1"), "X2": ("0", "e", "1"), "W": ("0", "1")}, records)
    return disclosure(pmf, ["X1", "X2"], ["W"], [["X1"], ["X2"]])


def two_binary(p: Sequence[Any], w: Sequence[Any]) -> Problem:
    """Two binary samples with p(x1 x2) in the order 00, 01, 10, 11 and p(W = 0 | x1 x2)."""
    records = []
    for (first, second), mass, chance in zip(product("01", repeat=2), map(Fraction, p), map(Fraction, w), strict=True):
        records += [((first, second, "0"), mass * chance), ((first, second, "1"), mass * (1 - chance))]
    return disclosure(Pmf.from_records({**_binary(2), "W": ("0", "1")}, records), ["X1", "X2"], ["W"], [["X1"], ["X2"]])


def self_disclosure(marginal: Sequence[Any], n: int) -> Problem:
    """n independent, alike samples that tell about themselves (000, section V)."""
    letters = tuple(str(number) for number in range(len(marginal)))
    records = []
    for outcome in product(range(len(marginal)), repeat=n):
        mass = Fraction(1)
        for letter in outcome:
            mass *= Fraction(marginal[letter])
        records.append((tuple(str(letter) for letter in outcome), mass))
    names = [f"X{number}" for number in range(1, n + 1)]
    return disclosure(
        Pmf.from_records(dict.fromkeys(names, letters), records), names, names, [[name] for name in names]
    )


def tradeoff(counts: Any, distortion: Any, at_most: Any, *, view: str = "public") -> Problem:
    """Least leakage about H from a release of R, with counts[r][h][z] records and a limit on the distortion of R."""
    sizes = (len(counts), len(counts[0]), len(counts[0][0]))
    alphabets = {name: tuple(map(str, range(many))) for name, many in zip("RHZ", sizes, strict=True)}
    cells = [((str(r), str(h), str(z)), counts[r][h][z]) for r, h, z in product(*map(range, sizes))]
    matrix = (
        distortion
        if isinstance(distortion, str)
        else tuple(tuple(Fraction(value) for value in row) for row in distortion)
    )
    square = isinstance(matrix, str) or len(matrix[0]) == len(matrix)
    return Problem(
        joint=Pmf.from_records(alphabets, [cell for cell in cells if cell[1]]),
        observe=("R",) if view == "public" else ("R", "H"),
        objective=MinimizeLeakage(("H",)),
        limits=(Distortion(matrix, ("R",), Fraction(at_most)),),
        **({"release": ("R",)} if square else {"output": "Y"}),
    )


def binary_tradeoff(p: Any, at_most: Any) -> Problem:
    """Paper 004, Example 1: a fair bit S, seen as X through a BSC(p), released under a Hamming limit."""
    flip = Fraction(p)
    records = [((s, x), (flip if s != x else 1 - flip) / 2) for s in "01" for x in "01"]
    joint = Pmf.from_records({"S": ("0", "1"), "X": ("0", "1")}, [record for record in records if record[1]])
    limits = (Distortion("hamming", ("X",), Fraction(at_most)),)
    return Problem(joint=joint, observe=("X",), release=("X",), objective=MinimizeLeakage(("S",)), limits=limits)


def nearby_bit(p: Any, at_most_bits: Any, **ball: Any) -> Problem:
    """A fair bit S behind a BSC(p), released with the least errors while few bits leak under every law of a ball."""
    base, (kind, radius) = binary_tradeoff(p, 1), next(iter(ball.items()))
    return replace(
        base,
        objective=MinimizeDistortion(Distortion("hamming", ("X",))),
        guarantees=(Leakage(("S",), Fraction(at_most_bits)),),
        limits=(),
        robust=Mismatch(kind, Fraction(radius), ball.get("rows")),
    )


def joints(
    sizes: Sequence[int] = (2, 2), about: int = 2, *, zeros: bool = True, largest: int = 50
) -> SearchStrategy[Problem]:
    """Disclosure problems with random counts: samples of these alphabet sizes and a W of so many letters."""
    from hypothesis import strategies as st

    names = [f"X{number}" for number in range(1, len(sizes) + 1)]
    alphabets = {name: tuple(str(letter) for letter in range(many)) for name, many in zip(names, sizes, strict=True)}
    alphabets["W"] = tuple(str(value) for value in range(about))
    cells = list(product(*alphabets.values()))
    count = st.integers(min_value=0 if zeros else 1, max_value=largest)

    def build(counts: list[int]) -> Problem:
        joint = Pmf.from_records(alphabets, zip(cells, counts, strict=True))
        return disclosure(joint, names, ["W"], [[name] for name in names])

    return st.lists(count, min_size=len(cells), max_size=len(cells)).filter(any).map(build)


def noisy_dice(at_most: str = "3/2", kind: str = "shrinkage", **sections: Any) -> Problem:
    """A die of ten faces released with noise of a squared error of at most this; further sections replace these."""
    return Problem.from_document(
        {
            "mechanism": {"observe": ["X"], "release": ["X"], "form": "noise", "noise": kind},
            "objective": {"minimize": {"leakage": ["X"]}},
            "limit": [{"distortion": "squared", "of": ["X"], "at_most": at_most}],
            **sections,
        },
        joint=Pmf.from_records({"X": tuple("0123456789")}, [((x,), 1) for x in "0123456789"]),
    )


def contracted_bit(at_most: str) -> Problem:
    """A fair bit released with the least errors while at most this share of any information passes."""
    return Problem.from_document(
        {
            "mechanism": {"observe": ["X"], "release": ["X"]},
            "objective": {"minimize": {"distortion": "hamming", "of": ["X"]}},
            "guarantee": [{"contraction": at_most}],
        },
        joint=Pmf.from_records({"X": ("0", "1")}, [(("0",), 1), (("1",), 1)]),
    )
