"""How long until a wide table is released record by record, proved against every mechanism, and checked again?

Two tables that are not shipped; name their files. Adult (UCI): 11 columns, 32,561 rows, the secret is income. ACS 2024,
New York: 12 or 13 columns, 210,150 rows, the secret is an income of 50,000 or more. CPU seconds of one process.

    zero        nothing about the secret, least change of fields
    preserving  the same, and the whole joint law of the released columns stays
    BITS        at most so many bits (adult); several are points of one curve, which share what the search knows
    found       until value and bound were proved by the kernel; for a point of the curve since the one before
    checked     the design file proved again from its text, by the standard library alone
    resampled   for comparison: the record is drawn anew from the table with some probability, whatever the class; the
                changed fields at the same leakage (by bisection, in floats)

    python benchmarks/records.py adult FILE [zero preserving 1/20 1/10 ...]
    python benchmarks/records.py acs FILE [12 | 13]
"""

import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
from reporting import save

from dalenius.core import Design, Distortion, Independent, Leakage, MinimizeDistortion, Pmf, Problem
from dalenius.kernel import check
from dalenius.mechanisms.records.design import design, tradeoff
from dalenius.mechanisms.records.wide import Wide

CURVE = ("479/1000", "367/1000", "147/500", "221/1000", "4/25", "51/500", "51/1000", "77/5000", "39/10000", "1/1000")
WORK = 10**12
SECONDS = 1200.0  # for a transport between 177,180 records, to its end


def adult(path: str) -> tuple[pd.DataFrame, np.ndarray]:
    """The columns of Adult with age, hours and capital in classes, and whether the income is above 50,000."""
    raw = pd.read_csv(path, skipinitialspace=True)
    table = pd.DataFrame(
        {
            "age": pd.cut(raw.Age, [0, 25, 35, 45, 55, 65, 200], labels=False),
            **{
                c: raw[c]
                for c in ("Workclass", "Education", "MaritalStatus", "Occupation", "Relationship", "Race", "Sex")
            },
            "hours": pd.cut(raw.HoursPerWeek, [0, 20, 35, 40, 50, 200], labels=False),
            "NativeCountry": raw.NativeCountry,
            "capital": (raw.CapitalGain > 0) * 1 + (raw.CapitalLoss > 0) * 2,
        }
    )
    return table, (raw.Income.str.strip() == ">50K").to_numpy().astype(np.int64)


def acs(path: str, columns: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Twelve columns of the persons of ACS, or thirteen with the area, and whether the income is 50,000 or more."""
    raw = pd.read_parquet(path)

    def cut(column: str, ends: list[int]) -> pd.Series:
        return pd.cut(raw[column].astype(float), ends, labels=False).fillna(-1).astype(int)

    found = {
        "age": cut("AGEP", [-1, *range(4, 95, 5), 200]),
        "hours": cut("WKHP", [-1, 20, 34, 39, 40, 50, 200]),
    }
    for name in ("SEX", "RAC1P", "HISP", "CIT", "SCHL", "MAR", "ESR", "COW", "JWTRNS", "PRIVCOV"):
        found[name] = raw[name].astype(float).fillna(-1).astype(int)
    if columns == 13:
        found["PUMA"] = raw.PUMA.astype(int)
    return pd.DataFrame(found), (raw.PINCP.astype(float).fillna(-1) >= 50_000).to_numpy().astype(np.int64)


def problem(table: pd.DataFrame, secret: np.ndarray) -> Problem:
    """Release all columns and tell nothing about the secret."""
    coded = [pd.factorize(table[name], sort=True) for name in table]
    letters = {name: tuple(map(str, values)) for name, (_, values) in zip(table, coded, strict=True)}
    codes = np.column_stack([*(codes for codes, _ in coded), secret])
    names = tuple(letters)
    missing = {
        name: (*values, "?") if (codes[:, j] < 0).any() else values for j, (name, values) in enumerate(letters.items())
    }
    codes = np.where(codes < 0, [[len(letters[n]) for n in names] + [0]], codes)
    joint = Pmf.from_counts({**missing, "secret": ("0", "1")}, codes, [1] * len(codes))
    return Problem(
        observe=(*names, "secret"),
        release=names,
        form="records",
        objective=MinimizeDistortion(Distortion.sum_of(Distortion("hamming", (name,)) for name in names)),
        guarantees=(Independent(("secret",)),),
        joint=joint,
    )


def resampled(asked: Problem, bits: float) -> float:
    """Changed fields where every record is drawn anew from the table with one probability, at this leakage."""
    wide = Wide.of(asked)
    by_class = wide.by_record / wide.total
    prior = by_class.sum(axis=0)
    law = by_class.sum(axis=1)
    far = sum(1 - float((np.bincount(column, law) ** 2).sum()) for column in wide.records.T)

    def told(part: float) -> float:
        t = (1 - part) * by_class + part * np.outer(law, prior)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.where(t > 0, t * np.log2(t / np.outer(t.sum(axis=1), prior)), 0.0).sum())

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if told(middle) <= bits else (middle, high)
    return far * high


def designs(asked: Problem, wanted: list[str]) -> Iterator[tuple[str, Design]]:
    """One design after the other; the points of the curve share what the search knows."""
    for word in wanted:
        if word in ("zero", "preserving"):
            yield word, design(replace(asked, preserve_marginals=word == "preserving"), seconds=SECONDS)
    limits = [Fraction(word) for word in wanted if word not in ("zero", "preserving")]
    yield from zip(map(str, limits), tradeoff(asked, limits), strict=True)


def main() -> None:
    which, path, *wanted = sys.argv[1:]
    table, secret = adult(path) if which == "adult" else acs(path, int((wanted or ["12"])[0]))
    asked = problem(table, secret)
    wide = Wide.of(asked)
    print(f"{which}: {len(secret):,} rows, {len(table.columns)} columns, {len(wide.records):,} different records")
    print(f"{'what':>12} {'value':>14} {'gap':>9} {'bits':>10} {'found':>8} {'checked':>8} {'MB':>6} {'resampled':>10}")
    lines = []
    begun = time.process_time()
    for name, found in designs(asked, (wanted or ["zero", "preserving", *CURVE]) if which == "adult" else ["zero"]):
        seconds = time.process_time() - begun
        begun = time.process_time()
        check(found.text, WORK)
        again = time.process_time() - begun
        told = float(Fraction(str(found.proved[0]["leakage_bits"])))
        rival = resampled(asked, told) if isinstance(found.problem.guarantees[0], Leakage) else None
        gap = float(found.gap / found.value) if found.value else 0.0
        print(
            f"{name:>12} {float(found.value):14.9f} {gap:9.2e} {told:10.6f} {seconds:8.1f} {again:8.2f} "
            f"{len(found.text) / 1e6:6.2f} {'' if rival is None else f'{rival:10.3f}'}",
            flush=True,
        )
        exact = str(found.value) if not found.gap else None
        lines.append(
            {
                "what": name,
                "value": float(found.value),
                "exact": exact,
                "gap": gap,
                "bits": told,
                "found_seconds": seconds,
                "checked_seconds": again,
                "megabytes": len(found.text) / 1e6,
                "resampled": rival,
            }
        )
        begun = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"most memory {memory:.2f} GB")
    question = (__doc__ or "").splitlines()[0]
    save(f"records_{which}", question, lines, rows=len(secret), columns=len(table.columns), gigabytes=memory)


if __name__ == "__main__":
    main()
