"""Which letters a mechanism may release for each input, and at what cost: what a design says, read strictly."""

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

from dalenius.core.distorting import ERASED, columns_of, distortions
from dalenius.core.reading import Release, require

__all__ = ["MAPS", "Row", "Scheme", "leaves"]

MAPS = 1 << 14  # strategies; more are never listed
Row = list[Any]
Map = tuple[int | None, ...]  # a letter for each world; None: any letter, the cheapest for each row


def leaves(tree: list[int], worlds: int, letters: int) -> list[Map]:
    """The leaves of a tree of maps in pre-order; every map is below exactly one of them.

    An entry is the world that a node is split on, one branch for each letter in turn, or -1 for a leaf.

    >>> leaves([1, -1, 0, -1, -1], 2, 2)
    [(None, 0), (0, 1), (1, 1)]
    """
    found, stack = list[Map](), list[Map]([(None,) * worlds])
    for world in tree:
        require(bool(stack), "a tree of maps goes on after its last leaf")
        node = stack.pop()
        if world == -1:
            found.append(node)
            continue
        require(isinstance(world, int) and 0 <= world < worlds and node[world] is None, "a tree of maps splits oddly")
        stack += [(*node[:world], a, *node[world + 1 :]) for a in reversed(range(letters))]
    require(not stack and len(found) <= MAPS, "a tree of maps lacks leaves, or has too many")
    return found


