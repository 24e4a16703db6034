"""The multipliers of a proof of kind dual, one promise after the other."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from typing import Any

from dalenius.convert.orders import Json, Orders, Place
from dalenius.documents.text import number, text
from dalenius.mechanisms.columns.leakage.proof import every_map

__all__ = ["Dual", "texts"]

ERASED = "(missing)"


def texts(numbers: Sequence[Any]) -> list[str]:
    """Numbers as a document writes them."""
    return [str(number) for number in numbers]


class Dual:
    """The multipliers of a proof of kind dual, in the order in which version 1 reads them."""

    def __init__(self, orders: Orders, proof: Json) -> None:
        self.orders = orders
        self.proof = proof
        self.aim: Json = orders.design["objective"].get("minimize", {})
        self.posteriors = iter(proof["posteriors"])
        self.maps = self._tree()
        self.many = sum(node[0] == "leaf" for node in self.maps) if self.maps else _letters(orders.design)
        if "pieces" in proof:  # fresh letters: a case for each linear function
            self.many = len(proof["pieces"])
        self.weights = ["0"] * len(orders.promises)
        self.rows: list[list[Any]] = [[[] for _ in range(self.many)] for _ in orders.promises]
        self.cuts: list[Json] = []

    def _tree(self) -> list[Any]:
        """The tree of maps, worlds by the places of their letters; [] where letters are released as they are."""
        if self.orders.encoder != "statistically-informed":
            return []
        side, design = self.orders.side, self.orders.design
        worlds = [place for (place,) in self.orders.keys([side])[0]]
        letters = (
            len(self.orders.alphabets[design["mechanism"]["release"][0]]) if design["mechanism"].get("release") else 0
        )
        letters = letters or _fresh(design)
        given = self.proof.get("tree") or list(every_map(len(worlds), letters))
        tree: list[Any] = []
        leaf = 0
        for world in given:
            tree.append(["leaf", leaf] if world == -1 else ["split", worlds[world]])
            leaf += world == -1
        return tree

    def columns(
        self, names: Sequence[str], rows: Sequence[Sequence[int]], only: Place | None = None
    ) -> list[list[str]]:
        """For each letter the numbers of all values, from a row of letters for each value."""
        old, new = self.orders.keys(names, beside=True)
        if only is not None:
            old, new = ([key for key in keys if key[len(names) :] == only] for keys in (old, new))
        table = dict(zip(old, rows, strict=True))
        return [[str(table[key][t]) for key in new] for t in range(self.many)]

    def objective(self) -> list[list[list[str]]]:
        """The posteriors of the objective: of the leakage, of the rate, or of both."""
        aim, orders = self.aim, self.orders
        if not aim or "distortion" in aim or "sum" in aim:
            return []
        theta = number(aim.get("theta", int("leakage" in aim)))
        found = []
        if "leakage" in aim and theta:
            found.append(self.columns(aim["leakage"], next(self.posteriors)))
        if "rate" in aim and theta != 1:
            then = [name for name in orders.design["channel"]["inputs"] if name not in orders.beside_then]
            now = [name for name in orders.reads if name not in orders.beside]
            rows = next(self.posteriors)
            texts = sorted({tuple(r[name] for name in [*then, *orders.beside_then]) for r, _ in orders.atoms})
            names = [*then, *orders.beside_then]
            place = {key: k for k, key in enumerate(texts)}
            _, new = orders.keys(now, beside=True)
            back = {
                label: place[tuple(r[name] for name in names)]
                for label, (r, _) in zip(orders.labels([*now, *orders.beside]), orders.atoms, strict=True)
            }
            found.append([[str(rows[back[key]][t]) for key in new] for t in range(self.many)])
        return found

    def promised(self) -> list[str]:
        """The multipliers of all promises, and what those of independence end with: margins."""
        self.leakage()
        self.worst()
        self.odds()
        margins = self.equal()
        self.near()
        self.gauges()
        self.delta()
        self.capacity()
        self.within()
        self.contraction()
        return margins

    def leakage(self) -> None:
        given = iter(self.proof["leakage"])
        for k in self.orders.having("leakage"):
            self.weights[k] = str(next(given))
            self.rows[k] = list(self.columns(self.orders.promises[k]["leakage"], next(self.posteriors)))

    def worst(self) -> None:
        singles = iter(zip(self.proof.get("worst_posteriors", []), self.proof.get("worst", []), strict=True))
        old, new = self.orders.worlds()
        for k in self.orders.having("worst_case_leakage"):
            found: dict[Place, list[Any]] = {}
            for world, (laws, v) in zip(old, singles, strict=False):
                columns = self.columns(self.orders.promises[k]["worst_case_leakage"], laws, world)
                found[world] = [[str(v[t]), column if v[t] else []] for t, column in enumerate(columns)]
            if found:
                self.rows[k] = [[found[world][t] for world in new] for t in range(self.many)]

    def odds(self) -> None:
        promised = self.orders.having("information_privacy")
        for k, nu in zip(promised, self.proof.get("odds", []), strict=False):
            (s_old, s_new), (k_old, k_new) = (
                self.orders.keys(self.orders.promises[k]["information_privacy"]),
                self.orders.worlds(),
            )
            keys = list(product(s_old, k_old))
            mine = list(product(s_new, k_new))
            low = dict(zip(keys, nu, strict=False))
            high = dict(zip(keys, nu[len(keys) :], strict=True))
            self.rows[k] = [[[str(side[key][t]) for key in mine] for side in (low, high)] for t in range(self.many)]

    def equal(self) -> list[str]:
        """Multipliers of independence, and what they end with: margins."""
        given = iter(self.proof.get("equal", []))
        margins: list[str] = []
        if not self.proof.get("equal"):
            return margins
        k_old, k_new = self.orders.worlds()
        for k in self.orders.having("independent"):
            s_old, s_new = self.orders.keys(self.orders.promises[k]["independent"])
            table: defaultdict[Any, Sequence[int]] = defaultdict(lambda: [0] * self.many)
            for world, a in product(k_old, s_old[:-1]):
                table[a, world] = next(given)
            self.rows[k] = [[str(table[a, world][t]) for a in s_new for world in k_new] for t in range(self.many)]
        if self.orders.design["mechanism"].get("preserve_marginals"):
            margins = [str(-int(value)) for value in next(given)]
        return margins

    def gauges(self) -> None:
        """Weights of promises that add up over all letters, and in each case those of values, actions or inputs."""
        given = iter(self.proof.get("gauges", []))
        sibson = iter(self.proof.get("sibson", []))
        kinds = ("guess", "maximal_leakage", "total_variation", "sibson")
        for k, promise in enumerate(self.orders.promises):
            kind = next((key for key in kinds if key in promise), None)
            found = next(sibson if kind == "sibson" else given, None) if kind else None
            if kind is None or found is None:
                continue
            self.weights[k] = str(found["weight"])
            if promise[kind] is True:
                self.rows[k] = self._of_inputs(found["parts"])
            else:
                self.rows[k] = self._of_values(kind, promise, found["parts"])

    def _of_inputs(self, parts: Sequence[Any]) -> list[Any]:
        """Of maximal leakage about everything: inputs with their weights; parts have the inputs of one stratum."""
        places = self.orders.occur_then
        worlds: defaultdict[Place, list[int]] = defaultdict(list)
        names = [name for name in self.orders.reads if name in self.orders.beside_then]
        strata = dict(zip(self.orders.input, self.orders.labels(names), strict=True))
        for place in places:
            worlds[strata[place]].append(place)
        inputs = [place for world in sorted(worlds) for place in worlds[world]]
        rows = [row for part in parts for row in part]
        return [
            [[place, str(row[t])] for place, row in zip(inputs, rows, strict=True) if row[t]] for t in range(self.many)
        ]

    def _of_values(self, kind: str, promise: Json, parts: Sequence[Any]) -> list[Any]:
        """For each letter and each world a number for each value or action."""
        (s_old, s_new), (k_old, k_new) = self.orders.keys(promise[kind]), self.orders.worlds()
        if kind == "total_variation":
            alone = {key: part[0] for key, part in zip(product(k_old, s_old), parts, strict=True)}
            return [[str(alone[world, s][t]) for s, world in product(s_new, k_new)] for t in range(self.many)]
        of_world = dict(zip(k_old, parts, strict=True))
        if promise.get("gain"):
            return [[[str(row[t]) for row in of_world[world]] for world in k_new] for t in range(self.many)]
        at = {value: row for row, value in enumerate(s_old)}
        return [[[str(of_world[world][at[s]][t]) for s in s_new] for world in k_new] for t in range(self.many)]

    def delta(self) -> None:
        """Pairs of inputs with a weight for all letters, and a slope for each."""
        promised = [k for k in self.orders.having("local_dp") if "delta" in self.orders.promises[k]]
        for k, cuts in zip(promised, self.proof.get("delta", []), strict=False):
            for cut in cuts:
                first, second = (self.orders.inputs[x] for x in cut["pair"])
                said = {"promise": k, "first": first, "second": second, "at": "0", "weight": text(cut["weight"])}
                self.cuts.append(said | {"slopes": [text(a) for a in cut["slopes"]]})

    def capacity(self) -> None:
        """Laws of the inputs with their weights, and for each letter the posteriors of those that have one."""
        place = {x: e for e, x in enumerate(self.orders.occur_then)}
        for k, cuts in zip(self.orders.having("dalenius"), self.proof.get("dalenius", []), strict=False):
            for cut in cuts:
                weights = [cut["weights"][place[x]] if x in place else 0 for x in range(len(self.orders.inputs))]
                used = [place[x] for x, weight in enumerate(weights) if weight]
                self._cut(k, weights, cut["laws"], used)

    def within(self) -> None:
        """Laws of the cells of a ball with their weights, and for each letter the posteriors of (s, k) with weight."""
        orders = self.orders
        for k, cuts in zip(orders.having("leakage"), self.proof.get("within", []), strict=False):
            secret = orders.promises[k]["leakage"]
            names = list(dict.fromkeys([*secret, *orders.reads, *orders.beside]))
            cells = [
                dict(zip(names, cell, strict=True)) for cell in product(*(orders.alphabets[name] for name in names))
            ]
            for cut in cuts:
                known = {tuple(sorted(cell.items())): weight for cell, weight in cut["cells"]}
                weights = [known.get(tuple(sorted(cell.items())), 0) for cell in cells]
                place = {tuple(sorted(label.items())): e for e, label in enumerate(cut["labels"])}
                labels = [tuple(sorted((n, cell[n]) for n in {*secret, *orders.beside})) for cell in cells]
                used = [place[label] for label in dict.fromkeys(x for x, w in zip(labels, weights, strict=True) if w)]
                self._cut(k, weights, cut["laws"], used)

    def _cut(self, k: int, weights: list[Any], laws: list[list[Any]], used: list[int]) -> None:
        """A cut of promise k: weights, and of each law the entries at these places."""
        kept = [[str(law[e]) for e in used] for law in laws]
        self.cuts.append({"promise": k, "weights": texts(weights), "laws": kept})

    def near(self) -> None:
        inputs = self.orders.inputs
        promised = [k for k in self.orders.having("local_dp") if "delta" not in self.orders.promises[k]]
        for k, found in zip(promised, self.proof.get("near", []), strict=False):
            self.rows[k] = [[[inputs[i], inputs[j], str(v)] for i, j, v in pairs] for pairs in found]

    def contraction(self) -> None:
        occur = self.orders.occur_then
        for k, cuts in zip(self.orders.having("contraction"), self.proof.get("contraction", []), strict=False):
            for cut in cuts:
                first, second = (occur[e] for e in cut["pair"])
                said = {"promise": k, "first": first, "second": second, "at": text(cut["b"])}
                self.cuts.append(said | {"weight": text(cut["weight"]), "slopes": [text(a) for a in cut["a"]]})


def _letters(design: Json) -> int:
    many = 1
    for letters in design["channel"]["output"].values():
        many *= len(letters)
    return many


def _fresh(design: Json) -> int:
    """How many letters an output of its own has, which a distortion fixes."""
    aim = design["objective"].get("minimize", {})
    measures = [entry["promised"] for entry in design.get("limits", []) if "information" not in entry["promised"]]
    measures += [aim] if "distortion" in aim or "sum" in aim else []
    for part in (part for measure in measures for part in measure.get("sum", [measure])):
        if not isinstance(part["distortion"], str):
            return len(part["distortion"][0])
        if part["distortion"] == "erasure":
            return len({*design["joint"]["variables"][part["of"][0]], ERASED})
    return 0
