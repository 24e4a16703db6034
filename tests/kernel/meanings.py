"""Forgeries of what a document means: other promises, laws, columns, shapes and aims, each a well-formed text.

python -m tests.kernel.meanings [SEED]

One honest document of every kind of the corpus is told to mean something else, once with its claims and once with
claims that say nothing, so that the proofs alone decide. Package and exported file have to say the same. What they
still prove has to be true: figures, limits and value by brute force in rationals, the bound against other mechanisms
that keep all promises.
"""

import contextlib
import copy
import io
import json
import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path

from dalenius.kernel import command
from dalenius.kernel.check import check
from tests.kernel.brute import Told, false_figures, keeps, keeps_shape, reached
from tests.kernel.documents import text_of
from tests.kernel.golden import CORPUS, texts_of
from tests.kernel.one_file import one_file
from tests.kernel.written_out import Unknown

LONGEST = 20_000  # characters of a document that is forged
SHORT = 3_000  # of one that is forged by default
NEAR = Fraction(1, 10**9)
BEYOND = Fraction(1, 10**6)  # a leakage of 1e-9 more than is allowed may be worth so much


def kind_of(document):
    """What two documents have in common that are proved by the same parts of the kernel."""
    proof, mechanism = document.get("proof", {}), document["mechanism"]
    return (
        document["channel"]["form"],
        document.get("law", {}).get("law"),
        proof.get("rule"),
        proof.get("division"),
        document.get("objective", {}).get("aim"),
        frozenset(promise["promise"] for promise in document["promises"]),
        bool(mechanism["keep"]),
        bool(mechanism["strata"]),
        mechanism["side"] and mechanism["side"]["encoder"],
    )


@cache
def kinds():
    """[(name, document)]: the shortest honest document of every kind."""
    found = {}
    for folder in sorted(path for path in CORPUS.iterdir() if path.is_dir()):
        kept = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
        for name, text in texts_of(folder).items():
            if len(text) > LONGEST or any(isinstance(verdict, str) for verdict in kept[name].values()):
                continue
            document = json.loads(text)
            if "channel" not in document:
                continue
            kind = kind_of(document)
            if kind not in found or len(text) < found[kind][0]:
                found[kind] = len(text), f"{folder.name}/{name}", document
    return [(name, document) for _, name, document in found.values()]


# --- forgeries: each yields documents that mean something else --------------------------------------------------------
def names_of(document):
    return [variable["name"] for variable in document["variables"]]


def put(document, *path_and_value):
    """A copy with another value at a place."""
    *path, last, value = path_and_value
    found = copy.deepcopy(document)
    inside = found
    for key in path:
        inside = inside[key]
    inside[last] = value
    return found


def times(text, factor):
    return str(Fraction(text) * factor)


def other_limits_of_promises(document):
    """Smaller bounds, a smaller or larger confidence, other orders and times, more rows, larger groups."""
    factors = [Fraction(0), Fraction(1, 2), Fraction(99, 100), Fraction(2)]
    for k, promise in enumerate(document["promises"]):
        for key in ("epsilon", "at_most_bits", "at_most", "times", "delta", "order"):
            if promise.get(key) is not None:
                for factor in factors:
                    yield put(document, "promises", k, key, times(promise[key], factor))
        for more in (1, 5):
            if "group" in promise:
                yield put(document, "promises", k, "group", promise["group"] + more)
            if "rows" in promise:
                rows = promise["rows"]
                yield put(document, "promises", k, "rows", type(rows)(int(rows) + more))
        if promise.get("within"):
            for radius in ("1/1000", "1/2", "999/1000", "3"):
                yield put(document, "promises", k, "within", "radius", radius)
            for ball in ("total_variation", "kl_bits", "confidence"):
                yield put(document, "promises", k, "within", "ball", ball)
            yield put(document, "promises", k, "within", None)
            yield put(put(document, "promises", k, "within", None), "evidence", k, None)
        elif "within" in promise:
            ball = put(document, "promises", k, "within", {"ball": "total_variation", "radius": "1/20"})
            yield ball
            yield put(ball, "evidence", k, {"nu": "0", "m": "1", "t": "1"})


