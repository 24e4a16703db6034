"""Commands whose search would go on for longer than they are given: what `deadlines.py` runs."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

__all__ = ["GROUPS", "Case"]


@dataclass
class Case:
    """One command with the files that it reads."""

    name: str
    files: dict[str, str]
    words: list[str]
    seconds: bool = True
    allowed: tuple[int, ...] = (0,)


def toml(value: Any) -> str:
    """A value of a problem file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def problem(document: dict[str, Any]) -> str:
    """A problem file."""
    lines = []
    for section, values in document.items():
        for one in values if isinstance(values, list) else [values]:
            lines.append(f"[[{section}]]" if isinstance(values, list) else f"[{section}]")
            lines += [f"{key} = {toml(value)}" for key, value in one.items()]
    return "\n".join(lines) + "\n"


def joint(alphabets: dict[str, int], seed: int = 1, tied: bool = True) -> str:
    """Counts of every combination; S depends on X."""
    draw = np.random.default_rng(seed)
    names = list(alphabets)
    cells = []
    for at in product(*map(range, alphabets.values())):
        near = 1 + 3 * (at[0] * alphabets[names[-1]] // alphabets[names[0]] == at[-1]) if tied else 1
        cells.append(
            {name: str(v) for name, v in zip(names, at, strict=True)} | {"p": int(near * draw.integers(1, 50))}
        )
    return json.dumps({"variables": {n: [str(v) for v in range(k)] for n, k in alphabets.items()}, "pmf": cells})


def promises(n: int) -> dict[str, dict[str, Any]]:
    """Each promise once, about S or about the row X of n values."""
    line = [[str(Fraction(abs(a - b), 4)) for b in range(n)] for a in range(n)]
    return {
        "independent": {"independent": ["S"]},
        "local_dp": {"local_dp": "1"},
        "metric": {"local_dp": "1", "metric": line},
        "delta": {"local_dp": "1", "delta": "1/100"},
        "information_privacy": {"information_privacy": ["S"], "epsilon": "1/4"},
        "leakage": {"leakage": ["S"], "at_most_bits": "1/100"},
        "worst_case_leakage": {"worst_case_leakage": ["S"], "at_most_bits": "1/20"},
        "dalenius": {"dalenius": True, "at_most_bits": "1/10"},
        "contraction": {"contraction": "1/5"},
        "guess": {"guess": ["S"], "times": "21/20"},
        "maximal_leakage": {"maximal_leakage": True, "at_most_bits": "4/5"},
        "total_variation": {"total_variation": ["S"], "at_most": "1/20"},
        "sibson": {"sibson": ["S"], "order": "2", "at_most_bits": "1/50"},
    }


HAMMING = {"distortion": "hamming", "of": ["X"]}
FRESH, SAME = {"output": "Y"}, {"release": ["X"]}
OBJECTIVES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "W=S": ({"maximize": {"information": ["S"]}}, FRESH),
    "W=X": ({"maximize": {"information": ["X"]}}, FRESH),
    "own": ({"maximize": {"information": ["X"]}}, SAME | {"allow_inverted": True}),
    "distortion": ({"minimize": HAMMING}, SAME),
    "leakage": ({"minimize": {"leakage": ["S"]}}, SAME),
    "rate": ({"minimize": {"rate": True}}, SAME),
    "variance": ({"minimize": {"variance": ["X"]}}, FRESH),
}


def designed(name: str, document: dict[str, Any], files: dict[str, str], verb: str = "solve", **more: Any) -> Case:
    """`solve` of a problem."""
    return Case(name, files | {"p.toml": problem(document)}, [verb, "p.toml", "-o", "out", "--quiet", "--json"], **more)


def matrices() -> Iterator[Case]:
    """Every promise with every objective."""
    for n in (24, 100):
        files = {"joint.json": joint({"X": n, "S": 3})}
        for promise, words in promises(n).items():
            for objective, (aim, mechanism) in OBJECTIVES.items():
                document = {
                    "source": {"pmf": "joint.json"},
                    "mechanism": {"observe": ["X"], **mechanism},
                    "objective": aim,
                    "guarantee": [words],
                }
                if objective in ("leakage", "rate"):
                    document["limit"] = [{**HAMMING, "at_most": "9/20" if objective == "rate" else "3/10"}]
                yield designed(f"matrix {n} {promise} {objective}", document, files, allowed=(0, 2, 3))


