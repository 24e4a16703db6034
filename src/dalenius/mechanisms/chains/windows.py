r"""Many independent samples: small windows, each with its own private output, that stay private together.

Windows may share samples as long as they form no cycle (a Berge-acyclic cover: two windows have at most one sample in
common, and no ring of windows closes). Windows of three with two samples in common, as the paper proposes after eq.
(66), leak, and are refused. The lemma and its proof: `docs/mechanisms/compositions.md`.

References: Rassouli, Rosas & Gündüz, "Data Disclosure under Perfect Sample Privacy" (paper 000), section V-C, Lemma 7.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from dalenius.core import (
    Channel,
    Design,
    Independent,
    MarkovChain,
    MaximizeInformation,
    Problem,
    Product,
    ProductPmf,
    Windows,
)
from dalenius.core.forms.windows import LEAK, chain
from dalenius.errors import MismatchError, Unsupported
from dalenius.mechanisms.chains.markov import chain_windows, output_of
from dalenius.mechanisms.chains.takes import WINDOWS
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.proof_terms import CLOSED, IN_GROUPS
from dalenius.mechanisms.proving import proved

__all__ = ["Cover", "independent_law", "proved_how", "windows"]

ENUMERATED = 1 << 14  # entries of the channel written out; beyond, the lemma proves what multiplication would

Names = tuple[str, ...]


class Cover:
    """Windows over independent groups of variables, proved to form no cycle; which parts of which views each guards.

    >>> coin = {"variables": {"X1": ["0", "1"]}, "pmf": [{"X1": "0", "p": "1/3"}, {"X1": "1", "p": "2/3"}]}
    >>> law = ProductPmf.from_json({"independent": [coin]}).alike(4)
    >>> Cover(law, [("X1", "X2"), ("X2", "X3", "X4")]).shared
    {1}
    """

    def __init__(self, law: ProductPmf, lists: Sequence[Names]) -> None:
        self.law, self.lists = law, [tuple(window) for window in lists]
        self.seen = [sorted({law.place(name) for name in window}) for window in self.lists]
        self.tree = list(range(len(law.groups)))
        for j, seen in enumerate(self.seen):
            roots = {self.tree[b] for b in seen}
            if len(roots) < len(seen):
                raise Unsupported(self._cycle(j))
            self.tree = [min(roots) if t in roots else t for t in self.tree]
        self.shared = {b for b in range(len(law.groups)) if sum(b in seen for seen in self.seen) > 1}

    def _cycle(self, j: int) -> str:
        here = f"window {j + 1} ({', '.join(self.lists[j])})"
        for i in range(j):
            if len(common := [b for b in self.seen[i] if b in self.seen[j]]) > 1:
                names = [n for n in self.lists[j] if self.law.place(n) in common]
                return (
                    f"{here} shares {', '.join(names)} with window {i + 1} ({', '.join(self.lists[i])}); windows that "
                    f"share more than one sample leak in general, even when each of them is private ({LEAK}); let "
                    'neighbours share one sample, windows = { size = ..., overlap = 1 }, or take form = "sums"'
                )
        return f"{here} closes a ring of windows; the lemma needs a cover without cycles, so leave one window out"

    def guarded(self, j: int, views: Sequence[Names]) -> list[Names]:
        """What the output of one window must be independent of, so that all outputs together keep the views."""
        place, own = self.law.place, set(self.seen[j])
        parts = [tuple(n for n in self.lists[j] if place(n) == b) for b in self.seen[j] if b in self.shared]
        for view in views:
            for root in sorted({self.tree[place(n)] for n in view}):
                part = tuple(n for n in view if self.tree[place(n)] == root)
                groups = {place(n) for n in part}
                if not groups & own or (len(groups) == 1 and groups <= self.shared):
                    continue
                if not groups <= own:
                    raise Unsupported(
                        f"the view {', '.join(view)} is spread over several windows that are connected; put "
                        f"{', '.join(part)} into one window, or let these windows share no sample"
                    )
                parts.append(part)
        return list(dict.fromkeys(parts))


def windows(
    problem: Problem,
    *,
    size: int | None = None,
    overlap: int = 1,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    r"""Y_1, ..., Y_m, one for each window, each telling the most about W that its window can tell in private.

    The samples must be independent, or come in independent groups: `{"independent": [...]}` as source or prior. With
    `size` the windows run along the observed samples; else the problem lists them. The value is sum_j I(W; Y_j), which
    is I(W; Y) exactly when W is all of the samples and a lower bound otherwise; the bound is min_V I(W; X | V), which
    no mechanism exceeds. Small compositions are written out and proved outcome by outcome, others by the lemma.

    >>> from dalenius.testing import self_disclosure
    >>> design = windows(self_disclosure(["3/5", "2/5"], 5), size=3)
    >>> f"{float(design.value):.9f}", list(design.channel.output), design.kind
    ('2.794551177', ['Y1', 'Y2'], 'universal')
    """
    if size is not None:
        problem = replace(problem, form="windows", windows=chain(problem.observe, size, overlap))
    WINDOWS.refuse(problem)
    if isinstance(problem.law, MarkovChain):
        return chain_windows(problem, gap=gap, seconds=seconds, on_progress=on_progress)
    law = independent_law(problem)
    problem, cover = replace(problem, joint=law), Cover(law, problem.windows)
    channels: list[Channel] = []
    known: dict[Any, Channel] = {}
    for j, names in enumerate(cover.lists):
        if on_progress:
            on_progress(f"window {j + 1} of {len(cover.lists)}")
        small, key = _window(problem, cover, j)
        if key not in known:
            known[key] = _designed(small, gap, seconds / len(cover.lists))
        output = output_of(problem, j)
        ((_, letters),) = known[key].output.items()
        channels.append(Channel(law.alphabets(names), {output: letters}, known[key].rows))
    apart = len({n for w in cover.lists for n in w}) == sum(map(len, cover.lists))
    channel = (Product if apart else Windows)(law.alphabets(problem.inputs), tuple(channels))
    few = prod(channel.shape) <= ENUMERATED and prod(map(len, law.groups)) <= ENUMERATED
    return proved(
        problem,
        channel,
        [CLOSED if few else IN_GROUPS],
        method=f"{len(channels)} windows of at most {max(map(len, cover.lists))} samples, each designed by itself "
        f"({len(known)} different)",
        remarks=[
            proved_how("" if few else "window by window and by the lemma on compositions"),
            *([law.note] if law.note else []),
        ],
    )


def independent_law(problem: Problem) -> ProductPmf:
    """The law of a problem as independent groups; refused where it is not, in exact arithmetic."""
    if isinstance(problem.law, ProductPmf):
        return problem.law
    try:
        return ProductPmf.of(problem.pmf)
    except MismatchError as e:
        raise Unsupported(
            f"outputs compose over independent samples only, and {e}; two private outputs about dependent samples "
            'leak together. Design on a stated distribution that says which are independent: {"independent": [...]}'
        ) from None


def _window(problem: Problem, cover: Cover, j: int) -> tuple[Problem, Any]:
    """The problem of one window, and what tells it apart from others but for the names."""
    names = cover.lists[j]
    law = cover.law.touching(cover.lists[j]).multiplied
    about = tuple(name for name in problem.objective.names if name in law.variables)
    place = list(law.variables).index
    views = sorted(cover.guarded(j, problem.views), key=lambda view: list(map(place, view)))
    if not views:
        raise Unsupported(f"window {j + 1} ({', '.join(names)}) has nothing to protect; leave it out")
    small = Problem(
        joint=law,
        observe=names,
        output=problem.output,
        objective=MaximizeInformation(about),
        guarantees=tuple(Independent(view) for view in views),
    )
    roles = [tuple(map(place, group)) for group in (names, about, *views)]
    return small, (
        tuple(map(len, law.variables.values())),
        law.support.tobytes(),
        tuple(law.weights),
        law.total,
        *roles,
    )


def _designed(small: Problem, gap: float, seconds: float) -> Channel:
    if not small.objective.names:  # nothing wanted is in reach
        return Channel.constant(small.pmf.alphabets(small.inputs), small.output or "Y")
    channel = disclose(small, gap=gap, seconds=seconds).channel
    return Channel(channel.inputs, channel.output, channel.rows)


def proved_how(lemma: str) -> str:
    """The remark that says whether privacy was proved outcome by outcome or by a lemma, and what it rests on."""
    how = f"{lemma}, because all outcomes together are too many to list" if lemma else "outcome by outcome"
    return (
        f"samples are taken to depend on each other as the given distribution says (privacy was proved {how}); for "
        "records whose columns depend on each other otherwise the promise does not hold"
    )