def other_kinds_of_promises(document):
    """The same numbers in a promise that says more, or less."""
    for k, promise in enumerate(document["promises"]):
        secret = promise.get("secret") or names_of(document)[:1]
        most = next((promise[key] for key in ("at_most_bits", "epsilon", "at_most") if promise.get(key)), "0")
        for other in (
            {"promise": "independent", "secret": secret},
            {"promise": "information_privacy", "secret": secret, "epsilon": most},
            {"promise": "leakage", "secret": secret, "at_most_bits": most, "within": None},
            {"promise": "worst_case_leakage", "secret": secret, "at_most_bits": most},
            {"promise": "local_dp", "epsilon": most, "metric": None, "delta": "0", "given": [], "rows": 1},
            {"promise": "dalenius", "at_most_bits": most, "group": 1, "rows": "1"},
            {"promise": "contraction", "at_most": most},
            {"promise": "guess", "secret": secret, "at_most": None, "times": "1", "gain": None},
            {"promise": "maximal_leakage", "secret": [], "at_most_bits": most},
            {"promise": "maximal_leakage", "secret": secret, "at_most_bits": most},
            {"promise": "total_variation", "secret": secret, "at_most": most},
            {"promise": "sibson", "secret": secret, "order": "2", "at_most_bits": most},
        ):
            yield put(put(document, "promises", k, other), "evidence", k, None)


def other_columns_of_promises(document):
    """A promise about other columns; records that agree in other ones."""
    names = names_of(document)
    for k, promise in enumerate(document["promises"]):
        if promise.get("secret"):
            for name in names:
                yield put(document, "promises", k, "secret", [name])
            for name in names:
                if name not in promise["secret"]:
                    yield put(document, "promises", k, "secret", [*promise["secret"], name])
        if "given" in promise:
            yield put(document, "promises", k, "given", [])
            for name in names:
                yield put(document, "promises", k, "given", [name])
        if promise.get("metric"):
            yield put(document, "promises", k, "metric", [[times(d, 2) for d in row] for row in promise["metric"]])
            yield put(document, "promises", k, "metric", None)
        for given in names:
            claim = {"figure": "leakage_bits", "given": given, "value": "0"}
            yield put(document, "claims", "promises", k, [claim])


def other_laws(document):
    """Another table: rows, counts and outcomes; a stated law for a counted one."""
    law = document.get("law", {})
    if "outcomes" not in law:
        for key in ("prior", "start"):
            if key in law:
                yield put(document, "law", key, law[key][::-1])
        return
    outcomes = law["outcomes"]
    yield put(document, "law", "law", "known" if law["law"] == "table" else "table")
    yield put(document, "law", "outcomes", [[*x, times(n, 1000)] for *x, n in outcomes])
    for k in range(min(3, len(outcomes))):
        changed = copy.deepcopy(outcomes)
        changed[k][-1] = times(changed[k][-1], 3)
        yield put(document, "law", "outcomes", changed)
        yield put(document, "law", "outcomes", outcomes[:k] + outcomes[k + 1 :])
    counts = [n for *_, n in outcomes]
    yield put(document, "law", "outcomes", [[*x, n] for (*x, _), n in zip(outcomes, counts[::-1], strict=True)])