ABOUT = ("independent", "information_privacy", "leakage", "worst_case_leakage", "guess", "total_variation", "sibson")


BESIDE: dict[str, dict[str, Any]] = {
    "keep": {"mechanism": {"keep": ["K"]}},
    "strata": {"mechanism": {"strata": ["K"]}},
    "informed": {"side_information": {"variable": "K", "encoder": "informed"}},
    "statistically": {"side_information": {"variable": "K", "encoder": "statistically-informed"}},
    "preserved": {"mechanism": {"preserve_marginals": True}},
    "forbid": {"mechanism": {"forbid": [["0", "1"], ["3", "9"]], "freeze": ["5"]}},
    "rows": {"limit": [{"keep_rows": "1/2"}]},
}
"""What stands beside a column X: K as it is, as strata or as side information, and limits of its values."""


def beside() -> Iterator[Case]:
    """Kept columns, strata, side information, robust, forbidden transitions, preserved margins, kept rows."""
    n = 60
    files = {"joint.json": joint({"X": n, "K": 4, "S": 3})}
    ways: dict[str, dict[str, Any]] = {
        **BESIDE,
        "robust": {"robust": {"total_variation": "1/20"}},
        "confidence": {"robust": {"confidence": "95%", "rows": 2000}},
    }
    for way, more in ways.items():
        for promise in (*ABOUT, "local_dp", "maximal_leakage", "dalenius", "contraction"):
            for objective in ("distortion", "leakage") if promise in ("leakage", "guess") else ("distortion",):
                if way in ("robust", "confidence") and promise not in ("leakage", "contraction", "local_dp"):
                    continue
                aim, mechanism = OBJECTIVES[objective]
                said = dict(promises(n)[promise])
                if promise == "local_dp" and way in ("keep", "strata"):
                    said["given"] = ["K"]
                document: dict[str, Any] = {
                    "source": {"pmf": "joint.json"},
                    "mechanism": {"observe": ["X"], **mechanism, **more.get("mechanism", {})},
                    "objective": aim,
                    "guarantee": [said],
                    "limit": [*more.get("limit", [])],
                    **{key: more[key] for key in ("side_information", "robust") if key in more},
                }
                if objective == "leakage":
                    document["limit"].append({**HAMMING, "at_most": "3/10"})
                if not document["limit"]:
                    del document["limit"]
                yield designed(f"beside {way} {promise} {objective}", document, files, allowed=(0, 2, 3))


