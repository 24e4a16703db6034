"""Channels of several outputs: windows with a channel each, columns side by side, and sums of states modulo M."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, TypeVar

import numpy as np

from dalenius.core import Channel, Sums, Windows
from dalenius.core.conditional_law import DENSE
from dalenius.documents import told_of
from dalenius.mechanisms.charging import Mechanism
from dalenius.mechanisms.drawing import Array, Draw
from dalenius.mechanisms.forms import draws_of, form_of
from dalenius.mechanisms.unlisted.figures import Figures, added, apart_together, largest, summed
from dalenius.mechanisms.unlisted.staying import UnlistedForm
from dalenius.sampling.sampler import Sampler
from dalenius.tables import Coded

__all__ = ["PRODUCT", "SUMS", "WINDOWS"]

W = TypeVar("W", bound=Windows)


class WindowsForm(UnlistedForm[W]):
    """A letter for each window, drawn independently given the inputs that it sees."""

    def draws(self, channel: W) -> list[Draw]:
        dense = [window for window in channel.windows if window.form is None]
        samplers = {rows: Sampler(rows) for rows in {w.rows for w in dense}}  # windows are often alike
        draws = {id(w): Draw(list(w.inputs), samplers[w.rows]) for w in dense}
        return [replace(draws.get(id(w)) or draws_of(w)[0], label=("window", *w.output)) for w in channel.windows]

    def figures(self, channel: W) -> Figures:
        parts = [(set(window.inputs), form_of(window).figures(window)) for window in channel.windows]
        near = [summed([f.near for seen, f in parts if name in seen]) for name in channel.inputs]
        strong = summed([f.any_two for _, f in parts])
        bits = added([f.bits for _, f in parts])
        apart = apart_together([f.apart for _, f in parts])
        return Figures(largest(near), strong, bits, apart)


class ProductForm(WindowsForm[Windows]):
    """Columns that are perturbed each by a channel of its own: what they are charged adds up."""

    def charged(self, text: str, channel: Mapping[str, Any]) -> Mechanism:
        document = told_of(text)[2]
        size = prod(len(a) for side in ("inputs", "output") for a in channel[side].values())
        card = "mechanism" not in document
        apart = "margins" in document.get("joint", {}) or (card and size > DENSE)
        if not apart:
            return Mechanism(text)
        from dalenius.mechanisms.chains.charge import ColumnByColumn

        return ColumnByColumn(text)


class SumsForm(UnlistedForm[Sums]):
    """Each input or block draws a state for itself; what leaves are sums of states modulo M."""

    def draws(self, channel: Sums) -> list[Draw]:
        samplers = {rows: Sampler(rows) for rows in set(channel.states)}
        return [
            Draw(list(run), samplers[rows], ("state", *run))
            for run, rows in zip(channel.runs, channel.states, strict=True)
        ]

    def leaving(
        self, channel: Sums, table: Coded, found: Sequence[tuple[Array, Array]]
    ) -> tuple[dict[str, Array], Array, Array]:
        """The states never leave; their sums do."""
        states = [state.astype(np.int64) for _, state in found]
        sums = [np.sum([states[k] for k in channel.summed(names)], axis=0) % channel.modulus for names in channel.terms]
        read = [table.combined(list(names)) for names in channel.terms]
        inputs, drawn = (side[0] if len(side) == 1 else np.stack(side, axis=1) for side in (read, sums))
        return dict(zip(channel.output, sums, strict=True)), inputs, drawn

    def figures(self, channel: Sums) -> Figures:
        """Sums tell no more than all states together."""
        residues = tuple(map(str, range(channel.modulus)))
        states = []
        for run, rows in zip(channel.runs, channel.states, strict=True):
            if any(run[0] in terms for terms in channel.terms):
                alone = Channel({name: channel.inputs[name] for name in run}, {"S": residues}, rows)
                states.append(form_of(alone).figures(alone))
        levels = [state.any_two for state in states]
        bits = added([state.bits for state in states])
        apart = apart_together([state.apart for state in states])
        # Sure states rule inputs out; those that are drawn need not.
        drawn = any(entry.denominator > 1 for rows in channel.states for row in rows for entry in row)
        return Figures(largest(levels), summed(levels), bits, apart, unproved=drawn)


WINDOWS: WindowsForm[Windows] = WindowsForm()
PRODUCT = ProductForm()
SUMS = SumsForm()
