"""What `deadlines.py` runs beside designs: answers, noise in one line, explanations, curves of every form, audits."""

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from deadline_cases import BESIDE, HAMMING, OBJECTIVES, Case, chances, designed, joint, problem, promises, table

__all__ = ["COMMANDS"]

ROWS = 200_000


def people(rows: int = ROWS) -> str:
    """Rows of persons with a group, an age and an income."""
    draw = np.random.default_rng(4)
    ages = draw.integers(0, 100, rows).tolist()
    incomes = np.clip(draw.gamma(2.0, 9000.0, rows), 0, 199_999).astype(int).tolist()
    groups = draw.integers(0, 50, rows).tolist()
    lines = [f"{g},{a},{i}" for g, a, i in zip(groups, ages, incomes, strict=True)]
    return "\n".join(["group,age,income", *lines]) + "\n"


def question(said: dict[str, Any], columns: dict[str, dict[str, Any]]) -> str:
    """A query file."""
    return problem({"x": said}).partition("\n")[2] + problem({f"columns.{name}": how for name, how in columns.items()})


def answers() -> Iterator[Case]:
    """Answers about a table: every query with every noise that is drawn exactly."""
    files = {"t.csv": people()}
    ages = {"age": {"grid": {"low": 0, "high": 99, "step": 1}}}
    incomes = {"income": {"grid": {"low": 0, "high": 199_999, "step": 1}}}
    groups = {"group": {"values": [str(v) for v in range(50)]}}
    asked: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "count": ({"query": "count", "where": "age >= 65"}, {}),
        "sum": ({"query": "sum", "column": "income", "letters": {"low": 0, "high": 100_000}, "grid": 1}, {}),
        "mean": ({"query": "mean", "column": "income", "letters": {"low": 0, "high": 100_000}, "grid": 1}, {}),
        "cells 50": ({"query": "histogram", "column": "group"}, groups),
        "cells 5000": ({"query": "histogram", "column": ["group", "age"]}, groups | ages),
        "quantile": ({"query": "quantile", "column": "income", "quantiles": ["1/2", "9/10"]}, incomes),
    }
    for (name, (said, columns)), (noise, parameter) in product(
        asked.items(),
        (
            ("discrete-laplace", "10"),
            ("discrete-gaussian", "100"),
            ("geometric", "9/10"),
            ("randomised-response", "1/10"),
            ("exponential", "1/10"),
        ),
    ):
        text = question(said | {"noise": noise, "parameter": parameter}, columns)
        words = ["answer", "q.toml", "t.csv", "--json", "--quiet", "-o", "out.json"]
        yield Case(f"answer {name} {noise}", files | {"q.toml": text}, words, seconds=False, allowed=(0, 2))
        words = ["audit", "q.toml", "--records", str(ROWS), "--json"]
        yield Case(f"answer audit {name} {noise}", {"q.toml": text}, words, allowed=(0, 2))


def noises() -> Iterator[Case]:
    """`noise` of every kind at every wish, on grids of a thousand to a million points, one column and two."""
    files = {"t.csv": people(20_000)}
    for (kind, wish), step, both in product(
        (
            ("shrinkage", ("--distortion", "90%")),
            ("shrinkage", ("--leakage-bits", "1/2")),
            ("gaussian", ("--distortion", "90%")),
            ("gaussian", ("--leakage-bits", "1/2")),
            ("gaussian", ("--epsilon", "1", "--delta", "1/1000")),
            ("laplace", ("--distortion", "90%")),
            ("laplace", ("--epsilon", "1")),
            ("laplace", ("--leakage-bits", "1/2")),
            ("max-entropy", ("--distortion", "3000")),
            ("minimum-capacity", ("--distortion", "3000")),
            ("best", ("--leakage-bits", "1/2")),
            ("best", ("--distortion", "90%")),
        ),
        (2000, 100, 1),
        (0, 1),
    ):
        words = ["noise", "t.csv", "--column", "income", "--grid", f"0:200000:{step}"]
        words += ["--column", "age", "--grid", "0:100:1"] if both else []
        words += [*wish, "--mechanism", kind, "-o", "out", "--json", "--quiet", "--accept", "small-combinations"]
        name = f"noise {kind} {wish[0][2:]} {200_000 // step} {1 + both}"
        yield Case(name, files, words, allowed=(0, 2, 3))