def table(rows: int, columns: dict[str, int], seed: int = 3, secret: int = 2) -> str:
    """Rows of dependent columns and a secret S."""
    draw = np.random.default_rng(seed)
    kind = draw.integers(0, 5, rows)
    made = {name: (kind * k // 5 + draw.geometric(min(0.9, 3 / k), rows)) % k for name, k in columns.items()}
    noisy = (kind + draw.integers(0, 3, rows)) % 5 * secret // 5
    lines = [",".join([*columns, "S"])]
    lines += [",".join(map(str, row)) for row in zip(*made.values(), noisy, strict=True)]
    return "\n".join(lines) + "\n"


def records() -> Iterator[Case]:
    """Whole records of a wide table under every promise."""
    columns = {f"A{k}": size for k, size in enumerate((12, 9, 7, 6, 5, 4, 3, 2))}
    for secret in (2, 5):
        files = {"t.csv": table(8000, columns, secret=secret)}
        for promise in ("independent", "leakage", "guess", "information_privacy", "worst_case_leakage", "both"):
            for way in ("", "preserve", "towards", "multiplicity", "limits", "rows", "hidden"):
                said = promises(3)
                document: dict[str, Any] = {
                    "source": {"table": "t.csv"},
                    **{f"columns.{name}": {"values": "from-table"} for name in (*columns, "S")},
                    "mechanism": {
                        "observe": [*columns, *([] if way == "hidden" else ["S"])],
                        "release": [*columns],
                        "form": "records",
                    },
                    "objective": {"minimize": {"sum": [{"distortion": "hamming", "of": [n]} for n in columns]}},
                    "guarantee": [said["leakage"], said["guess"]] if promise == "both" else [said[promise]],
                }
                if way == "preserve":
                    document["mechanism"]["preserve_marginals"] = True
                if way == "towards":
                    document["mechanism"]["towards"] = "1/2" if secret == 2 else "median"
                if way == "multiplicity":
                    document["mechanism"]["min_multiplicity"] = 2
                if way == "limits":
                    document["limit"] = [{"distortion": "hamming", "of": ["A1"], "at_most": "1/5"}]
                if way == "rows":
                    document["limit"] = [{"keep_rows": "1/2"}]
                yield designed(f"records {secret} {promise} {way or 'plain'}", document, files, allowed=(0, 2, 3))


def chances(names: list[str], share: Fraction) -> str:
    """Independent bits."""
    groups = [
        {"variables": {n: ["0", "1"]}, "pmf": [{n: "0", "p": str(1 - share)}, {n: "1", "p": str(share)}]} for n in names
    ]
    return json.dumps({"independent": groups})


def forms() -> Iterator[Case]:
    """Samples, windows, sums, types, random columns, PRAM and its kin, columns one by one."""
    for many, size in ((60, 6), (60, 8), (400, 4)):
        names = [f"X{k}" for k in range(many)]
        said = {
            "source": {"prior": "prior.json", "table": "t.csv"},
            **{f"columns.{name}": {"values": ["0", "1"]} for name in names},
            "mechanism": {"observe": names, "output": "Y"},
            "objective": {"maximize": {"information": names}},
            "guarantee": [{"independent": [n]} for n in names],
        }
        draw = np.random.default_rng(1)
        rows = "\n".join(",".join(map(str, row)) for row in draw.integers(0, 2, (200, many)))
        files = {"prior.json": chances(names, Fraction(3, 10)), "t.csv": ",".join(names) + "\n" + rows + "\n"}
        for form in ({"form": "windows", "windows": {"size": size, "overlap": 1}}, {"form": "sums"}):
            document = said | {"mechanism": {**said["mechanism"], **form}}  # type: ignore[dict-item]
            yield designed(f"forms {form['form']} {many} {size}", document, files, allowed=(0, 2, 3))
    for many in (7, 10, 12, 14):
        names = [f"X{k}" for k in range(many)]
        files = {"joint.json": joint(dict.fromkeys(names, 2), tied=False) if many < 14 else ""}
        alike = [
            {n: str(v) for n, v in zip(names, x, strict=True)}
            | {"p": f"{6 ** x.count(0) * 4 ** x.count(1)}/{10**many}"}
            for x in product((0, 1), repeat=many)
        ]
        files["alike.json"] = json.dumps({"variables": {n: ["0", "1"] for n in names}, "pmf": alike})
        for source in ("joint.json", "alike.json") if many < 14 else ("alike.json",):
            for form in ({}, {"form": "random-columns"}):
                document = {
                    "source": {"pmf": source},
                    "mechanism": {"observe": names, "output": "Y", **form},
                    "objective": {"maximize": {"information": names}},
                    "guarantee": [{"independent": [n]} for n in names],
                }
                yield designed(
                    f"forms bits {many} {source} {form.get('form', 'orbits')}", document, files, allowed=(0, 2, 3)
                )
    for many, letters in ((50, 2), (400, 2), (40, 3), (16, 5)):
        hidden = ["0", "1", "2"]
        kernel = np.random.default_rng(5).integers(1, 20, (3, letters))
        files = {
            "w.json": json.dumps({"variables": {"W": hidden}, "pmf": [{"W": w, "p": 1 + int(w)} for w in hidden]}),
            "k.json": json.dumps(
                {
                    "inputs": {"W": hidden},
                    "output": {"X": [str(v) for v in range(letters)]},
                    "rows": [[f"{v}/{sum(row)}" for v in row] for row in kernel.tolist()],
                }
            ),
        }
        document = {
            "source": {"conditionally_iid": {"hidden": "W", "prior": "w.json", "kernel": "k.json", "n": many}},
            "mechanism": {"observe": ["X"], "output": "Y"},
            "objective": {"maximize": {"information": ["W"]}},
            "guarantee": [{"independent": ["X"]}],
        }
        yield designed(f"forms alike {many} {letters}", document, files, allowed=(0, 2, 3))
    yield from columns()


def columns() -> Iterator[Case]:
    """PRAM, randomised response, subsets, and columns one by one."""
    for n in (100, 1000):
        files = {"joint.json": joint({"X": n, "K": 3, "S": 3})}
        for form, way, aim in product(
            ("pram", "randomised-response", "subset-selection"), ("", "keep", "preserve", "delta"), ("own", "variance")
        ):
            said: dict[str, Any] = {"local_dp": "1"} | ({"delta": "1/100"} if way == "delta" else {})
            said |= {"given": ["K"]} if way == "keep" else {}
            goal, mechanism = OBJECTIVES[aim]
            mechanism = {key: value for key, value in mechanism.items() if key != "allow_inverted"}
            mechanism |= {"form": form} | ({"keep": ["K"]} if way == "keep" else {})
            mechanism |= {"preserve_marginals": True} if way == "preserve" else {}
            document = {
                "source": {"pmf": "joint.json"},
                "mechanism": {"observe": ["X"], **mechanism},
                "objective": goal,
                "guarantee": [said],
            }
            yield designed(f"columns {form} {n} {way or 'plain'} {aim}", document, files, allowed=(0, 2, 3))
    sizes = {f"A{k}": 12 + 8 * k for k in range(5)}
    files = {"t.csv": table(5000, sizes, secret=3)}
    for promise, form in product(("local_dp", "leakage", "delta"), (None, "pram", "randomised-response")):
        names = list(sizes)
        goal = {"minimize": {"sum": [{"distortion": "hamming", "of": [n]} for n in names]}}
        if promise != "leakage":
            goal = {"maximize": {"information_of_each": names}}
        document = {
            "source": {"table": "t.csv"},
            **{f"columns.{name}": {"values": "from-table"} for name in (*names, "S")},
            "mechanism": {"observe": names, "release": names, "each": True, **({"form": form} if form else {})},
            "objective": goal,
            "guarantee": [promises(3)[promise]],
        }
        yield designed(f"columns each {promise} {form}", document, files, allowed=(0, 2, 3))


def numbers() -> Iterator[Case]:
    """Noise for numbers on fine grids."""
    draw = np.random.default_rng(2)
    many = 5000
    values = np.clip(draw.gamma(2.0, 900.0, many).astype(int), 0, 19_999)
    other = np.clip(values // 2 + draw.integers(0, 4000, many), 0, 19_999)
    text = "A,B,S\n" + "\n".join(f"{a},{b},{int(a + b > 3000)}" for a, b in zip(values, other, strict=True)) + "\n"
    for high, kind, promise, both in product(
        (999, 19_999),
        ("shrinkage", "gaussian", "laplace"),
        ("leakage", "dalenius", "contraction", "local_dp", "limit"),
        (0, 1),
    ):
        names = ["A", "B"] if both else ["A"]
        said = {
            "leakage": {"leakage": ["S"], "at_most_bits": "1/20"},
            "dalenius": {"dalenius": True, "at_most_bits": "1/2"},
            "contraction": {"contraction": "1/4"},
            "local_dp": {"local_dp": "1"} | ({} if kind == "laplace" else {"delta": "1/1000"}),
        }
        scale = (high + 1) // 20_000 or 1
        lines = (
            text
            if scale == 1 and high > 999
            else "A,B,S\n"
            + "\n".join(f"{a // 20},{b // 20},{int(a + b > 3000)}" for a, b in zip(values, other, strict=True))
            + "\n"
        )
        document: dict[str, Any] = {
            "source": {"table": "t.csv"},
            **{f"columns.{name}": {"grid": {"low": 0, "high": high, "step": 1}} for name in ("A", "B")},
            "columns.S": {"values": ["0", "1"]},
            "mechanism": {"observe": names, "release": names, "form": "noise", "noise": kind},
            "objective": {"minimize": {"distortion": "squared", "of": names}},
        }
        if promise == "limit":
            document["objective"] = {"minimize": {"leakage": names}}
            document["limit"] = [{"distortion": "squared", "of": names, "at_most": str(high * 30)}]
        else:
            document["guarantee"] = [said[promise]]
        yield designed(f"numbers {kind} {high} {promise} {len(names)}", document, {"t.csv": lines}, allowed=(0, 2, 3))
    for kind, p in product(("max-entropy", "minimum-capacity"), ("1", "2", "inf")):
        document = {
            "source": {"table": "t.csv"},
            "columns.A": {"grid": {"low": 0, "high": 19_999, "step": 10}},
            "columns.B": {"grid": {"low": 0, "high": 19_999, "step": 1}},
            "columns.S": {"values": ["0", "1"]},
            "mechanism": {"observe": ["A"], "release": ["A"], "form": "noise", "noise": kind},
            "objective": {"minimize": {"capacity": True}},
            "limit": [{"distortion": "norm", "p": p, "of": ["A"], "at_most": "900"}],
        }
        yield designed(f"numbers {kind} {p}", document, {"t.csv": text}, allowed=(0, 2, 3))


def curves() -> Iterator[Case]:
    """`tradeoff` of every promise, and points of paper 003."""
    for n in (24, 100):
        files = {"joint.json": joint({"X": n, "S": 3})}
        for promise, said in promises(n).items():
            for objective in ("distortion", "W=X"):
                aim, mechanism = OBJECTIVES[objective]
                document = {
                    "source": {"pmf": "joint.json"},
                    "mechanism": {"observe": ["X"], **mechanism},
                    "objective": aim,
                    "guarantee": [said],
                }
                case = designed(f"curve {n} {promise} {objective}", document, files, "tradeoff", allowed=(0, 2, 3))
                yield case
        document = {
            "source": {"pmf": "joint.json"},
            "mechanism": {"observe": ["X"], "release": ["X"]},
            "objective": {"minimize": {"leakage": ["S"]}},
            "limit": [{**HAMMING, "at_most": "3/10"}],
        }
        yield designed(f"curve {n} leakage", document, files, "tradeoff", allowed=(0, 2, 3))
        for at in ("1/5", "1/5,1", "1,1/5,1"):
            case = designed(f"curve {n} at {at}", document, files, "tradeoff", allowed=(0, 2, 3))
            case.words += ["--at", at]
            yield case


def queries() -> Iterator[Case]:
    """`audit` and `calibrate` of questions, `audit` of channels."""
    for noise, letters, many, query in product(
        ("randomised-response", "geometric", "exponential", "gaussian", "laplace"),
        (2, 6, 20),
        (500, 20_000),
        ("count", "sum", "mean", "histogram", "parity"),
    ):
        if query in ("count", "parity") and letters > 2:
            continue
        text = problem(
            {
                "x": {
                    "records": many,
                    "letters": [str(v) for v in range(letters)],
                    "query": query,
                    "noise": noise,
                    "parameter": "1/2",
                }
            }
        ).partition("\n")[2]
        name = f"{noise} {letters} {many} {query}"
        yield Case(f"query audit {name}", {"q.toml": text}, ["audit", "q.toml", "--json"], allowed=(0, 2, 5))
        words = ["calibrate", "q.toml", "--at-most-bits", "1/10", "--json"]
        without = text.replace('parameter = "1/2"\n', "")
        for whom in ("any", "independent"):
            case = [*words, "--against", whom]
            yield Case(f"query calibrate {whom} {name}", {"q.toml": without}, case, allowed=(0, 2, 5))
    draw = np.random.default_rng(8)
    for n, m in ((100, 100), (400, 400), (1000, 50)):
        counts = draw.integers(1, 50, (n, m))
        rows = [[f"{v}/{int(row.sum())}" for v in row.tolist()] for row in counts]
        channel = {
            "inputs": {"X": [str(v) for v in range(n)]},
            "output": {"Y": [str(v) for v in range(m)]},
            "rows": rows,
        }
        files = {"c.json": json.dumps(channel), "prior.json": joint({"X": n, "S": 3})}
        for more in ([], ["--prior", "prior.json"], ["--prior", "prior.json", "--metrics"]):
            words = ["audit", "c.json", "--json", *more]
            yield Case(f"channel audit {n} {m} {len(more)}", files, words, allowed=(0, 2, 5))


GROUPS = (matrices, beside, records, forms, numbers, curves, queries)
