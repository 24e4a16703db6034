"""Windows, columns, strata and sums as small documents, and the same written out."""

import json
from fractions import Fraction
from pathlib import Path

from dalenius.kernel.document import read_document
from dalenius.kernel.numbers import canonical

CORPUS = Path(__file__).parent / "corpus" / "parts"
ORACLE = json.loads((CORPUS / "oracle.json.txt").read_text())
FINE = Fraction(1, 2**58)
CLOSE = Fraction(1, 10**25)
MECHANISM = {
    "observe": [],
    "strata": [],
    "keep": [],
    "release": [],
    "fresh": None,
    "form": "any",
    "each": None,
    "forbid": [],
    "never": [],
    "freeze": [],
    "preserve_marginals": False,
    "side": None,
}


def honest(name):
    return json.loads((CORPUS / f"honest_{name}.json").read_text())


def design(variables, law, mechanism, channel, **more):
    """A design that claims nothing."""
    document = {
        "format": "dalenius-design/2",
        "work": "20000000",
        "variables": [{"name": name, "letters": [f"{k}" for k in range(size)]} for name, size in variables.items()],
        "law": law,
        "mechanism": MECHANISM | mechanism,
        "objective": more.get("objective", {"aim": "information", "about": mechanism["observe"], "theta": "1"}),
        "promises": more.get("promises", []),
        "limits": more.get("limits", []),
        "channel": channel,
        "evidence": [None] * len(more.get("promises", [])),
        "claims": {"promises": [[] for _ in more.get("promises", [])], "limits": [], "value": "0", "bound": "99"},
        "proof": more.get("proof", {"rule": "closed"}),
    }
    document["claims"]["gap"] = "99"
    return document


def read(document):
    return read_document(canonical(document | {"work": "20000000"}))


def known(names, outcomes, kind="known"):
    return {"law": kind, "variables": list(names), "outcomes": outcomes}


def dense(rows):
    return {
        "form": "dense",
        "letters": len(rows[0]),
        "scale": str(sum(rows[0])),
        "rows": [[*map(str, r)] for r in rows],
    }


def local_dp(epsilon, *given, **more):
    return {
        "promise": "local_dp",
        "epsilon": epsilon,
        "metric": None,
        "delta": "0",
        "given": [*given],
        "rows": 1,
    } | more


def independent(*names):
    return {"promise": "independent", "secret": [*names]}


def written_out(document):
    """The same design with one dense matrix, and one law of all variables."""
    found = read(document)
    scale, rows = found.channel.rows(found.work)
    variables = [variable.name for variable in found.setting.variables]
    outcomes = [[*outcome, str(n)] for outcome, n in found.setting.law.atoms]
    channel = {
        "form": "dense",
        "letters": len(rows[0]),
        "scale": str(scale),
        "rows": [[*map(str, row)] for row in rows],
    }
    plain = document["mechanism"] | {"each": None, "form": "any"}
    objective = document["objective"] | {"aim": "information"}
    changes = {"law": known(variables, outcomes), "channel": channel, "mechanism": plain, "objective": objective}
    return document | changes | {"work": "20000000"}
