"""`Form`: what is done with channels of one form, from the draw to the charge.

A channel (`core.forms`) is a noun: numbers, and the rows that they stand for. What a release, an audit, a ledger and a
report do with it stands here, for channels that are written out in rows; a form that does something else overrides the
method in the folder of its mechanism; what a release shows of it is tested in `form_evidence`. Nobody else asks of
which form a channel is.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from dalenius.core import Design, Guarantee, Kernel, Pmf
from dalenius.core.drafting import with_other_law
from dalenius.documents import proved_again
from dalenius.errors import Unsupported
from dalenius.measures.capacity import capacity
from dalenius.measures.dp import dp_epsilon, strong_dp_epsilon
from dalenius.mechanisms.charging import Mechanism
from dalenius.mechanisms.drawing import Array, Draw
from dalenius.mechanisms.form_evidence import FormEvidence
from dalenius.mechanisms.unlisted.figures import Figures
from dalenius.tables.counting import Coded

if TYPE_CHECKING:
    from dalenius.mechanisms.auditing import MechanismAudit

__all__ = ["Form"]

C = TypeVar("C", bound=Kernel)


class Form(FormEvidence[C]):
    """What every form answers; the defaults serve channels that are written out in rows."""

    keeps_values: ClassVar[bool] = True
    """Whether values before and after can be counted side by side."""
    adds_noise: ClassVar[bool] = False
    """Whether numbers get noise row by row: each row is a record by itself, released on the grid of the noise."""
    by_figures: ClassVar[bool] = False
    """Whether a channel that is too large to be written out is audited by closed bounds, without a law."""

    # --- the draw ---------------------------------------------------------------------------------------------------
    def draws(self, channel: C) -> list[Draw]:
        """The independent draws that realise the channel exactly.

        Parameters
        ----------
        channel : Kernel
            Of this form.

        Returns
        -------
        list of Draw
            More than one where windows or columns are drawn by themselves.
        """
        from dalenius.sampling.sampler import Sampler  # opens cryptography, which only who draws needs

        return [Draw(list(channel.inputs), Sampler(channel.drawn), rows=partial(self.rows_read, channel))]

    def rows_of_outcomes(self, channel: C, outcomes: Array) -> Array:
        """Which row of the law is read by inputs that are numbered by their outcome.

        Parameters
        ----------
        channel : Kernel
            Of this form.
        outcomes : array of int
            Numbers of outcomes of the inputs, last input fastest.

        Returns
        -------
        array of int
        """
        return outcomes

    def rows_read(self, channel: C, table: Coded) -> Array:
        """Which row of the law each record of a table reads.

        Parameters
        ----------
        channel : Kernel
            Of this form.
        table : Coded
            Whose columns the channel reads.

        Returns
        -------
        array of int
            A row of `channel.drawn` for each record.
        """
        return self.rows_of_outcomes(channel, table.combined(list(channel.inputs)))

    def leaving(
        self,
        channel: C,
        table: Coded,
        found: Sequence[tuple[Array, Array]],
    ) -> tuple[dict[str, Array], Array, Array]:
        """The codes of the columns that leave, the rows that were read and the letters, from what each draw found.

        Parameters
        ----------
        channel : Kernel
            Of this form.
        table : Coded
            The records.
        found : sequence of (rows, letters)
            What each draw read and drew, in the order of `draws`.

        Returns
        -------
        columns, rows, letters
            Codes by the names of the released columns; rows and letters have a column for each draw if there are
            several.
        """
        if len(found) > 1:
            columns = {name: letters for name, (_, letters) in zip(channel.output, found, strict=True)}
            inputs, drawn = (np.stack(side, axis=1) for side in zip(*found, strict=True))
            return columns, inputs, drawn
        ((inputs, drawn),) = found
        sizes = [len(letters) for letters in channel.output.values()]
        codes = np.unravel_index(drawn.astype(np.int64), sizes) if len(sizes) > 1 else [drawn]
        return dict(zip(channel.output, codes, strict=True)), inputs, drawn

    def matched(self, channel: C, original: Coded, released: Coded) -> tuple[Array, Array]:
        """The rows that the records read and the letters that were released, as `leaving` numbers them.

        Parameters
        ----------
        channel : Kernel
            Of this form.
        original, released : Coded
            The table before and after, row by row.

        Returns
        -------
        rows, letters
        """
        from dalenius.mechanisms.forms import form_of

        if len(channel.drawn_apart) > 1:
            pairs = [form_of(part).matched(part, original, released) for part in channel.drawn_apart]
            return np.stack([read for read, _ in pairs], axis=1), np.stack([seen for _, seen in pairs], axis=1)
        return self.rows_read(channel, original), released.combined(list(channel.output))

    # --- the audit of the mechanism itself --------------------------------------------------------------------------
    def refuse_audit(self, channel: C) -> None:
        """Raise where the mechanism cannot be audited from its channel.

        Parameters
        ----------
        channel : Kernel
            Of this form.

        Raises
        ------
        Unsupported
            If it is too large to be written out and no closed bounds are known.
        """
        if not channel.few and not self.by_figures:
            raise Unsupported(
                f"a recipe of {channel.shape[0]:,} by {channel.shape[1]:,} is too large to be audited",
                do="Group values, or audit the release with --released and --original.",
            )

    def audited(
        self,
        channel: C,
        prior: Pmf | None = None,
        promises: Sequence[Guarantee] = (),
        *,
        remarks: tuple[str, ...] = (),
    ) -> "MechanismAudit":
        """Everything that the channel lets out; with a prior also what depends on one.

        Parameters
        ----------
        channel : Kernel
            Of this form.
        prior : Pmf, optional
            The law of the inputs.
        promises : sequence of Guarantee
            That a design makes.
        remarks : tuple of str
            To be said beside the figures.

        Returns
        -------
        MechanismAudit
        """
        if not channel.few:
            return self.audited_unlisted(channel, prior, promises, remarks)
        return _examined(channel, prior, remarks)

    def audited_unlisted(
        self, channel: C, prior: Pmf | None, promises: Sequence[Guarantee], remarks: tuple[str, ...]
    ) -> "MechanismAudit":
        """The same where the channel is too large to be listed.

        Parameters
        ----------
        channel : Kernel
            Of this form.
        prior, promises, remarks
            As for `audited`.

        Returns
        -------
        MechanismAudit
        """
        return _examined(channel, prior, remarks)

    def figures(self, channel: C) -> Figures:
        """Upper bounds of what the channel lets out, to be added up with those of others.

        Parameters
        ----------
        channel : Kernel
            Of this form.

        Returns
        -------
        Figures
        """
        from dalenius.measures.correlation import eta_tv  # opens solvers that a design need not have

        return Figures(dp_epsilon(channel), strong_dp_epsilon(channel), capacity(channel).high, eta_tv(channel))

    def for_this_table(self, design: Design) -> Design:
        """The design proved anew for the law that it has now, which is that of another table.

        Parameters
        ----------
        design : Design
            With the law of that table in its problem.

        Returns
        -------
        Design

        Raises
        ------
        NotCertified, Refused
            If the promises do not hold there.
        """
        problem, document = design.problem, json.loads(design.dumps())
        figures, limits = proved_again(with_other_law(document, problem, design.proofs, problem.rows))
        return replace(design, proved=tuple(figures), realised=tuple({"expected": limit} for limit in limits))

    # --- the ledger and the report ----------------------------------------------------------------------------------
    def charged(self, text: str, channel: Mapping[str, Any]) -> Mechanism:
        """What a ledger charges for a design or a card, given its text and its channel as the file writes it.

        Parameters
        ----------
        text : str
            The document.
        channel : mapping
            Its channel, as the file writes it.

        Returns
        -------
        Mechanism
        """
        return Mechanism(text)

    def stated(self, figures: Mapping[str, Any], released: Sequence[str], *, public: bool) -> list[str]:
        """Sentences about what a design or a card of this form states beside its promises.

        Parameters
        ----------
        figures : mapping
            What the kernel proved beyond the promises.
        released : sequence of str
            The released columns.
        public : bool
            Whether the figures are for public statistics.

        Returns
        -------
        list of str
        """
        return []


def _examined(channel: Kernel, prior: Pmf | None, remarks: tuple[str, ...]) -> "MechanismAudit":
    from dalenius.mechanisms.auditing import examine_mechanism  # opens every measure, which a design need not have

    return examine_mechanism(channel, prior, remarks=remarks)