class Scheme:
    """The mechanisms that compete: a letter is what is told in each world, one world unless the user has a Z."""

    def __init__(self, release: Release, design: dict[str, Any]) -> None:
        self.release, self.alphabets, mechanism = release, design["joint"]["variables"], design["mechanism"]
        self.measures = [entry["promised"] for entry in design.get("limits", [])]
        aim = design["objective"].get("minimize", {})
        self.names, self.occur = mechanism.get("release") or [mechanism["output"]], sorted(set(release.row))
        place = {x: i for i, x in enumerate(self.occur)}
        self.row, self.mass = [place[x] for x in release.row], [0] * len(place)
        for e, (_, n) in zip(self.row, release.atoms, strict=True):
            self.mass[e] += n
        output, drawn = design["channel"]["output"], list(product(*design["channel"]["output"].values()))
        require(list(output) == self.names, "the channel releases other columns than said")
        self.told = list(product(*(self.alphabets[n] for n in mechanism.get("release", []))))
        if not mechanism.get("release"):
            shapes = self.measures + ([aim] if "distortion" in aim or "sum" in aim else [])
            self.told = next(filter(None, map(self._fresh, shapes)), [])
            require(bool(self.told), "nothing says which letters may be released")
        self.world, worlds = [0] * len(self.row), list[tuple[str, ...]]([()])
        if release.encoder == "statistically-informed":
            plain = not any(mechanism.get(key) for key in ("forbid", "freeze", "preserve_marginals"))
            require(len(self.names) == 1 and plain, "strategies are for one released column, with nothing forbidden")
            worlds = sorted(set(release.outcomes(release.side)))
            self.world = [worlds.index(z) for z in release.outcomes(release.side)]
            at = {t: k for k, t in enumerate(self.told)}
            self.drawn: list[Map] = [tuple(at[(design["decoder"][y][z[0]],)] for z in worlds) for (y,) in drawn]
        else:
            require(drawn == self.told, "the released letters are not those of the problem")
            self.drawn = [(k,) for k, _ in enumerate(drawn)]
        self.maps: list[Map] = []
        if tree := design.get("certificate", {}).get("tree"):
            self.maps = leaves(tree, len(worlds), len(self.told))
        else:
            require(len(self.told) ** len(worlds) <= MAPS or len(worlds) == 1, "there are too many strategies")
            self.maps = list(product(range(len(self.told)), repeat=len(worlds)))
        self.barred = self._barred(mechanism)

    def _fresh(self, measure: dict[str, Any]) -> list[tuple[str, ...]]:
        """The letters of an output of its own: the columns of a matrix, or those of a column and an erased one."""
        for part in measure.get("sum", [measure]):
            if not isinstance(part["distortion"], str):
                return [(str(k),) for k in range(len(part["distortion"][0]))]
            if part["distortion"] == "erasure" and len(part["of"]) == 1:
                return [*((a,) for a in self.alphabets[part["of"][0]] if a != ERASED), (ERASED,)]
        return []

    def _barred(self, mechanism: dict[str, Any]) -> list[set[int]]:
        """For each row, the letters that `forbid` and `freeze` exclude; a combination that cannot be, for each row."""
        forbid, frozen = mechanism.get("forbid", []), set(mechanism.get("freeze", []))
        pairs, zeros = {tuple(p) for p in forbid if isinstance(p, list)}, [z for z in forbid if isinstance(z, dict)]
        require(all(z and set(z) <= set(self.names) for z in zeros), "a combination is of other columns than released")
        named = [dict(zip(self.names, t, strict=True)) for t in self.told]
        self.never = {t for t, y in enumerate(named) if any(all(y[n] in z[n] for n in z) for z in zeros)}
        if not pairs and not frozen:
            return [self.never] * len(self.mass)
        read = [n for n in self.names if n in self.release.inputs]
        inputs: dict[int, tuple[str, ...]] = dict(zip(self.row, self.release.outcomes(read), strict=True))
        at = [self.names.index(n) for n in read]
        return [
            self.never
            | {
                t
                for t, letters in enumerate(self.told)
                for x, y in zip(inputs[e], (letters[i] for i in at), strict=True)
                if (x, y) in pairs or (x in frozen and x != y)
            }
            for e in range(len(self.mass))
        ]

    def by_row(self, labels: list[Any]) -> list[Counter[Any]]:
        """For each row e, the weight N(label, e) of each label."""
        out = [Counter[Any]() for _ in self.mass]
        for e, label, (_, n) in zip(self.row, labels, self.release.atoms, strict=True):
            out[e][label] += n
        return out

    def costs(self, measure: dict[str, Any], end: int, maps: list[Map]) -> tuple[list[Row], int]:
        """N(e) E[d(X, letter) | e] for each row and letter, from below (0) or above (1), out of the unit.

        Where a map says any letter, the least that one of them costs this row.
        """
        labels = list(zip(self.release.outcomes(columns_of(measure)), self.world, strict=True))
        rows = sorted({x for x, _ in labels})
        *tables, unit = distortions(measure, self.alphabets, rows, self.names, self.told)
        table, out = dict(zip(rows, tables[end], strict=True)), []
        for found in self.by_row(labels):
            per: dict[int, Row] = {w: [0] * len(self.told) for w in range(len(maps[0]))}
            for (x, w), n in found.items():
                per[w] = [None if a is None or d is None else a + n * d for a, d in zip(per[w], table[x], strict=True)]
            known: list[dict[int | None, Any]] = [dict(enumerate(row)) for row in per.values()]
            for row in known:
                row[None] = min((v for v in row.values() if v is not None), default=None)
            if len(known) == 1:
                out.append([known[0][t] for (t,) in maps])
                continue
            picked = ([known[w][t] for w, t in enumerate(letter)] for letter in maps)
            out.append([None if None in parts else sum(parts) for parts in picked])
        return out, unit

    def expected(self, measure: dict[str, Any]) -> Fraction:
        """The expected distortion of the channel, exactly (`kl`: an upper bound)."""
        (rows, unit), total = self.costs(measure, 1, self.drawn), 0
        for x, cost in zip(self.occur, rows, strict=True):
            require(
                not any(v and c is None for v, c in zip(self.release.rows[x], cost, strict=True)),
                "a distortion is infinite",
            )
            total += sum(v * c for v, c in zip(self.release.rows[x], cost, strict=True) if v)
        return Fraction(total, unit * self.release.scale * self.release.total)

    def margin(self) -> list[int]:
        """The weights of the letters before the release, in the order of the letters."""
        found = self.release.weights(self.release.outcomes(self.names))
        return [found[(t,)] for t in self.told]
