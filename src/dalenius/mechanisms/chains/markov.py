"""Windows over a Markov chain: one private output for each run of neighbours, private all together.

Neighbours of a chain depend on each other, so that outputs which are private by themselves can leak together. They do
not if each is independent, jointly, of the ends of its run beyond which another run follows, or samples that a view
has: given all ends, the runs have nothing to do with each other (`docs/mechanisms/compositions.md`). Each run is
designed with that as a view.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from dalenius.core import Certificate, Channel, Design, Independent, MarkovChain, MaximizeInformation, Problem, Windows
from dalenius.errors import InputError, Unsupported
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.mechanisms.proving import proved

__all__ = ["chain_windows", "output_of"]

Names = tuple[str, ...]


def output_of(problem: Problem, window: int) -> str:
    """What the output of a window is called.

    Raises
    ------
    InputError
        If a column is called so already.
    """
    output = f"{problem.output}{window + 1}"
    if output in problem.law.variables:
        raise InputError(
            f"the output of window {window + 1} would be called {output!r}, like a source variable",
            do="Rename this column.",
        )
    return output


def chain_windows(
    problem: Problem, *, gap: float, seconds: float, on_progress: Callable[[str], None] | None = None
) -> Design:
    """Y_1, ..., Y_m, one for each run of neighbours, each telling the most that its run can tell in private.

    Parameters
    ----------
    problem : Problem
        Bound to a chain, with windows that share no sample, and views that lie in one window each.
    gap, seconds : float
        Of the search for each window.
    on_progress : callable, optional
        Told what is done.

    Returns
    -------
    Design
        Its value is the sum over the windows, which is exact where all samples are wanted.

    Raises
    ------
    Unsupported
        If windows share a sample, or a view is spread over several.
    """
    chain = problem.law
    assert isinstance(chain, MarkovChain)
    if set(problem.objective.names) != set(chain.variables):
        raise Unsupported(
            "windows over a chain are proved to say the most about all of its samples; name them all in maximize"
        )
    runs = [_run(chain, window) for window in problem.windows]
    for (_, last), (following, _) in pairwise(runs):
        if following <= last:
            raise Unsupported(
                f"windows over a chain share no sample, and X{following + 1} comes again after a window that ends with "
                f"X{last + 1}; say overlap = 0, or list windows that share none"
            )
    channels: list[Channel] = []
    known: dict[Any, Channel] = {}
    for k, (first, last) in enumerate(runs):
        if on_progress:
            on_progress(f"window {k + 1} of {len(runs)}")
        views = _guarded(chain, problem.views, runs, k)
        key = (last - first, tuple(sorted(tuple(chain.place(n) - first for n in view) for view in views)))
        if key not in known:
            known[key] = _designed(chain, (first, last), views, gap, seconds / len(runs))
        output = output_of(problem, k)
        ((_, letters),) = known[key].output.items()
        names = list(chain.variables)[first : last + 1]
        channels.append(Channel(chain.alphabets(names), {output: letters}, known[key].rows))
    return proved(
        problem,
        Windows(chain.alphabets(problem.inputs), tuple(channels)),
        [Certificate({"rule": "chain"})],
        method=f"{len(channels)} runs of a Markov chain, each designed by itself ({len(known)} different)",
        remarks=[
            "the samples are taken for a Markov chain with the given steps (privacy was proved run by run and by the "
            "lemma on chains); for other samples the promise does not hold"
        ],
    )


def _run(chain: MarkovChain, window: Sequence[str]) -> tuple[int, int]:
    places = sorted(chain.place(name) for name in window)
    if places != list(range(places[0], places[-1] + 1)):
        raise Unsupported(
            f"a window over a chain is a run of neighbours, and {', '.join(window)} is none",
            do="Name neighbouring samples in each window.",
        )
    return places[0], places[-1]


def _guarded(chain: MarkovChain, views: Sequence[Names], runs: Sequence[tuple[int, int]], k: int) -> list[Names]:
    """What the output of one run must be independent of: ends with something to hide beyond them, and its own views."""
    first, last = runs[k]
    names = list(chain.variables)
    hidden = [chain.place(name) for view in views for name in view]
    before = k > 0 or min(hidden, default=first) < first
    after = k < len(runs) - 1 or max(hidden, default=last) > last
    ends = tuple(names[i] for i in dict.fromkeys([*([first] if before else []), *([last] if after else [])]))
    found = [ends] if ends else []
    for view in views:
        places = [chain.place(name) for name in view]
        inside = [first <= place <= last for place in places]
        if any(inside) and not all(inside):
            raise Unsupported(f"the view {', '.join(view)} is spread over several windows; put it into one")
        if all(inside) and not set(view) <= set(ends):
            found.append(tuple(view))
    return list(dict.fromkeys(found))


def _designed(chain: MarkovChain, run: tuple[int, int], views: list[Names], gap: float, seconds: float) -> Channel:
    law = chain.run(*run)
    names = tuple(law.variables)
    if not views:
        raise Unsupported(f"the window {', '.join(names)} has nothing to protect; leave it out")
    small = Problem(
        joint=law,
        observe=names,
        output="Y",
        objective=MaximizeInformation(names),
        guarantees=tuple(Independent(view) for view in views),
    )
    channel = disclose(small, gap=gap, seconds=seconds).channel
    return Channel(channel.inputs, channel.output, channel.rows)