def explanations() -> Iterator[Case]:
    """`explain` of problems: independence, curves of information, the least whatever the secret is, any other."""
    for n in (24, 100):
        files = {"joint.json": joint({"X": n, "S": 3})}
        for promise, objective in product(("independent", "leakage", "local_dp", "guess"), ("W=X", "distortion")):
            aim, mechanism = OBJECTIVES[objective]
            document: dict[str, Any] = {
                "source": {"pmf": "joint.json"},
                "mechanism": {"observe": ["X"], **mechanism},
                "objective": aim,
                "guarantee": [promises(n)[promise]],
            }
            words = ["explain", "p.toml", "--json"]
            name = f"explain {n} {promise} {objective}"
            yield Case(name, files | {"p.toml": problem(document)}, words, allowed=(0, 2, 3))
        document = {
            "source": {"pmf": "joint.json"},
            "mechanism": {"observe": ["X"], "release": ["X"]},
            "objective": {"minimize": {"leakage": ["S"]}},
            "limit": [{**HAMMING, "at_most": "3/10"}],
        }
        words = ["explain", "p.toml", "--whatever-secret", "--json"]
        yield Case(f"explain {n} whatever", files | {"p.toml": problem(document)}, words, allowed=(0, 2, 3))
    for many in (7, 12, 60, 400):
        names = [f"X{k}" for k in range(many)]
        files = {"prior.json": chances(names, Fraction(3, 10))}
        document = {
            "source": {"pmf": "prior.json"},
            "mechanism": {"observe": names, "output": "Y"},
            "objective": {"maximize": {"information": names}},
            "guarantee": [{"independent": [n]} for n in names],
        }
        for more in ([], ["--samples", "5", "50", "500"], ["--alpha", "1/100"]):
            words = ["explain", "p.toml", "--json", *more]
            name = f"explain bits {many} {len(more)}"
            yield Case(name, files | {"p.toml": problem(document)}, words, allowed=(0, 2, 3))


def further_curves() -> Iterator[Case]:
    """`tradeoff` of noise, records, PRAM, beside kept columns and with preserved margins; few and many points."""
    files = {"joint.json": joint({"X": 60, "K": 4, "S": 3})}
    for (way, more), promise in product(BESIDE.items(), ("leakage", "guess", "contraction")):
        document: dict[str, Any] = {
            "source": {"pmf": "joint.json"},
            "mechanism": {"observe": ["X"], "release": ["X"], **more.get("mechanism", {})},
            "objective": {"minimize": HAMMING},
            "guarantee": [promises(60)[promise]],
            **{key: more[key] for key in ("side_information", "limit") if key in more},
        }
        yield designed(f"curve beside {way} {promise}", document, files, "tradeoff", allowed=(0, 2, 3))
    columns = {f"A{k}": size for k, size in enumerate((12, 9, 7, 6, 5, 4, 3, 2))}
    files = {"t.csv": table(8000, columns)}
    for promise in ("leakage", "guess", "information_privacy"):
        document = {
            "source": {"table": "t.csv"},
            **{f"columns.{name}": {"values": "from-table"} for name in (*columns, "S")},
            "mechanism": {"observe": [*columns, "S"], "release": [*columns], "form": "records"},
            "objective": {"minimize": {"sum": [{"distortion": "hamming", "of": [n]} for n in columns]}},
            "guarantee": [promises(3)[promise]],
        }
        yield designed(f"curve records {promise}", document, files, "tradeoff", allowed=(0, 2, 3))
    files = {"t.csv": people(20_000)}
    for kind, promise in product(
        ("shrinkage", "gaussian", "laplace"),
        ({"leakage": ["income"], "at_most_bits": "1/2"}, {"dalenius": True, "at_most_bits": "1/2"}),
    ):
        document = {
            "source": {"table": "t.csv"},
            "columns.income": {"grid": {"low": 0, "high": 200_000, "step": 10}},
            "mechanism": {"observe": ["income"], "release": ["income"], "form": "noise", "noise": kind},
            "objective": {"minimize": {"distortion": "squared", "of": ["income"]}},
            "guarantee": [promise],
        }
        name = f"curve noise {kind} {next(iter(promise))}"
        yield designed(name, document, files, "tradeoff", allowed=(0, 2, 3))
    for n, form in product((100, 1000), ("pram", "randomised-response", "subset-selection")):
        files = {"joint.json": joint({"X": n, "S": 3})}
        document = {
            "source": {"pmf": "joint.json"},
            "mechanism": {"observe": ["X"], "release": ["X"], "form": form},
            "objective": {"maximize": {"information": ["X"]}},
            "guarantee": [{"local_dp": "1"}],
        }
        yield designed(f"curve {form} {n}", document, files, "tradeoff", allowed=(0, 2, 3))