def other_columns_of_the_mechanism(document):
    """Columns that leave as they are, are looked at, are released, or that the user has anyway."""
    mechanism, names = document["mechanism"], names_of(document)
    used = {*mechanism["observe"], *mechanism["strata"], *mechanism["keep"]}
    for part in ("keep", "strata"):
        for name in mechanism[part]:
            less = [other for other in mechanism[part] if other != name]
            yield put(document, "mechanism", part, less)
            other = "strata" if part == "keep" else "keep"
            yield put(put(document, "mechanism", part, less), "mechanism", other, [*mechanism[other], name])
        for name in names:
            if name not in used:
                yield put(document, "mechanism", part, [*mechanism[part], name])
    for encoder in ("informed", "statistically-informed", "uninformed"):
        for name in names:
            if name not in used:
                yield put(document, "mechanism", "side", {"variable": name, "encoder": encoder})
    yield put(document, "mechanism", "side", None)
    yield put(document, "mechanism", "observe", mechanism["observe"][::-1])
    yield put(document, "mechanism", "observe", mechanism["observe"][:-1])
    yield put(document, "mechanism", "release", mechanism["release"][::-1])
    yield put(document, "mechanism", "release", [])
    for name in names:
        yield put(document, "mechanism", "release", [name])
        yield put(document, "mechanism", "observe", [name])
    yield put(document, "mechanism", "fresh", ["a", "b"])


def other_shapes(document):
    """What is forbidden, frozen, preserved or never leaves, the form, and a matrix for each column: only said."""
    mechanism = document["mechanism"]
    letters = {variable["name"]: variable["letters"] for variable in document["variables"]}
    for form in ("any", "pram", "noise"):
        yield put(document, "mechanism", "form", form)
    yield put(document, "mechanism", "each", ["9"] * len(mechanism["observe"]))
    yield put(document, "mechanism", "each", None)
    yield put(document, "mechanism", "preserve_marginals", not mechanism["preserve_marginals"])
    for name in mechanism["release"]:
        first, last = letters[name][0], letters[name][-1]
        yield put(document, "mechanism", "forbid", [[first, last]])
        yield put(document, "mechanism", "forbid", [[last, first]])
        yield put(document, "mechanism", "freeze", [first])
        yield put(document, "mechanism", "never", [[{"column": name, "letters": [last]}]])


def other_letters(document):
    """Letters renamed, exchanged and made equal."""
    for k, variable in enumerate(document["variables"]):
        letters = variable["letters"]
        yield put(document, "variables", k, "letters", letters[::-1])
        yield put(document, "variables", k, "letters", [*letters[:-1], letters[0]])
        yield put(document, "variables", k, "letters", [*letters, "one more"])
        yield put(document, "variables", k, "name", "another name")


def other_limits(document):
    """Limits below what is reached, and limits that were not there."""
    if "limits" not in document:
        return
    for k, limit in enumerate(document["limits"]):
        for key in ("at_most", "at_least_bits"):
            if key in limit:
                for factor in (Fraction(0), Fraction(1, 2), Fraction(99, 100), Fraction(101, 100), Fraction(2)):
                    yield put(document, "limits", k, key, times(limit[key], factor))
        if "multiplicity" in limit:
            yield put(document, "limits", k, "multiplicity", times(limit["multiplicity"], 2))
    added = [{"information": [name], "at_least_bits": "1/4"} for name in names_of(document)]
    added += [{"multiplicity": "2"}, {"multiplicity": "1"}]
    for name in document["mechanism"]["release"]:
        part = {"distance": "hamming", "of": [name], "weight": "1", "classes": [], "matrix": []}
        added += [{"distortion": [part], "at_most": most} for most in ("0", "1/10", "1/2")]
    for limit in added:
        found = put(document, "limits", [*document["limits"], limit])
        claimed = "0" if "distortion" not in limit else "99"
        yield put(found, "claims", "limits", [*document["claims"]["limits"], claimed])


