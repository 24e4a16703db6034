"""Designs to report about: solved ones, and made-up ones whose figures no family produces yet."""

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dalenius.core import (
    Certificate,
    Channel,
    Contraction,
    Dalenius,
    Design,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MaximizeInformation,
    Pmf,
    Problem,
    TableSource,
    WorstCaseLeakage,
)
from dalenius.evidence import Audit, Finding
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.testing import disclosure, example2, two_binary, xor

EVIL = "<script>alert(1)</script>"
FIGURES: dict[str, Any] = {
    "leakage_bits": "0.048712345",
    "worst_letter_bits": "0.1131",
    "worst_letter": 1,
    "odds_nats": "0.3002",
    "guess_before": "0.51279",
    "guess_after": "0.53121",
    "with_one_more_bits": {"region": "0.1101", "kind": "0.0512", "year": "0"},
}


def made_up(**changes: Any) -> Design:
    """60 inputs, 6 letters, every kind of promise, and a letter that would like to be a script."""
    alphabets = {
        "region": tuple(f"region {k}" for k in range(10)),
        "kind": ("house", "flat", EVIL),
        "year": ("2019", "2020"),
        "secret": ("no", "yes"),
    }
    # Counts that occur nowhere else, so that a test can look for them; one input in ten does not occur.
    records = [(x, 0 if x[0] == "region 9" else 7001 + 13 * k) for k, x in enumerate(product(*alphabets.values()))]
    letters = ("north", EVIL, "east", "west", "(missing)", "the capital and all of its suburbs")
    rows = tuple(tuple(Fraction(1 + (x * (y + 2)) % 7, 1) for y in range(6)) for x in range(60))
    channel = Channel(
        {n: alphabets[n] for n in ("region", "kind", "year")},
        {"Y": letters},
        tuple(tuple(v / sum(row) for v in row) for row in rows),
    )
    about = ("secret",)
    problem = Problem(
        joint=Pmf.from_records(alphabets, records),
        observe=("region", "kind", "year"),
        output="Y",
        objective=MaximizeInformation(("region",)),
        guarantees=(
            Leakage(about, Fraction(1, 20)),
            WorstCaseLeakage(about, Fraction(1, 5)),
            InformationPrivacy(("kind", "secret"), Fraction(1, 2)),
            LocalDP(Fraction(1)),
            Dalenius(Fraction(1, 10)),
            Contraction(Fraction(1, 5)),
        ),
        source=TableSource("/very/private/patients_2024.csv"),
    )
    given: dict[str, Any] = {
        "problem": problem,
        "channel": channel,
        "value": Fraction(3, 10),
        "bound": Fraction(37, 100),
        "certificate": Certificate(),
        "method": "made up",
        "proved": (FIGURES, FIGURES, FIGURES | {"odds_nats": None}, {"epsilon_nats": "0.9701"}, {}, {}),
        "remarks": ("the values of region were taken from the table itself",),
    }
    return Design(**(given | changes))


def nothing_to_tell() -> Problem:
    """X protected as a whole: one letter, value 0."""
    pmf = Pmf.from_records({"X": ("a", "b"), "W": ("0", "1")}, [(("a", "0"), 3), (("a", "1"), 1), (("b", "1"), 4)])
    return disclosure(pmf, ["X"], ["W"], [["X"]])


def kept() -> Problem:
    """Two fair bits and their sum, next to a year that is independent of both and leaves as it is."""
    alphabets = {"X1": ("0", "1"), "X2": ("0", "1"), "year": ("2019", "2020"), "W": ("0", "1")}
    records = [((a, b, y, str(int(a) ^ int(b))), 1) for a, b, y in product("01", "01", alphabets["year"])]
    return Problem(
        joint=Pmf.from_records(alphabets, records),
        observe=("X1", "X2"),
        output="Y",
        keep=("year",),
        objective=MaximizeInformation(("W",)),
        guarantees=(Independent(("X1",)), Independent(("X2",))),
    )


DESIGNS = {
    "xor": lambda: disclose(xor()),
    "example2": lambda: disclose(example2()),
    "two_binary": lambda: disclose(two_binary(["37/100", "14/100", "20/100", "29/100"], ["1/3", "1/2", "3/4", "1/5"])),
    "one value": lambda: disclose(nothing_to_tell()),
    "kept": lambda: disclose(kept()),
    "made up": made_up,
}


@pytest.fixture(scope="session", params=DESIGNS)
def design(request: pytest.FixtureRequest) -> Design:
    return DESIGNS[request.param]()


@pytest.fixture(scope="session")
def designs() -> dict[str, Design]:
    return {name: birth() for name, birth in DESIGNS.items()}


@pytest.fixture
def fine() -> Audit:
    findings = (Finding("released values follow the recipe", 1.0, 5e-7, "statistic 1.2 with 3 degrees"),)
    leakage = ({"view": ["X1"], "seen_bits": 0.000123456, "expected_by_chance_bits": 0.00007},)
    return Audit(12345, True, 1e-6, findings, leakage)


@pytest.fixture
def against() -> Audit:
    bad = Finding("how often each value was released", 3e-12, 5e-7, f"largest deviation: {EVIL}, seen 1, expected 9.0")
    return Audit(54321, False, 1e-6, (Finding("as many rows as the original", 1.0, 1e-6, "5 of 5"), bad))
