"""Evidence about orbits: which word of its column each record is, and which role its samples play, against the law."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Orbits
from dalenius.measures.counts import Finding, counts_finding, fit_finding, rows_of, view_findings

__all__ = ["Dealt", "dealt_findings", "role_counts", "role_means"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Dealt:
    """For each record: its samples, the row of its type, the column that was released, the roles of the samples in it,
    and which of all pairs (column, word) it is; -1 where the released column has no such word in that order."""

    x: Ints
    types: Ints
    column: Ints
    roles: Ints
    pair: Ints

    @classmethod
    def read(cls, channel: Orbits, inputs: npt.NDArray[Any], letters: npt.NDArray[Any]) -> "Dealt":
        """From numbers of outcomes and of released letters, last variable fastest."""
        sizes = [len(a) for a in channel.inputs.values()]
        samples = np.stack(np.unravel_index(inputs.astype(np.int64), sizes), axis=1)
        column, *played = np.unravel_index(letters.astype(np.int64), [len(a) for a in channel.output.values()])
        roles = np.stack(played, axis=1)
        counts = (samples[:, :, None] == np.arange(sizes[0])).sum(axis=1)
        pair = np.full(len(samples), -1, dtype=np.int64)
        for number, (which, word) in enumerate(channel.pairs):
            own = channel.columns[which]
            plays = np.full(len(channel.output[f"{channel.name}_{next(iter(channel.inputs))}"]), -1)
            plays[list(own.roles)] = own.words[word]  # the letter of each role in this word
            often = np.bincount(own.roles, minlength=len(plays))
            there = np.flatnonzero(column == which)
            fits = (plays[roles[there]] == samples[there]).all(axis=1)
            dealt = (roles[there][:, :, None] == np.arange(len(plays))).sum(axis=1)
            pair[there[fits & (dealt == often).all(axis=1)]] = number
        return cls(samples, places_of(channel.place, counts), np.asarray(column), roles, pair)


def places_of(place: Mapping[tuple[int, ...], int], counts: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The place of the type of each record, from how many of its samples have each letter."""
    types, which = np.unique(counts, axis=0, return_inverse=True)
    return np.array([place[tuple(one)] for one in types.tolist()], dtype=np.int64)[which.reshape(-1)]


def role_means(channel: Orbits, law: Floats, records: Floats) -> tuple[Floats, list[str]]:
    """How often each (column, role) falls to one sample on average, for each letter of it, and what they are called.

    `law` has the probabilities of the pairs for each type; `records`[t, a] is how many records of type t have letter a
    in this sample. A sample with letter a plays each place of a word that asks for a with the same probability.
    """
    letters = records.shape[1]
    names = [(k, r) for k, column in enumerate(channel.columns) for r in range(max(column.roles) + 1)]
    at = {name: j for j, name in enumerate(names)}
    plays = np.zeros((letters, len(channel.pairs), len(names)))
    for y, (k, s) in enumerate(channel.pairs):
        word = channel.columns[k].words[s]
        roles = channel.columns[k].roles
        for a, r in zip(word, roles, strict=True):
            plays[a, y, at[k, r]] += 1 / word.count(a)
    means = np.einsum("ta,ty,ayj->aj", records, law, plays)
    return means, [f"column {k}, role {r}" for k, r in names]


def role_counts(channel: Orbits, dealt: Dealt, sample: int, names: Sequence[str]) -> Ints:
    """How often each (column, role) fell to a sample, for each letter of it, in the order of `role_means`."""
    starts = np.cumsum([0, *(max(column.roles) + 1 for column in channel.columns)])
    letters = len(next(iter(channel.inputs.values())))
    cells = dealt.x[:, sample] * len(names) + starts[dealt.column] + dealt.roles[:, sample]
    counts: Ints = np.bincount(cells, minlength=letters * len(names)).reshape(letters, len(names))
    return counts


def dealt_findings(
    channel: Orbits,
    views: Sequence[Sequence[str]],
    inputs: npt.NDArray[Any],
    letters: npt.NDArray[Any],
    share: float,
) -> tuple[list[Finding], list[dict[str, Any]]]:
    """Columns and words against the law of each type; for each sample, the roles that it plays against its value."""
    dealt = Dealt.read(channel, inputs, letters)
    law = rows_of(channel)
    if (dealt.pair < 0).any():
        what = "released values follow the recipe"
        return [Finding(what, 0.0, share, "a value was released that its input cannot draw")], []
    size = law.size
    seen = np.bincount(dealt.types * law.shape[1] + dealt.pair, minlength=size).reshape(law.shape)
    n = seen.sum(axis=1)
    expected = np.bincount([k for k, _ in channel.pairs], weights=n @ law).astype(np.float64)
    released = np.bincount(dealt.column, minlength=len(expected))
    labels = [f"column {k}" for k in range(len(expected))]
    what = "how often each column was released"
    trials = np.array(float(n.sum()))
    findings = [fit_finding(seen, law, share), counts_finding(what, released, expected, trials, share, labels)]
    leakage, names = [], list(channel.inputs)
    for view in views:
        if len(view) > 1:
            continue
        i, alphabet = names.index(view[0]), channel.inputs[view[0]]
        of = np.bincount(dealt.types * len(alphabet) + dealt.x[:, i], minlength=len(law) * len(alphabet))
        mean, roles = role_means(channel, law, of.reshape(len(law), -1).astype(np.float64))
        cells = [f"{role} with {view[0]} = {a}" for a in alphabet for role in roles]
        found, told = view_findings(view, "", role_counts(channel, dealt, i, roles), mean, cells, share)
        findings += found
        leakage.append(told)
    return findings, leakage