def audits() -> Iterator[Case]:
    """`audit` of large channels: alone, together, with what people lack, under a distribution with every measure."""
    draw = np.random.default_rng(8)
    for n, m in ((300, 300), (1000, 300), (3000, 20), (20, 3000)):
        counts = draw.integers(1, 50, (n, m))
        rows = [[f"{v}/{int(row.sum())}" for v in row.tolist()] for row in counts]
        channel = {
            "inputs": {"X": [str(v) for v in range(n)]},
            "output": {"Y": [str(v) for v in range(m)]},
            "rows": rows,
        }
        files = {"c.json": json.dumps(channel), "d.json": json.dumps(channel), "prior.json": joint({"X": n, "S": 3})}
        ways: dict[str, list[str]] = {
            "plain": [],
            "unknown": ["--unknown", "2"],
            "together": ["--together", "d.json"],
            "others": ["--together", "d.json", "--people", "other"],
            "secret": ["--together", "d.json", "--prior", "prior.json", "--about", "S"],
            "metrics": ["--prior", "prior.json", "--metrics"],
        }
        for way, more in ways.items():
            words = ["audit", "c.json", "--json", *more]
            yield Case(f"audit {n} {m} {way}", files, words, allowed=(0, 2))


def within_reach() -> Iterator[Case]:
    """Least leakage and rate under promises about pairs of rows, where the limit can be kept and where it cannot."""
    for n, promise, objective, limit in product(
        (24, 100), ("local_dp", "metric", "delta", "contraction"), ("leakage", "rate"), ("3/10", "19/20", "99/100")
    ):
        aim, mechanism = OBJECTIVES[objective]
        document: dict[str, Any] = {
            "source": {"pmf": "joint.json"},
            "mechanism": {"observe": ["X"], **mechanism},
            "objective": aim,
            "guarantee": [promises(n)[promise]],
            "limit": [{**HAMMING, "at_most": limit}],
        }
        files = {"joint.json": joint({"X": n, "S": 3})}
        yield designed(f"reach {n} {promise} {objective} {limit}", document, files, allowed=(0, 2, 3))


def maps() -> Iterator[Case]:
    """Side information with many maps from its values to what is released."""
    for letters, worlds, promise in product((8, 15), (4, 6), ("leakage", "local_dp", "guess")):
        files = {"joint.json": joint({"X": letters, "K": worlds, "S": 3})}
        document: dict[str, Any] = {
            "source": {"pmf": "joint.json"},
            "mechanism": {"observe": ["X"], "release": ["X"]},
            "side_information": {"variable": "K", "encoder": "statistically-informed"},
            "objective": {"minimize": HAMMING},
            "guarantee": [promises(letters)[promise]],
        }
        yield designed(f"maps {letters} {worlds} {promise}", document, files, allowed=(0, 2, 3))


COMMANDS = (answers, noises, explanations, further_curves, audits, within_reach, maps)
"""Groups of cases."""
