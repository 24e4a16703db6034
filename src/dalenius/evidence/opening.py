"""What is audited: the channel of everything that leaves, from a channel, a design or a card, or from a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from dalenius.core.conditional_law import Kernel
from dalenius.core.design import CARD_FORMAT, FORMAT, Design
from dalenius.core.forms import channel_of
from dalenius.core.guarantee import Guarantee
from dalenius.core.guarantee_section import guarantees_told
from dalenius.core.numbers import exact, is_decimal, written
from dalenius.core.pmf import Pmf
from dalenius.core.product_pmf import MOST_OUTCOMES, Margins
from dalenius.core.reading import whole
from dalenius.core.samples import Samples
from dalenius.core.source import TableSource
from dalenius.documents import ENOUGH, PROVABLE, checked
from dalenius.errors import DaleniusError, InputError, Unsupported
from dalenius.measures.attack import Attack, attacks
from dalenius.measures.capacity import with_kept
from dalenius.mechanisms.auditing import MechanismAudit
from dalenius.mechanisms.forms import form_of
from dalenius.tables import conditionally_iid, read_text, read_told

__all__ = ["Opened", "opened", "read_proved", "unit_of"]

ROUNDING = Fraction(1, 10**9)

MANY_SAMPLES = "the samples have too many outcomes together for figures under the stated statistics"
MARGINS_ALONE = "the statistics say nothing of how columns depend, so that figures under them are left out"


@dataclass(frozen=True)
class Opened:
    """What is audited, read once.

    Parameters
    ----------
    law : Pmf or None
        The one that comes with a design.
    channel : Kernel
        Of everything that leaves.
    remarks : tuple of str
        What a reader must be told.
    design : Design or None
        Where the mechanism is one.
    of_rows : bool
        Whether it was made for the rows of a table: its inputs are then columns of one record. A channel by itself may
        be about several records.
    """

    law: Pmf | None
    channel: Kernel
    remarks: tuple[str, ...] = ()
    design: Design | None = None
    of_rows: bool = False

    @property
    def attacks(self) -> tuple[Attack, ...]:
        """The attacks on the secrets that a design names, under its own law; a channel or a card names none."""
        return attacks(self.design) if self.design else ()

    def measured(self, given: Pmf | None = None) -> MechanismAudit:
        """Every measure of it.

        Parameters
        ----------
        given : Pmf, optional
            The law that it is measured under; without it that of a design.

        Returns
        -------
        MechanismAudit

        Raises
        ------
        Unsupported
            If it is measured by its form, which knows no law.
        """
        channel = self.channel
        form = form_of(channel)
        if not channel.few and form.by_figures and given is not None:
            raise Unsupported(
                f"a recipe of {channel.shape[0]:,} inputs is measured by its form, without --prior",
                do="Leave out --prior, or group values until there are fewer.",
            )
        promises = self.promised() if form.by_figures and not channel.few else ()
        law = self.law if given is None else given
        found = form.audited(channel, law, promises, remarks=self.remarks)
        found = found.about_rows() if self.of_rows else found
        return replace(found, attacks=self.attacks) if channel.few and given is None else found

    def promised(self) -> tuple[Guarantee, ...]:
        """The promises of a design, proved once more; a channel makes none, and a card's are read off its channel.

        Returns
        -------
        tuple of Guarantee
            Proved.

        Raises
        ------
        NotCertified
            If a promise does not hold.
        """
        if self.design is None:
            return ()
        checked(self.design.dumps(), work=ENOUGH, privacy=True)
        return self.design.problem.guarantees


def opened(mechanism: Design | Kernel | str | Path) -> Opened:
    """A mechanism for its audit, from itself or from its file.

    Parameters
    ----------
    mechanism : Design, Kernel, str or Path
        A channel, a design or a card, or a file with one.

    Returns
    -------
    Opened
        Its law if it has one, the channel of what leaves, and remarks.

    Raises
    ------
    Unsupported
        If the channel is too large to be audited.

    Examples
    --------
    >>> from dalenius.core import Channel
    >>> opened(Channel.constant({"X": ("a", "b")}, "Y")).law is None
    True
    """
    if isinstance(mechanism, Design):
        return _of_design(mechanism)
    if isinstance(mechanism, Kernel):
        return Opened(None, _small(mechanism))
    document = read_told(mechanism, "mechanism file")
    kind = document.get("format") if isinstance(document, dict) else None
    try:
        if kind == FORMAT:
            return _of_design(Design.from_json(document, read_text(mechanism)))
        if kind == CARD_FORMAT:
            return _of_card(document)
        document, remarks = _divided(document)
        return Opened(None, _small(channel_of(document)), remarks)
    except DaleniusError as e:
        raise e.within(Path(mechanism).name) from None


def read_proved(path: str | Path) -> Any:
    """What a file holds, once the kernel has proved it; a damaged card or design is refused before it is used.

    Parameters
    ----------
    path : str or Path
        A design or a card, or any other document, which is returned as it stands.

    Returns
    -------
    object
        Plain values.

    Raises
    ------
    InputError
        If the file is not there or damaged.
    NotCertified
        If something that it claims is not proved.
    """
    document = read_told(path)
    if isinstance(document, dict) and document.get("format") in PROVABLE:
        try:
            _checked_once(read_text(path))
        except DaleniusError as e:
            raise e.within(str(path)) from None
    return document


@lru_cache(maxsize=2)
def _checked_once(text: str) -> None:
    """Have the kernel prove a text; one command reads the same card several times."""
    checked(text, work=ENOUGH, privacy=True)


def _small(channel: Kernel) -> Kernel:
    form_of(channel).refuse_audit(channel)
    return channel


def _by_figures(channel: Kernel) -> bool:
    """Whether a channel is audited by closed bounds alone, without a law."""
    return not channel.few and form_of(channel).by_figures


def _of_design(design: Design) -> Opened:
    small, kept = _small(design.channel), design.problem.kept
    source = design.problem.source
    of_rows = isinstance(source, TableSource)
    if _by_figures(small):
        _refuse_kept(kept)
        return Opened(None, small, (), design, of_rows)  # the joint pmf of a large one is not written out either
    of_person = _one_row(source.unit, source.max_rows) if isinstance(source, TableSource) else ()
    if isinstance(design.problem.law, Margins):
        _refuse_kept(kept)
        return Opened(None, small, (*of_person, MARGINS_ALONE), design, of_rows)
    law = design.problem.law
    if isinstance(law, Samples):  # nothing is kept beside samples
        few = len(law.letters) ** law.n * len(law.masses) <= MOST_OUTCOMES
        joint = conditionally_iid(law.prior, law.kernel, law.hidden, law.n) if few else None
        return Opened(joint, small, () if few else (MANY_SAMPLES,), design, of_rows)
    joint = design.problem.pmf
    channel = with_kept(small, joint.alphabets(kept))
    return Opened(joint, channel, (*_beside(kept), *of_person), design, of_rows)


def _of_card(card: dict[str, Any]) -> Opened:
    try:
        channel = _small(channel_of(card["channel"]))
        kept = [str(n) for n in card["kept"]]
    except (KeyError, TypeError) as e:
        raise InputError(
            f"the card is damaged: {type(e).__name__} {e}", do="Ask for the original file, or make it again."
        ) from None
    if _by_figures(channel):
        _refuse_kept(kept)
    if strange := [n for n in kept if n not in channel.inputs]:
        raise Unsupported(
            f"the kept column {strange[0]!r} leaves beside the value, and a card does not list its values; audit the "
            "design instead"
        )
    of_person = _one_row(*unit_of(card))
    leaving = with_kept(channel, {n: tuple(channel.inputs[n]) for n in kept})
    return Opened(None, leaving, (*_beside(kept), *of_person), of_rows=True)


def unit_of(document: Mapping[str, Any]) -> tuple[str, int]:
    """Whom the promises of a card or a design are about, and how many rows one of them has at most.

    The source says it, and so does a level that counts them: what travels beside a card may be missing.
    """
    source = document.get("source") or {}
    counted = [promise.rows_of_a_person for promise in guarantees_told(document)]
    rows = max(source.get("max_rows", document.get("max_rows")) or 1, *counted, 1)
    unit = str(source.get("unit", document.get("unit_of_privacy", "row")))
    return "person" if unit == "row" and rows > 1 else unit, rows


def _refuse_kept(kept: Sequence[str]) -> None:
    if kept:
        raise Unsupported(
            f"a recipe that is too large to be written out is audited by its form, and without kept columns "
            f"({', '.join(kept)}); audit the release with --released and --original"
        )


def _beside(kept: Any) -> tuple[str, ...]:
    return (f"the kept columns ({', '.join(kept)}) leave as they are and count as outputs",) if kept else ()


def _one_row(unit: str, rows: int | None) -> tuple[str, ...]:
    """Whose figures these are not, where a person has several rows."""
    if rows is None or rows < 2:
        return ()
    return (f"every figure is about one released row; one {unit} has up to {rows}, and their levels add up",)


def _divided(document: Any) -> tuple[Any, tuple[str, ...]]:
    """Rows of rounded decimals that miss one by their last digits, each divided by its exact sum, and a remark."""
    rows = document.get("rows") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, list) and row for row in rows):
        return document, ()
    missed, out = Fraction(0), []
    for row in rows:
        if not any(map(is_decimal, row)):  # most large channels have few such rows: sums of fractions take long
            out.append(row)
            continue
        values = [exact(entry, "a recipe entry") for entry in row]
        numbers, scale = whole(values)
        total = Fraction(sum(numbers), scale)
        off = abs(total - 1)
        if off and off <= ROUNDING and min(numbers) >= 0:
            missed = max(missed, off)
            out.append([written(value / total) for value in values])
        else:
            out.append(row)
    remark = f"rows of decimals miss one by up to {float(missed):.1e}; each was divided by its exact sum"
    return ({**document, "rows": out}, (remark,)) if missed else (document, ())
