r"""Proof of a design of form "orbits": columns t_k for samples that are alike, dealt to them in every order.

A letter is a column k and the roles of the samples in it, that is, words of column k in the order of this record (see
`core.forms.orbits`). If p is exchangeable and P(type) = sum_k weight_k t_k(words of that type) for every type, then the
rows p(letter | x) are pmfs, and given a letter x is a word w of column k, in that order, with probability t_k(w). So

    X_i is independent of the letter     if every place of every t_k has the margin of a sample;
    I(X; Y) = H(p) - sum_k weight_k H(t_k);
    I(X_i; Y | X_j) = H(X_i, X_j) - sum_k weight_k (mean of H(t_k at two places) over all pairs of places).

The last uses that X_j, too, is independent of the letter. The bound is that of `box_tree`.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, product
from math import factorial, prod
from typing import Any

from dalenius.certify.box_tree import least_bound
from dalenius.certify.privacy import Figures
from dalenius.core.arithmetic import BITS, times_log2
from dalenius.core.expanding import roles_of
from dalenius.core.numbers import down, exact, up
from dalenius.core.reading import Release, require

Masses = dict[tuple[str, ...], Fraction]


def dealt_columns(channel: dict[str, Any]) -> list[tuple[Fraction, Masses]]:
    """Weight and words of each column, in letters; proved to be pmfs, and the released letters to be theirs."""
    require(set(channel) == {"form", "inputs", "output", "columns"}, "a channel has other keys than it may")
    alphabets, columns, most = list(channel["inputs"].values()), list[tuple[Fraction, Masses]](), 0
    letters = alphabets[0]
    require(len(alphabets) > 1 and all(a == letters for a in alphabets), "the samples have different letters")
    require(len(set(letters)) == len(letters), "a channel has a bad alphabet")
    for weight, words in channel["columns"]:
        require(all(min(word) >= 0 and len(word) == len(alphabets) for _, word in words), "a word is damaged")
        masses = {tuple(letters[a] for a in word): exact(mass) for mass, word in words}
        require(len(masses) == len(words), "a word stands twice in one column")
        require(min(masses.values()) >= 0 and sum(masses.values()) == 1, "a column is not a pmf")
        columns.append((exact(weight), masses))
        most = max(most, *roles_of([word for _, word in words]))
    require(min(w for w, _ in columns) >= 0 and sum(w for w, _ in columns) == 1, "the weights are not a pmf")
    (name, numbers), *told = channel["output"].items()
    require(numbers == [str(k) for k in range(len(columns))], "the released columns are not numbered")
    roles = [(f"{name}_{sample}", [str(r) for r in range(most + 1)]) for sample in channel["inputs"]]
    require(told == roles, "the released roles are not those of the columns")
    return columns


def spread(masses: Masses, end: int) -> int:
    """2^BITS H in bits, from above (end 0) or from below (end 1)."""
    return -sum(times_log2(t, t)[end] for t in masses.values())


def at_places(masses: Masses, places: tuple[int, ...]) -> Masses:
    out: Masses = defaultdict(Fraction)
    for word, t in masses.items():
        out[tuple(word[i] for i in places)] += t
    return out


class _Orbits:
    """The law of the samples and the columns, the one proved to be the mixture of the other in every order."""

    def __init__(self, design: dict[str, Any]) -> None:
        require(not {"limit", "limits", "side_information"} & set(design), "limits are not proved here")
        channel = design["channel"]
        self.columns, names = dealt_columns(channel), list(channel["inputs"])
        nothing = {"inputs": channel["inputs"], "output": {"": [""]}}
        many = prod(map(len, channel["inputs"].values()))
        release = Release(design | {"channel": nothing | {"rows": [["1"]] * many}})
        require(not release.kept, "nothing can be kept beside orbits")
        self.total, self.mass = release.total, release.weights(release.outcomes(names))
        self.p = {x: Fraction(n, self.total) for (x,), n in self.mass.items()}
        require(len(self.p) == many, "an outcome of the samples is impossible")
        by_type: dict[Any, set[Fraction]] = defaultdict(set)
        for x, t in self.p.items():
            by_type[tuple(sorted(x))].add(t)
        require(all(len(masses) == 1 for masses in by_type.values()), "the samples are not alike")
        mixed: dict[Any, Fraction] = defaultdict(Fraction)
        for weight, masses in self.columns:
            for word, t in masses.items():
                mixed[tuple(sorted(word))] += weight * t
        for kind, (t,) in by_type.items():
            orders = factorial(len(kind)) // prod(factorial(n) for n in Counter(kind).values())
            require(mixed[kind] == orders * t, f"the columns do not have the mass of the samples {', '.join(kind)}")
        self.margin, self.names = at_places(self.p, (0,)), names
        for k, (_, masses) in enumerate(self.columns):
            for i in range(len(names)):
                there = at_places(masses, (i,))
                for a, t in self.margin.items():
                    d = there.get(a, Fraction(0)) - t
                    require(d == 0, f"p({names[i]}={a[0]}, column {k}) differs from the product: by {d} of the column")

    def one_more(self) -> Fraction:
        """I(X_i; Y | X_j) from above, the same for every pair of samples."""
        places = list(combinations(range(len(self.names)), 2))
        mixed = [w * spread(at_places(masses, pair), 1) for w, masses in self.columns for pair in places]
        apart = spread(at_places(self.p, (0, 1)), 0) - sum(mixed, Fraction(0)) / len(places)
        return max(Fraction(0), apart / (1 << BITS))


def orbit_card(card: dict[str, Any]) -> tuple[None, ...]:
    """A card of this form lists columns, but nothing is proved without the law of the samples."""
    dealt_columns(card["channel"])
    return (None,) * len(card["guarantees"])


def orbit_promises(design: dict[str, Any]) -> tuple[Figures, ...]:
    """The figures of every promise: independence of single samples, and nothing else."""
    return _figures(_Orbits(design), design)


def _figures(orbits: _Orbits, design: dict[str, Any]) -> tuple[Figures, ...]:
    shown, more, best = [], up(orbits.one_more()), max(orbits.margin.values())
    for guarantee in design["guarantees"]:
        view = guarantee["promised"].get("independent", [])
        single = len(view) == 1 and view[0] in orbits.names and set(guarantee["promised"]) == {"independent"}
        require(single, "orbits are proved to be independent of single samples only")
        none = {"leakage_bits": "0", "worst_letter_bits": "0", "worst_letter": 0, "odds_nats": "0"}
        others = {"with_one_more_bits": {n: more for n in orbits.names if n != view[0]}}
        shown.append(none | {"guess_before": down(best), "guess_after": up(best)} | others)
    return tuple(shown)


def orbits(design: dict[str, Any]) -> tuple[tuple[Figures, ...], str, Fraction, Fraction, Fraction]:
    """Promises, value, bound and entropy of a design of this form that tells about all samples."""
    read = _Orbits(design)
    require(set(design["objective"]["maximize"]["information"]) == set(read.names), "orbits tell about all samples")
    figures, proof = _figures(read, design), design["certificate"]
    views = list(dict.fromkeys(g["promised"]["independent"][0] for g in design["guarantees"]))
    require(sorted(views) == sorted(read.names), "the promises are not one for each sample")
    outcomes, at = list(product(*design["channel"]["inputs"].values())), [read.names.index(name) for name in views]
    atoms, mass = [tuple(x[i] for i in at) for x in outcomes], [read.mass[x,] for x in outcomes]
    bound = least_bound(mass, read.total, atoms, [exact(v) for v in proof["dual"]], proof["tree"])
    low, high = spread(read.p, 1), spread(read.p, 0)
    left = sum((weight * spread(masses, 0) for weight, masses in read.columns), Fraction(0))
    return figures, "orbits", max(Fraction(0), (low - left) / (1 << BITS)), bound, Fraction(high, 1 << BITS)
