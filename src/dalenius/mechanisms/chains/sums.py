r"""Sums modulo M: private outputs of many independent samples without a search, as certified designs.

Each sample is made uniform on M states once, S_i from X_i (`measures.uniformiser`: Example 5 for any alphabet and any
M), and the outputs add states of neighbours modulo M. Y is a function of S; the states outside a view make Y uniform
whatever those in the view are; so Y is independent of S_V and, as X_V acts on Y through S_V alone, of X_V.

**How much is told.** A chain of pairs tells n I(X; S) - log2 M + H(S | Y, X); Proposition 2 allows (n - 1) H(X). The
paper takes M = |X|; then I(X; S) < H(X), and the share stays below one. But M is free: where M p(x) is whole for every
x, X is a function of S, I(X; S) = H(X), and the loss against the optimum is at most log2 M - H(X) for any number of
samples. So sums reach the efficiency 1 of Theorem 4 at a cost that grows with n, not with |X|^n.

`window_sums` is Example 3 as printed: sums of k neighbours with one common uniform shift. Form `sums` needs no shift:
sums of k + 1 neighbours are independent of every k of them and tell the same (n - k) log2 M.

**Blocks.** Samples that depend on each other are made uniform together: a block of them is one sample with the
combinations of its values as letters. What hides a block hides every part of it.

References: Rassouli, Rosas & Gündüz, "Data Disclosure under Perfect Sample Privacy" (paper 000), sections V-B and V-C.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import product
from math import fsum, log2, prod

import numpy as np

from dalenius.core import (
    Design,
    Independent,
    MaximizeInformation,
    Pmf,
    Problem,
    ProductPmf,
    Sums,
)
from dalenius.core.conditional_law import Rows
from dalenius.core.forms.windows import sliding
from dalenius.errors import InputError, Unsupported
from dalenius.measures import chains
from dalenius.measures.shannon import entropy_of
from dalenius.mechanisms.chains.takes import SUMS
from dalenius.mechanisms.chains.windows import independent_law, proved_how
from dalenius.mechanisms.proof_terms import CLOSED, IN_GROUPS
from dalenius.mechanisms.proving import proved

__all__ = ["modular_sums", "window_sums"]

DENSE = 1 << 14  # entries of the channel written out for the proof
MODULI = range(2, 65)
MANY = 100  # samples from which on their entropies are added up by their mean

Names = tuple[str, ...]
Run = tuple[str, ...]  # samples that have a state together
Priors = Mapping[Run, Sequence[Fraction]]


def modular_sums(
    problem: Problem,
    *,
    modulus: int | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    r"""Y_k = sum of the states of window k mod M; blocks of samples that are independent of each other.

    Without windows every run of k + 1 neighbouring blocks is added up, k as many as the largest view touches, which
    hides every k neighbours jointly. Without a modulus the one up to 64 that tells the most is taken. While the channel
    can be written out, its value is proved exactly. Beyond, its proof (kind `sums`) states E max(0, m log2 M - sum_i
    H(S_i | X_i = x_i)), which leaves out the entropy of the shifts that Y leaves open. There is nothing to search.

    >>> from dalenius.testing import self_disclosure
    >>> bits = self_disclosure(["9/10", "1/10"], 3)
    >>> [f"{float(modular_sums(bits, modulus=m).value):.4f}" for m in (2, 10)]
    ['0.0338', '0.1765']
    """
    problem = replace(problem, form=problem.form or "sums")
    problem = problem if modulus is None else replace(problem, modulus=modulus)
    SUMS.refuse(problem)
    law, names = independent_law(problem), problem.observe
    runs = _blocks(law, names)
    run_of = {name: run for run in runs for name in run}
    views = [tuple(dict.fromkeys(run_of[n] for n in view if n in run_of)) for view in problem.views]
    terms = _listed(problem, run_of) or _neighbours(runs, views)
    peeling = _Peeling(terms)
    for view, touched in zip(problem.views, views, strict=True):
        if not peeling.hides(touched):
            shown = "; ".join(" + ".join(map(_named, term)) for term in terms[:3])
            raise Unsupported(
                f"the sums {shown}{' ...' if len(terms) > 3 else ''} do not hide "
                f"{', '.join(view)}: each sum needs a sample outside the view that no later one has; leave windows "
                "out, or add more samples to each sum"
            )
    outputs = tuple(f"{problem.output}{k + 1}" for k in range(len(terms)))
    if clash := set(outputs) & set(law.variables):
        raise InputError(f"an output would be called {min(clash)!r}, like a source variable", do="Rename this column.")
    priors = {run: _prior(law, run) for run in runs}
    letters = law.alphabets(names)
    told: dict[int, float] = {}
    for size in [problem.modulus] if problem.modulus else MODULI:
        if on_progress:
            on_progress(f"sums modulo {size}")
        told[size] = _told(_states(priors, size), priors, terms, size)
    best = max(told, key=lambda size: (told[size], -size))
    few = _few(priors, terms, best)
    if not few and set(problem.objective.names) != set(names):
        raise Unsupported("so many sums modulo M are proved to say the most about all samples together; maximise that")
    states = tuple(_states(priors, best).values())
    added = tuple(tuple(n for run in of for n in run) for of in terms)
    blocks = runs if len(runs) < len(names) else ()
    channel = Sums(letters, outputs, best, states, added, blocks)
    chosen = "" if problem.modulus else ", the modulus that says the most"
    what = "block of samples" if blocks else "sample"
    return proved(
        replace(problem, joint=law),
        channel,
        [CLOSED if few else IN_GROUPS],
        method=f"each {what} made uniform on {best} states, then {len(terms)} sums modulo {best}{chosen}",
        remarks=[proved_how("by the lemma on sums of uniform states" if not few else "")],
    )


def _blocks(law: ProductPmf, names: Names) -> tuple[Run, ...]:
    """The observed samples, those that depend on each other together."""
    together: dict[int, list[str]] = {}
    for name in names:
        together.setdefault(law.place(name), []).append(name)
    runs = tuple(tuple(run) for run in together.values())
    for run in runs:
        if apart := [variable for variable in law.touching(run).variables if variable not in run]:
            raise Unsupported(
                f"sums modulo M hide what they read, and {apart[0]} depends on {', '.join(run)} without being observed",
                do="Add it to observe, or protect only what is read.",
            )
    if tuple(n for run in runs for n in run) != tuple(names):
        first = next(run for run in runs if len(run) > 1)
        raise Unsupported(
            f"sums modulo M take dependent samples as one block: list {', '.join(first)} next to each other in observe"
        )
    return runs


def _listed(problem: Problem, run_of: Mapping[str, Run]) -> tuple[tuple[Run, ...], ...]:
    """The blocks that the problem file wants to be added up."""
    found = []
    for of in problem.windows:
        runs = tuple(dict.fromkeys(run_of[n] for n in of))
        if half := [n for run in runs for n in run if n not in of]:
            raise Unsupported(
                f"a sum of {', '.join(of)} needs {half[0]} too: dependent samples have one state together",
                do="Name whole runs of dependent samples in each sum.",
            )
        found.append(runs)
    return tuple(found)


def _neighbours(runs: tuple[Run, ...], views: Sequence[tuple[Run, ...]]) -> tuple[tuple[Run, ...], ...]:
    size = 1 + max(map(len, views))
    if size > len(runs):
        raise Unsupported(
            f"a view of {size - 1} of {len(runs)} samples leaves nothing to add to it; a sum needs one more"
        )
    return sliding(runs, size)


def _named(run: Run) -> str:
    return run[0] if len(run) == 1 else f"({', '.join(run)})"


class _Peeling:
    """Takes sums away one by one, each by a term outside a view that no sum left has: linear in all terms together.

    Of each sample is known how many sums left have it, and the sum of their places: of a single one, its place.
    """

    def __init__(self, terms: Sequence[tuple[Run, ...]]) -> None:
        place = {run: i for i, run in enumerate(dict.fromkeys(run for of in terms for run in of))}
        self.place = place
        self.terms = [[place[run] for run in of] for of in terms]
        self.many = [0] * len(place)
        self.places = [0] * len(place)
        for k, samples in enumerate(self.terms):
            for i in samples:
                self.many[i] += 1
                self.places[i] += k

    def hides(self, view: Sequence[Run]) -> bool:
        """Whether all sums can be taken away."""
        many = list(self.many)
        places = list(self.places)
        barred = {self.place[run] for run in view if run in self.place}
        ready = [i for i, left in enumerate(many) if left == 1 and i not in barred]
        taken = 0
        while ready:
            last = ready.pop()
            if many[last] != 1:  # its sum was taken away by another sample
                continue
            k = places[last]
            taken += 1
            for i in self.terms[k]:
                many[i] -= 1
                places[i] -= k
                if many[i] == 1 and i not in barred:
                    ready.append(i)
        return taken == len(self.terms)


def _prior(law: ProductPmf, run: Run) -> list[Fraction]:
    """The law of a block, its last sample fastest."""
    alone = law.marginal(list(run))
    letters = product(*(law.variables[name] for name in run))
    return [alone.probability(**dict(zip(run, letter, strict=True))) for letter in letters]


def _states(priors: Priors, size: int) -> dict[Run, Rows]:
    known = {p: chains.uniformiser(p, size).rows for p in {tuple(prior) for prior in priors.values()}}
    return {n: known[tuple(p)] for n, p in priors.items()}


def _few(priors: Priors, terms: Sequence[tuple[Run, ...]], size: int) -> bool:
    return bool(prod(map(len, priors.values())) * size ** len(terms) <= DENSE)


def _told(states: Mapping[Run, Rows], priors: Priors, terms: Sequence[tuple[Run, ...]], size: int) -> float:
    """I(X; Y) where the channel is written out, else what the checker will prove of it, in floats."""
    most = len(terms) * log2(size)
    if len(priors) > MANY:
        return max(0.0, most - _unsure(priors, size))
    laws = {n: np.array([[float(entry) for entry in row] for row in rows]) for n, rows in states.items()}
    p = {n: np.array([float(value) for value in prior]) for n, prior in priors.items()}
    if _few(priors, terms, size) and prod(map(len, priors.values())) * size ** len(priors) <= 8 * DENSE:
        given = reduce(np.kron, laws.values())
        digits = np.array(np.unravel_index(np.arange(size ** len(laws)), [size] * len(laws)))
        place = list(laws)
        y = np.zeros(size ** len(laws), dtype=np.int64)
        for names in terms:
            y = y * size + digits[[place.index(n) for n in names]].sum(axis=0) % size
        rows = np.array([np.bincount(y, weights=row, minlength=size ** len(terms)) for row in given])
        return most - float(reduce(np.kron, p.values()) @ entropy_of(rows))
    law = {0.0: 1.0}
    for n in dict.fromkeys(name for names in terms for name in names):
        after: dict[float, float] = defaultdict(float)
        for noise, mass in zip(entropy_of(laws[n]), p[n], strict=True):
            for sofar, weight in law.items():
                after[round(sofar + float(noise), 9)] += weight * float(mass)
        law = dict(after) if len(after) < 512 else {fsum(k * v for k, v in after.items()): 1.0}
    return fsum(max(0.0, most - noise) * weight for noise, weight in law.items())


def _unsure(priors: Priors, size: int) -> float:
    """sum_i H(S_i | X_i): of many samples the sum of entropies is near its mean, and many samples are alike."""
    found = 0.0
    for prior, many in Counter(map(tuple, priors.values())).items():
        rows = chains.uniformiser(prior, size).rows
        noise = entropy_of(np.array([[float(entry) for entry in row] for row in rows]))
        found += many * float(np.array([float(value) for value in prior]) @ noise)
    return found


def window_sums(letters: int, n: int, k: int) -> Design:
    r"""Example 3 as a design: n uniform samples of M letters, Y independent of every window of k of them jointly.

    The verifier is the checker itself: it multiplies all out, proves the n - k + 1 joint views, and finds the value (n
    - k) log2 M equal to the bound H(X^n) - H(window), so no mechanism tells more.

    >>> design = window_sums(3, 4, 2)
    >>> f"{float(design.value):.9f}", design.gap < 1e-25
    ('3.169925001', True)
    """
    channel = chains.window_sums(letters, n, k)
    names = tuple(channel.inputs)
    one = Pmf.from_counts({"X1": channel.inputs["X1"]}, np.arange(letters), [1] * letters)
    problem = Problem(
        joint=ProductPmf((one,)).alike(n),
        observe=names,
        output="L",
        objective=MaximizeInformation(names),
        guarantees=tuple(Independent(view) for view in sliding(names, k)),
    )
    return proved(problem, channel, [CLOSED], method=f"sums of {k} neighbours modulo {letters}")
