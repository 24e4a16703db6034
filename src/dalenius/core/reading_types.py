"""What a design by types says, read strictly: n samples, independent and alike given a hidden variable."""

from collections import Counter
from math import factorial, prod
from typing import Any

from dalenius.core.multinomial import list_types, type_law
from dalenius.core.numbers import exact
from dalenius.core.reading import Release, multiplied, require, stochastic

__all__ = ["ExchangeableRelease", "TypesRelease", "release_of"]


class TypesRelease(Release):
    r"""Atoms (w, type, one sample, another sample); the channel reads the type, and the two samples are drawn from it.

    The law is exchangeable: given its type t, an outcome of the samples is uniform on all orders and tells no more
    about W. So a mechanism p(y | x_1..x_n) may be averaged over the orders of each type: (W, Y) keeps its law, and the
    law of (X_i, Y) becomes the mean over i of what it was, so a letter that was independent of every sample is
    independent of each afterwards, and a bound over types bounds every mechanism. For a channel p(y | t) all (X_i, Y)
    have the same law, that of a sample drawn at random,

        p(X = a | t) = t_a / n,        p(X = a, X' = b | t) = t_a (t_b - [a = b]) / (n (n - 1)),

    so Y is independent of every single sample exactly when it is independent of X.
    """

    def __init__(self, design: dict[str, Any]) -> None:
        require(set(design["joint"]) == {"conditionally_iid"}, "the joint has other keys than it may")
        model = design["joint"]["conditionally_iid"]
        require(set(model) == {"hidden", "prior", "kernel", "n"}, "the model of the samples has other keys than it may")
        (hidden, values), ((sample, letters),) = _one(model["prior"]["variables"]), model["kernel"]["output"].items()
        prior = {r[hidden]: exact(r["p"]) for r in model["prior"]["pmf"]}
        fair = len(prior) == len(model["prior"]["pmf"]) and set(prior) <= set(values) and min(prior.values()) >= 0
        require(fair and sum(prior.values()) == 1, "the prior of the hidden variable is not a pmf")
        inputs, kernel, scale = stochastic(model["kernel"])
        require("form" not in model["kernel"] and inputs == {hidden: values}, "the kernel reads another variable")
        n = model["n"]
        require(type(n) is int and hidden != sample, "the model of the samples is damaged")
        channel, mechanism = design["channel"], design["mechanism"]
        require(channel.get("form") == "types" and channel["n"] == n, "the channel does not read the type of n samples")
        require("columns" not in channel, "the samples of a model have no names of their own")
        _, self.rows, self.scale = stochastic(channel)
        require(channel["inputs"] == {sample: letters}, "the channel reads other samples than the model has")
        require(mechanism["observe"] == [sample], "the mechanism observes something else than the samples")
        require(
            not mechanism.get("keep") and not mechanism.get("strata"), "nothing can be kept beside samples by types"
        )
        law = [[exact(v) / scale for v in row] for row in kernel]
        types, weights, total = type_law([prior.get(w, exact(0)) for w in values], law, n)
        another = f"another {sample}"
        self.names = [hidden, "type", sample, *([another] if n > 1 else [])]
        self.kept, self.leaving, self.side, self.encoder = list[str](), list[str](), list[str](), None
        self.inputs, self.total = self.names[3:], total * n * max(n - 1, 1)
        self.sizes = []  # rows are types, so that promises about single records cannot be read from them
        require(len(set(self.names)) == len(self.names), "the names of the variables are not distinct")
        self.atoms, self.row = [], []
        for x, (t, row) in enumerate(zip(types, weights, strict=True)):
            for w, weight in zip(values, row, strict=True):
                for pair, times in _pairs(t, letters):
                    if weight * times:
                        self.atoms.append(((w, str(x), *pair[: min(n, 2)]), weight * times))
                        self.row.append(x)
        self.width = len(self.rows[0])
        self.sparse = [[(y, v) for y, v in enumerate(row) if v] for row in self.rows]

    def with_output(self, secret: list[str], given: list[str], kept: list[str] | None = None) -> Counter[Any]:
        """As for every release; most entries of a row are zero."""
        require(not kept, "nothing is kept beside samples by types")
        out: Counter[Any] = Counter()
        for (s, g, x), w in self.weights(self.outcomes(secret), self.outcomes(given), self.row).items():
            for y, v in self.sparse[x]:
                out[s, g, (y, ())] += w * v
        return out


