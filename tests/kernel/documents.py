"""Small documents of design/2 and card/2, put together from words; the honest ones by name."""

import copy

from dalenius.kernel.numbers import canonical

SILENT = {
    "observe": ["X"],
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
TWO = {"S": ["u", "v"], "X": ["a", "b"]}
FAIR = [[0, 0, "1"], [0, 1, "1"], [1, 0, "1"], [1, 1, "1"]]
SAME = [[0, 0, "1"], [1, 1, "1"]]
SKEW = [[0, 0, "3"], [0, 1, "1"], [1, 0, "1"], [1, 1, "3"]]
TELL = {"aim": "information", "about": ["X"], "theta": "1"}
CLOSED = {"rule": "closed"}
MULTIPLIERS = {"nu": "0", "m": "0", "t": "1"}


def law_of(variables, outcomes, kind="known"):
    return {"law": kind, "variables": list(variables), "outcomes": outcomes}


def claims_of(value="0", bound="9", gap="9", promises=(), limits=()):
    return {"promises": list(promises), "limits": list(limits), "value": value, "bound": bound, "gap": gap}


def figures(**values):
    return [{"figure": name, "given": None, "value": value} for name, value in values.items()]


def dense(*rows, scale=None):
    return {
        "form": "dense",
        "letters": len(rows[0]),
        "scale": str(sum(rows[0]) if scale is None else scale),
        "rows": [[str(v) for v in row] for row in rows],
    }


def design(
    variables=TWO,
    outcomes=FAIR,
    mechanism=None,
    *,
    law=None,
    objective=TELL,
    promises=(),
    limits=(),
    channel=None,
    evidence=None,
    claims=None,
    proof=CLOSED,
    work=20_000_000,
):
    """A design; what is not said is as plain as it can be, and claims nothing."""
    promises = list(promises)
    document = {
        "format": "dalenius-design/2",
        "work": str(work),
        "variables": [{"name": name, "letters": letters} for name, letters in variables.items()],
        "law": law or law_of(variables, outcomes),
        "mechanism": SILENT | (mechanism or {}),
        "objective": objective,
        "promises": promises,
        "limits": list(limits),
        "channel": channel or IDENTITY,
        "evidence": evidence or [None] * len(promises),
        "claims": claims or claims_of(promises=[[] for _ in promises], limits=["99"] * len(limits)),
        "proof": proof,
    }
    return copy.deepcopy(document)


def card(variables, mechanism, promises, channel, claims=None, evidence=None):
    promises = list(promises)
    document = {
        "format": "dalenius-card/2",
        "work": "1000000",
        "variables": [{"name": name, "letters": letters} for name, letters in variables.items()],
        "mechanism": SILENT | mechanism,
        "promises": promises,
        "channel": channel,
        "evidence": evidence or [None] * len(promises),
        "claims": {"promises": claims or [[] for _ in promises]},
    }
    return copy.deepcopy(document)


IDENTITY = dense([1, 0], [0, 1])
RESPONSE = dense([2, 1], [1, 2])  # randomised response, level ln 2
FLAT = dense([1, 1], [1, 1])


def independent(*secret):
    return {"promise": "independent", "secret": list(secret)}


def information_privacy(epsilon, *secret):
    return {"promise": "information_privacy", "secret": list(secret), "epsilon": epsilon}


def leakage(most, *secret, ball=None, radius=None):
    within = None if ball is None else {"ball": ball, "radius": radius}
    return {"promise": "leakage", "secret": list(secret), "at_most_bits": most, "within": within}


def worst_case(most, *secret):
    return {"promise": "worst_case_leakage", "secret": list(secret), "at_most_bits": most}


def local_dp(epsilon, *given, delta="0", metric=None, rows=1):
    return {
        "promise": "local_dp",
        "epsilon": epsilon,
        "metric": metric,
        "delta": delta,
        "given": list(given),
        "rows": rows,
    }


def dalenius(most, group=1, rows="1"):
    return {"promise": "dalenius", "at_most_bits": most, "group": group, "rows": rows}


def contraction(most):
    return {"promise": "contraction", "at_most": most}


def guess(most, *secret, times=None, gain=None):
    return {"promise": "guess", "secret": list(secret), "at_most": most, "times": times, "gain": gain}


def maximal(most, *secret):
    return {"promise": "maximal_leakage", "secret": list(secret), "at_most_bits": most}


def variation(most, *secret):
    return {"promise": "total_variation", "secret": list(secret), "at_most": most}


def sibson(order, most, *secret):
    return {"promise": "sibson", "secret": list(secret), "order": order, "at_most_bits": most}


def distance(kind, *of, weight="1", classes=(), matrix=()):
    return {"distance": kind, "of": list(of), "weight": weight, "classes": list(classes), "matrix": list(matrix)}


def limit(most, *parts):
    return {"distortion": list(parts), "at_most": most}


NUMBERS = {"X": ["0", "1/2", "1"]}
THREE = [[0, "1"], [1, "2"], [2, "1"]]
CYCLE = dense([2, 1, 1], [1, 2, 1], [1, 1, 2])
PAIR = {"A": ["0", "1"], "B": ["0", "1"]}
PAIRS = [[0, 0, "1"], [0, 1, "2"], [1, 0, "3"], [1, 1, "4"]]
BOTH = {"observe": ["A", "B"]}
WITH_K = {"K": ["0", "1"], "X": ["a", "b"]}
ABOUT_A = {"aim": "information", "about": ["A"], "theta": "1"}
NOISY_PAIR = dense([4, 2, 2, 1], [2, 4, 1, 2], [2, 1, 4, 2], [1, 2, 2, 4])


IN_SHORT = {"form": "pram", "stay": ["1/2", "1/2", "1/2"]}


def centre(*law):
    return {"node": "centre", "law": [str(v) for v in law]}


def choice(value, *rows):
    return {"node": "choice", "value": value, "rows": list(rows)}


def selections(first, second):
    """The tree of one input of the noisy pair: a row for each of its two values, and the mean of the two."""
    rows = [list(map(int, row)) for row in NOISY_PAIR["rows"]]
    found = [choice(0, first[0])]
    for i in first:
        found.append(choice(1, second[0]))
        found += [centre(*map(sum, zip(rows[i], rows[j], strict=True))) for j in second]
    return found


TREES = [selections((0, 1), (2, 3)), selections((0, 2), (1, 3))]
# One tree that serves both inputs: its second leaf is for rows 0, 2 of the one and 0, 1 of the other.
ONE_TREE = [
    choice(0, 0), choice(1, 3), centre(5, 4, 4, 5), centre(20, 22, 22, 17),
    choice(1, 3), centre(17, 22, 22, 20), centre(4, 5, 5, 4),
]  # fmt: skip


def counted(times):
    """A table of 8 * times rows in which X says a little about S."""
    return law_of(TWO, [[*outcome[:-1], str(int(outcome[-1]) * times)] for outcome in SKEW], "table")


def text_of(document):
    return canonical(document)
