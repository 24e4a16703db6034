"""Compositions of private windows over independent samples, proved window by window; nothing is multiplied out.

The joint pmf is a product of groups of variables; outputs Y_j are drawn independently, each from its window e_j. Join a
window to every group that it looks at. If that graph is a forest, and each window is independent, jointly, of what it
sees of every group that another window looks at too, then Y_1, ..., Y_m are independent of each other, and together
they are independent of a view V as soon as, in each tree, V lies in one group that several windows look at, or in
groups of one window whose own output is independent of that part of V.

Proof. Fix y, hang a tree up by its window e and sum the other samples out from the leaves. A window f below a group b
passes on sum p(y_f | x_f) p(x_f outside b) = p(y_f | what f sees of b) = p(y_f), a constant, because b has another
window above. Hence p(y | x of the groups of e) = p(y_e | x_e) prod_f p(y_f), and averaging over what V leaves open
gives p(y | v) = prod p(y_f). Hung up by a group with several windows, all of them pass on constants.
"""

from fractions import Fraction
from typing import Any

from dalenius.certify.groups import Groups
from dalenius.certify.privacy import Figures, independent
from dalenius.core.expanding import parts_of
from dalenius.core.numbers import down, up
from dalenius.core.reading import Release, information, require

FORMS = ("product", "windows")


def window_channels(channel: dict[str, Any]) -> list[dict[str, Any]]:
    """Each window of a channel as a channel of its own."""
    require(set(channel) == {"form", "inputs", "output", "channels"}, "a channel has other keys than it may")
    return parts_of(channel)


class Composition(Groups):
    """The windows, and the trees that they form with the groups; each window is proved to be a channel."""

    def __init__(self, design: dict[str, Any]) -> None:
        super().__init__(design)
        require(design["channel"].get("form") in FORMS, "the channel is not a composition of windows")
        self.seen: list[list[int]] = []
        self.windows: list[Release] = []
        self.tree = list(range(len(self.groups)))
        for window in window_channels(design["channel"]):
            seen = sorted({self.place[name] for name in window["inputs"]})
            roots = {self.tree[b] for b in seen}
            require(
                len(roots) == len(seen),
                f"the window of {next(iter(window['output']))} closes a cycle: it has two samples in common with "
                "other windows that are connected already, and the lemma does not hold",
            )
            self.tree = [min(roots) if t in roots else t for t in self.tree]
            self.seen.append(seen)
            self.windows.append(self._looks(design, seen, window))
        self.shared = {b for b in range(len(self.groups)) if sum(b in seen for seen in self.seen) > 1}
        for seen, release in zip(self.seen, self.windows):
            for b in self.shared & set(seen):
                independent(release, [name for name in release.inputs if self.place[name] == b])

    def private(self, view: list[str]) -> Figures:
        """Refused unless the condition on the view holds; nobody can guess it better afterwards than before."""
        for root in {self.tree[self.place[name]] for name in view}:
            part = [name for name in view if self.tree[self.place[name]] == root]
            groups = {self.place[name] for name in part}
            if len(groups) == 1 and groups <= self.shared:
                continue
            looking = [w for seen, w in zip(self.seen, self.windows) if groups <= set(seen)]
            touched = any(groups & set(seen) for seen in self.seen)
            require(bool(looking) or not touched, f"no window has all of {', '.join(part)}: the lemma says nothing")
            for window in looking:
                independent(window, part)
        guess = self.guess(view)
        more = {}
        for seen, window in zip(self.seen, self.windows):
            for name in window.inputs if {self.place[n] for n in view} <= set(seen) else ():
                if name not in view:  # I(V; Y | name) = I(V; Y_e | name): the other windows pass on constants
                    more[name] = up(information(window.with_output(view, [name]))[1])
        zero = {"leakage_bits": "0", "worst_letter_bits": "0", "odds_nats": "0"}
        return zero | {"guess_before": down(guess), "guess_after": up(guess), "with_one_more_bits": more}

    def value(self, about: list[str]) -> Fraction:
        """I(W; Y) >= sum_j I(W; Y_j), as the Y_j are independent; with equality when W has every input of a window."""
        told = [information(w.with_output(self.within(about, s), []))[0] for w, s in zip(self.windows, self.seen)]
        return sum(told, Fraction(0))


def prove_promises(design: dict[str, Any], composed: Composition | None = None) -> tuple[Figures, ...]:
    """The figures of every promise; only independence is proved for a composition."""
    composed, promises = composed or Composition(design), [g["promised"] for g in design["guarantees"]]
    require(all(set(p) == {"independent"} for p in promises), "a composition is proved to be independent, nothing else")
    return tuple(composed.private(p["independent"]) for p in promises)


def composition(design: dict[str, Any]) -> tuple[tuple[Figures, ...], str, Fraction, Fraction, Fraction]:
    """Promises, value, bound and entropy of a composition of windows, all proved."""
    composed, about = Composition(design), design["objective"]["maximize"]["information"]
    figures, views = prove_promises(design, composed), [g["promised"]["independent"] for g in design["guarantees"]]
    return figures, "composition", composed.value(about), composed.bound(about, views), composed.entropy(about)