class ExchangeableRelease(Release):
    """A joint pmf whose input columns are proved exchangeable, read by their type; each of them alone is protected.

    Averaging over the orders works as above, for every mechanism that hides every single column. So the views must be
    all the single columns, and nothing else may be promised, kept or told of the order.
    """

    def __init__(self, design: dict[str, Any]) -> None:
        channel, joint, mechanism = design["channel"], multiplied(design["joint"]), design["mechanism"]
        ((_, letters),), n, columns = channel["inputs"].items(), channel["n"], channel.get("columns", [])
        require(len(columns) == n and len(set(columns)) == n, "the channel does not name its columns")
        require(sorted(mechanism["observe"]) == sorted(columns), "the channel reads other columns than said")
        require(
            all(joint["variables"][c] == letters for c in columns), "an input has another alphabet in the joint pmf"
        )
        views = [g["promised"].get("independent") for g in design["guarantees"]]
        require(
            {tuple(v or ()) for v in views} == {(c,) for c in columns}, "not every single column is a view, or more is"
        )
        about = design["objective"]["maximize"]["information"]
        free = not mechanism.get("keep") and not mechanism.get("strata") and "side_information" not in design
        require(free and not set(about) & set(columns), "what is told or kept depends on the order of the samples")
        nothing = {"form": "product", "inputs": dict.fromkeys(columns, letters), "output": {}, "channels": []}
        super().__init__({"joint": joint, "channel": nothing, "mechanism": {"observe": columns}})
        _, self.rows, self.scale = stochastic(channel)
        self.width, self.sizes, self.nothing = len(self.rows[0]), [], [0] * len(self.rows[0])
        code, orders = {a: k for k, a in enumerate(letters)}, Counter[Any]()
        types = {x: _type([code[a] for a in x], len(letters)) for x in set(self.outcomes(columns))}
        for (w, x), weight in self.weights(self.outcomes(about), self.outcomes(columns)).items():
            orders[w, types[x], weight] += 1
        place = {t: k for k, t in enumerate(list_types(n, len(letters)))}
        self.row = [place[types[x]] for x in self.outcomes(columns)]
        alike = all(many == factorial(n) // prod(map(factorial, t)) for (_, t, _), many in orders.items())
        require(alike, "the columns are not exchangeable")


def release_of(design: dict[str, Any]) -> Release:
    """What a design says of the joint law: a pmf, or samples that are alike, read by their types."""
    if "conditionally_iid" in design["joint"]:
        return TypesRelease(design)
    return ExchangeableRelease(design) if design["channel"].get("form") == "types" else Release(design)


def _type(codes: list[int], letters: int) -> tuple[int, ...]:
    return tuple(codes.count(a) for a in range(letters))


def _one(variables: dict[str, list[str]]) -> tuple[str, list[str]]:
    ((name, letters),) = variables.items()
    require(isinstance(letters, list) and len(set(letters)) == len(letters), f"{name} has a bad alphabet")
    return name, letters


def _pairs(t: tuple[int, ...], letters: list[str]) -> list[tuple[tuple[str, str], int]]:
    """n (n - 1) p(X = a, X' = b | t) for the pairs (a, b); of a single sample p(X = a | t), the pair repeats it."""
    if sum(t) == 1:
        return [((a, a), k) for a, k in zip(letters, t, strict=True)]
    return [
        ((a, b), k * (m - (a == b))) for a, k in zip(letters, t, strict=True) for b, m in zip(letters, t, strict=True)
    ]
