"""What a document tells, in whole numbers: the joint pmf, the channel, and the part of each variable."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import gcd, lcm, prod
from operator import itemgetter
from typing import Any

from dalenius.core.arithmetic import BITS, log2, nats, share_log2, times_log2
from dalenius.core.forms import channel_of
from dalenius.core.numbers import down, exact, up, whole_texts
from dalenius.errors import InputError, NotCertified, Unsupported

ATOMS = 1 << 20
LONG = 2048  # bits of weights of which only the first are looked at
ONE_MORE, SUMS = 20_000, 500_000  # atoms times inputs, and times letters; beyond, no further column is tried
ENCODERS = ("uninformed", "statistically-informed", "informed")


def require(holds: bool, otherwise: str) -> None:
    """The only way to say no.

    Parameters
    ----------
    holds : bool
        What must be so.
    otherwise : str
        The reason of the refusal.

    Raises
    ------
    NotCertified
        Where it is not.
    """
    if not holds:
        raise NotCertified(otherwise)


@contextmanager
def refusing() -> Iterator[None]:
    """Whatever goes wrong while a file is read is a refusal of that file."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, ArithmeticError, Unsupported) as e:
        what = str(e) if isinstance(e, InputError | Unsupported) else f"{type(e).__name__} {e}"
        raise NotCertified(f"the file is damaged: {what}") from None