def other_aims(document):
    """Other columns that are wanted, the other side of the best, and value and bound exchanged."""
    objective = document.get("objective")
    if objective is None:
        return
    if "about" in objective:
        for name in names_of(document):
            yield put(document, "objective", "about", [name])
        yield put(document, "objective", "about", objective["about"][::-1])
    if "theta" in objective:
        for aim in ("information", "leakage", "information_of_each"):
            yield put(document, "objective", "aim", aim)
        for theta in ("0", "1/2", "1"):
            yield put(document, "objective", "theta", theta)
    for k, part in enumerate(objective.get("distortion", [])):
        if "weight" in part:
            for factor in (Fraction(1, 2), Fraction(2)):
                yield put(document, "objective", "distortion", k, "weight", times(part["weight"], factor))
            for name in names_of(document):
                yield put(document, "objective", "distortion", k, "of", [name])
            for kind in ("hamming", "absolute", "squared"):
                yield put(document, "objective", "distortion", k, "distance", kind)
    if "reach" in objective:
        yield put(document, "objective", "reach", [n - 1 for n in objective["reach"]])
    claims = document["claims"]
    yield put(put(document, "claims", "value", claims["bound"]), "claims", "bound", claims["value"])
    for key, factor in (
        ("value", Fraction(1, 2)),
        ("value", Fraction(2)),
        ("bound", Fraction(1, 2)),
        ("bound", Fraction(2)),
    ):
        yield put(document, "claims", key, times(claims[key], factor))


def other_channels(document):
    """Rows of two inputs exchanged, or all of them told in full."""
    channel = document["channel"]
    for key in ("rows", "stay", "columns", "classes", "channels", "windows", "sums", "states", "axes"):
        if key in channel and len(channel[key]) > 1:
            swapped = [channel[key][1], channel[key][0], *channel[key][2:]]
            yield put(document, "channel", key, swapped)
            yield put(document, "channel", key, [channel[key][0]] * len(channel[key]))
    if channel["form"] == "dense":
        wide = channel["letters"]
        clear = [[channel["scale"] if y == x % wide else "0" for y in range(wide)] for x in range(len(channel["rows"]))]
        yield put(document, "channel", "rows", clear)


FORGERIES = (
    other_limits_of_promises,
    other_kinds_of_promises,
    other_columns_of_promises,
    other_laws,
    other_columns_of_the_mechanism,
    other_shapes,
    other_letters,
    other_limits,
    other_aims,
    other_channels,
)


def silent(document):
    """The same document with claims that say nothing about figures, value and bound."""
    found = copy.deepcopy(document)
    found["work"] = "20000000"
    claims = found["claims"]
    claims["promises"] = [[] for _ in found["promises"]]
    if "limits" in claims:
        most = document["objective"]["aim"].startswith("information")
        low, high = "0", str(10**9)
        claims |= {"value": low if most else high, "bound": high if most else low, "gap": high}
        claims["limits"] = ["99" if "distortion" in limit else "0" for limit in found["limits"]]
    return found


def forged(document, forgeries=FORGERIES):
    """(what was changed, document) of every forgery, with its claims and without."""
    for forgery in forgeries:
        for other in forgery(document):
            if other != document:
                yield forgery.__name__, other
                yield forgery.__name__, silent(other)


# --- the verdict ------------------------------------------------------------------------------------------------------
def said(main, path):
    """Exit status and all words of a checker about a file."""
    words = io.StringIO()
    with contextlib.redirect_stdout(words), contextlib.redirect_stderr(words):
        status = main([str(path)])
    return status, words.getvalue()


@dataclass
class Count:
    """What became of the forgeries."""

    refused: Counter = field(default_factory=Counter)
    true: Counter = field(default_factory=Counter)
    unknown: Counter = field(default_factory=Counter)
    false: list = field(default_factory=list)
    differ: list = field(default_factory=list)


def judge(what, document, found, path, chance):
    """Count one forgery: refused, proved and true, proved and not known to brute force, or false."""
    text = text_of(document)
    path.write_bytes(text.encode())
    status, words = said(command.main, path)
    if (status, words) != said(one_file().main, path) or status not in (0, 4):
        found.differ.append((what, words, text))
        return
    if status == 4:
        assert words.startswith("REFUSED: "), words
        assert words.count("\n") == 1, words
        found.refused[what] += 1
        return
    try:
        wrong = falsehood(document, check(text), chance)
    except Unknown:
        found.unknown[what] += 1
        return
    if wrong:
        found.false.append((what, wrong, text))
    else:
        found.true[what] += 1


def falsehood(document, verdict, chance):
    """The first thing that a verdict says and that is not so, or None."""
    told = Told(document)
    if any(sum(row) != 1 or min(row) < 0 for row in told.rows.values()):
        return "a row is no law"
    if not keeps_shape(told):
        return "the shape is not kept"
    for promise, figures in zip(document["promises"], verdict.kept.promises, strict=True):
        if not keeps(told, promise, chance):
            return f"{promise['promise']} is not kept"
        wrong = false_figures(told, promise, figures, chance)
        if wrong:
            return wrong
    limits = zip(document.get("limits", []), verdict.kept.limits, strict=True)
    for limit, figure in limits:
        if not told.within(limit, figure):
            return f"the limit {limit} is not kept"
    if verdict.value is None:
        return None
    value = reached(told)
    more = 1 if verdict.maximised else -1
    if value is None:
        return None
    if more * (value - verdict.value) < -NEAR:
        return f"the value is {float(value)}, and not {float(verdict.value)}"
    if any(promise.get("within") or promise["promise"] == "dalenius" for promise in document["promises"]):
        return None  # brute force tries a few laws: a competitor that it lets pass may not keep the promise
    for other in competitors(told, chance):
        if not all(other.within(limit) for limit in document["limits"]):
            continue
        if keeps_shape(other) and all(keeps(other, promise, chance) for promise in document["promises"]):
            reaches = reached(other)
            if reaches is not None and more * (reaches - verdict.bound) > BEYOND:
                return f"a mechanism reaches {float(reaches)}, beyond the bound {float(verdict.bound)}"
    return None


def competitors(told, chance):
    """Other mechanisms with the same letters: mixtures of the channel with constant, clear and random ones."""
    mechanism, form = told.document["mechanism"], told.document["channel"]["form"]
    if (
        mechanism["form"] != "any"
        or mechanism["each"] is not None
        or form in ("maps", "noise", "windows", "sums", "blocks")
    ):
        return
    inputs = list(told.rows)
    wide = len(told.rows[inputs[0]])
    targets = [[0] * len(inputs), [k % wide for k in range(len(inputs))]]
    targets += [[chance.randrange(wide) for _ in inputs] for _ in range(3)]
    for target in targets:
        for share in (Fraction(1), Fraction(1, 2), Fraction(1, 8), Fraction(1, 64)):
            yield told.with_rows(
                {
                    x: [(1 - share) * p + share * (y == target[k]) for y, p in enumerate(told.rows[x])]
                    for k, x in enumerate(inputs)
                }
            )


def some_of(few, chance):
    """So many forgeries of short documents, each of a kind and of a sort chosen at random."""
    short = [document for name, document in kinds() if len(text_of(document)) <= SHORT]
    while few:
        lies = list(forged(chance.choice(short), [chance.choice(FORGERIES)]))
        if lies:
            yield chance.choice(lies)
            few -= 1


def forge(seed=1, few=None):
    """Forge documents of every kind: all forgeries, or `few` of them at random."""
    chance, found = random.Random(seed), Count()
    everything = (lie for _, document in kinds() for lie in forged(document))
    with tempfile.TemporaryDirectory() as folder:
        for what, lie in everything if few is None else some_of(few, chance):
            judge(what, lie, found, Path(folder) / "file.json", chance)
    return found


def main():
    found = forge(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    for forgery in FORGERIES:
        name = forgery.__name__
        print(
            f"{name.replace('_', ' ')}: {found.refused[name]:,} refused, {found.true[name]:,} proved and true, "
            f"{found.unknown[name]:,} proved and not written out"
        )
    for what, wrong, text in found.false + found.differ:
        print(f"FALSE {what}: {wrong}\n  {text[:3000]}")
    print(f"{len(kinds())} kinds: {len(found.false)} false, {len(found.differ)} different in the exported file")
    return int(bool(found.false or found.differ))


if __name__ == "__main__":
    sys.exit(main())