def whole(values: list[Fraction]) -> tuple[list[int], int]:
    """The same numbers as integers over their least common denominator."""
    scale = lcm(*(value.denominator for value in values))
    return [value.numerator * (scale // value.denominator) for value in values], scale


def _chain(model: dict[str, Any]) -> dict[str, Any]:
    """The samples of a Markov chain written out, while they are few."""
    letters = list(model["letters"])
    many = int(model["n"])
    require(len(letters) ** many <= ATOMS, "the chain is too long to be written out")
    steps = [[exact(entry) for entry in row] for row in model["transition"]]
    first = [exact(entry) for entry in model["initial"]]
    paths: list[tuple[tuple[int, ...], Fraction]] = [((place,), share) for place, share in enumerate(first) if share]
    for _ in range(many - 1):
        paths = [
            ((*path, place), share * step)
            for path, share in paths
            for place, step in enumerate(steps[path[-1]])
            if step
        ]
    names = [f"X{k + 1}" for k in range(many)]
    records = [
        {name: letters[place] for name, place in zip(names, path, strict=True)} | {"p": share} for path, share in paths
    ]
    return {"variables": dict.fromkeys(names, letters), "pmf": records}


def multiplied(joint: Any) -> Any:
    """A joint pmf written out; independent groups are multiplied, each proved to be a pmf of variables of its own.

    Parameters
    ----------
    joint : dict
        As `joint.json` writes it.

    Returns
    -------
    dict
    """
    if "markov" in joint:
        return _chain(joint["markov"])
    if "independent" not in joint:
        return joint
    groups = joint["independent"]
    names = [name for group in groups for name in group["variables"]]
    require(set(joint) == {"independent"} and len(set(names)) == len(names) and groups, "the groups are not disjoint")
    require(prod(len(group["pmf"]) for group in groups) <= ATOMS, "the distribution is too large to be written out")
    for group in groups:
        p = [exact(record["p"]) for record in group["pmf"]]
        keys = {*group["variables"], "p"}
        require(all(set(record) == keys for record in group["pmf"]), "an outcome of a group has other variables")
        require(sum(p) > 0 and min(p) >= 0, "the distribution of a group is negative somewhere, or empty")
    pmf: list[dict[str, Any]] = [{"p": Fraction(1)}]
    for group in groups:  # probabilities, or counts
        total = sum(exact(record["p"]) for record in group["pmf"])
        pmf = [a | b | {"p": a["p"] * exact(b["p"]) / total} for a in pmf for b in group["pmf"]]
    return {"variables": {name: a for group in groups for name, a in group["variables"].items()}, "pmf": pmf}


def stochastic(channel: Any) -> tuple[dict[str, list[str]], list[list[int]], int]:
    """The inputs and the rows of a channel, as integers over one common denominator.

    A channel of form "types" has a row for each type of its n samples, not for each outcome; its inputs are all n.

    Parameters
    ----------
    channel : dict
        As `channel.json` writes it.

    Returns
    -------
    inputs, rows, scale
    """
    found = channel_of(channel)
    by_type = found.form == "types"
    if found.form and not by_type:
        found.refuse_many()
    rows = [whole(list(row)) for row in (found.drawn if by_type else found.rows)]
    scale = lcm(*(one for _, one in rows))
    return (
        {name: list(letters) for name, letters in found.inputs.items()} if by_type else channel["inputs"],
        [[entry * times for entry in row] for row, times in ((r, scale // one) for r, one in rows)],
        scale,
    )


class Release:
    """Atoms of the joint pmf with their weights out of `total`, and the row of the channel that each of them reads.

    Parameters
    ----------
    design : dict
        With "joint", "channel", "mechanism" and perhaps "side_information", as files of designs write them.
    """

    def __init__(self, design: dict[str, Any]) -> None:
        joint = multiplied(design["joint"])
        alphabets, records = joint["variables"], joint["pmf"]
        p, _ = whole_texts([record["p"] for record in records])  # probabilities, or counts
        self.total = sum(p)
        require("p" not in alphabets, "a variable is called p, like the probability")
        require(self.total > 0 and min(p) >= 0, "the distribution is negative somewhere, or empty")
        self.names, self.alphabets = list(alphabets), alphabets
        self.atoms = [(tuple(r[n] for n in self.names), w) for r, w in zip(records, p) if w]
        require(len({x for x, _ in self.atoms}) == len(self.atoms), "an outcome of the distribution stands twice")
        inputs, self.rows, self.scale = stochastic(design["channel"])
        strata = list(design["mechanism"].get("strata", []))
        side = design.get("side_information", {})
        self.encoder = side.get("encoder")
        self.side = [side["variable"]] if side else []
        require(not side or self.encoder in ENCODERS, "side information without a known encoder")
        read = {*design["mechanism"]["observe"], *strata, *(self.side if self.encoder == "informed" else [])}
        self.sizes = [len(letters) for letters in inputs.values()]
        self.inputs = list(inputs)
        self.leaving = list(design["mechanism"].get("keep", [])) + strata
        # What the user has anyway counts beside what leaves, unless the design is made as if there were nothing.
        self.kept = self.leaving + (self.side if self.encoder != "uninformed" else [])
        require(set(inputs) == read, "the recipe reads other columns than said")
        require(
            all(inputs[n] == alphabets[n] for n in inputs),
            "an input has another list of values than in the distribution",
        )
        self.width = len(self.rows[0])
        self.nothing = [0] * self.width
        self.row = [0] * len(self.atoms)
        for name in inputs:
            place = {letter: k for k, letter in enumerate(inputs[name])}
            self.row = [entry * len(place) + place[x] for entry, (x,) in zip(self.row, self.outcomes([name]))]

    def outcomes(self, names: list[str]) -> list[tuple[str, ...]]:
        """For each atom, its outcome of the named variables.

        Parameters
        ----------
        names : list of str
            Variables.

        Returns
        -------
        list of tuple of str
        """
        if len(names) == 1:
            at = self.names.index(names[0])
            return [(x[at],) for x, _ in self.atoms]
        pick = itemgetter(*(self.names.index(name) for name in names)) if names else lambda _: ()
        return [pick(x) for x, _ in self.atoms]

    def weights(self, *labels: list[Any]) -> Counter[Any]:
        """Weight of each combination of labels, given one list of labels of the atoms for each of them."""
        out: Counter[Any] = Counter()
        for key, (_, w) in zip(zip(*labels), self.atoms):
            out[key] += w
        return out

    def guess_before(self, secret: list[str]) -> Fraction:
        """How often the best guess of a secret is right without the release: from side information that counts.

        Parameters
        ----------
        secret : list of str
            Columns of the law.

        Returns
        -------
        Fraction
        """
        best: Counter[Any] = Counter()
        held = self.outcomes([n for n in self.kept if n not in self.leaving])
        for (z, _), w in self.weights(held, self.outcomes(secret)).items():
            best[z] = max(best[z], w)
        return Fraction(sum(best.values()), self.total)

    def with_output(self, secret: list[str], given: list[str]) -> Counter[Any]:
        """Weight, out of total * scale, of each (secret, given, (released letter, kept columns)).

        Parameters
        ----------
        secret : list of str
            Columns of the law.
        given : list of str
            What the attacker knows.

        Returns
        -------
        Counter
        """
        beside = self.outcomes(self.kept)
        inputs = self.weights(self.outcomes(secret), self.outcomes(given), beside, self.row)
        sums: dict[Any, list[int]] = {}
        for (s, g, k, x), w in inputs.items():
            known = sums.get((s, g, k), self.nothing)
            sums[s, g, k] = [a + w * value for a, value in zip(known, self.rows[x])]
        return Counter(
            {(s, g, (y, k)): entry for (s, g, k), row in sums.items() for y, entry in enumerate(row) if entry}
        )


def margins(q: Counter[Any]) -> tuple[int, Counter[Any], Counter[Any], Counter[Any]]:
    """Of weights q[s, g, y]: their sum, and the weights of (s, g), of (g, y) and of g.

    Parameters
    ----------
    q : Counter
        Weights of (s, g, y).

    Returns
    -------
    total, of (s, g), of (g, y), of g
    """
    with_secret = Counter[Any]()
    with_letter = Counter[Any]()
    alone = Counter[Any]()
    for (secret, given, letter), weight in q.items():
        with_secret[secret, given] += weight
        with_letter[given, letter] += weight
        alone[given] += weight
    return sum(q.values()), with_secret, with_letter, alone


def information(q: Counter[Any]) -> tuple[Fraction, Fraction]:
    """Bounds of I(S; Y | G) in bits, from weights q[s, g, y]: sum p(s,g,y) log2 [p(s,g,y) p(g) / (p(s,g) p(g,y))].

    Parameters
    ----------
    q : Counter
        Weights of (s, g, y).

    Returns
    -------
    low, high
    """
    total, with_secret, with_letter, alone = margins(q)
    if total.bit_length() > LONG:
        ends = [
            share_log2(weight, total, (weight, alone[given]), (with_secret[secret, given], with_letter[given, letter]))
            for (secret, given, letter), weight in q.items()
        ]
        below, above = map(sum, zip(*ends))
    else:
        told: Counter[tuple[int, int]] = Counter()  # outcomes of the same ratio share its logarithm
        for (secret, given, letter), weight in q.items():
            top = weight * alone[given]
            bottom = with_secret[secret, given] * with_letter[given, letter]
            common = gcd(top, bottom)
            told[top // common, bottom // common] += weight
        logs = [(weight, log2(Fraction(*ratio))) for ratio, weight in told.items()]
        # Floor division rounds the lower end down; minus the floor of the negative rounds the upper one up.
        below = sum(weight * low for weight, (low, _) in logs) // total
        above = -(-sum(weight * high for weight, (_, high) in logs) // total)
    return Fraction(max(0, below), 1 << BITS), Fraction(max(0, above), 1 << BITS)


def figures(release: Release, secret: list[str]) -> dict[str, Any]:
    """What is released about a secret: average, worst letter, best guess before and after, with one more column.

    Parameters
    ----------
    release : Release
        Of a design.
    secret : list of str
        Columns of the law.

    Returns
    -------
    dict
        Texts, rounded against us.
    """
    q = release.with_output(secret, [])
    total, prior, out, _ = margins(q)
    worst = dict.fromkeys(sorted(y for _, y in out), 0)
    odds = Fraction(1)
    for (s, _, y), w in q.items():
        now = w * total
        before = prior[s, ()] * out[(), y]
        if now != before:
            worst[y] += times_log2(Fraction(w, out[(), y]), ratio := Fraction(now, before))[1]
            odds = max(odds, ratio, 1 / ratio)
    letter = max(worst, key=worst.__getitem__)
    guesses = (max(q[s, (), y] for s, _ in prior) for _, y in out)
    size = len(release.atoms) * len(release.inputs)
    few = size <= ONE_MORE and size * release.width <= SUMS
    more = [n for n in release.inputs if n not in secret and few]
    return {
        "leakage_bits": up(information(q)[1]),
        "worst_letter_bits": up(Fraction(max(worst[letter], 0), 1 << BITS)),
        "worst_letter": letter[0],
        # Every pair of a value and a letter is there, or a letter rules a value out and no level holds.
        "odds_nats": up(nats(odds)) if len(q) == len(prior) * len(out) else None,
        "guess_before": down(release.guess_before(secret)),
        "guess_after": up(Fraction(sum(guesses), total)),
        "with_one_more_bits": {n: up(information(release.with_output(secret, [n]))[1]) for n in more},
    }
