"""What is audited: the channel of everything that leaves, from a channel, a design or a card, or from a file."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from dalenius.core.design import CARD_FORMAT, FORMAT, Design
from dalenius.core.forms import channel_of
from dalenius.core.guarantee import Guarantee
from dalenius.core.kernel import Kernel
from dalenius.core.numbers import exact, is_decimal, written
from dalenius.core.pmf import Pmf
from dalenius.core.source import TableSource
from dalenius.documents import ENOUGH, PROVABLE, checked
from dalenius.errors import DaleniusError, InputError, Unsupported
from dalenius.measures.attack import Attack, attacks
from dalenius.measures.capacity import with_kept
from dalenius.mechanisms.forms import form_of
from dalenius.tables import read_design, read_text, read_told

__all__ = ["attacked", "mechanism_of", "of_rows", "promised", "read_proved"]

ROUNDING = Fraction(1, 10**9)


def mechanism_of(mechanism: Design | Kernel | str | Path) -> tuple[Pmf | None, Kernel, tuple[str, ...]]:
    """The prior that comes with a mechanism, if any, the channel of what leaves, and what a reader must be told.

    Parameters
    ----------
    mechanism : Design, Kernel, str or Path
        A channel, a design or a card, or a file with one.

    Returns
    -------
    Pmf or None, Kernel, tuple of str
        The law of a design, the channel, and remarks.

    Raises
    ------
    Unsupported
        If the channel is too large to be audited.

    >>> from dalenius.core import Channel
    >>> mechanism_of(Channel.constant({"X": ("a", "b")}, "Y"))[0] is None
    True
    """
    if isinstance(mechanism, Design):
        return _of_design(mechanism)
    if isinstance(mechanism, Kernel):
        return None, _small(mechanism), ()
    document = read_told(mechanism, "mechanism file")
    kind = document.get("format") if isinstance(document, dict) else None
    try:
        if kind == FORMAT:
            return _of_design(Design.from_json(document))
        if kind == CARD_FORMAT:
            return _of_card(document)
        document, remarks = _divided(document)
        return None, _small(channel_of(document)), remarks
    except DaleniusError as e:
        raise e.within(Path(mechanism).name) from None


def of_rows(mechanism: Design | Kernel | str | Path) -> bool:
    """Whether a mechanism was made for the rows of a table: its inputs are then columns of one record.

    Parameters
    ----------
    mechanism : Design, Kernel, str or Path
        A channel, a design or a card, or a file with one.

    Returns
    -------
    bool
        True for a design of a table and for its card; a channel by itself may be about several records.
    """
    if isinstance(mechanism, Design):
        return isinstance(mechanism.problem.source, TableSource)
    if isinstance(mechanism, Kernel):
        return False
    document = read_told(mechanism, "mechanism file")
    kind = document.get("format") if isinstance(document, dict) else None
    return bool(kind == CARD_FORMAT or (kind == FORMAT and "table" in document.get("source", {})))


def attacked(mechanism: Design | Kernel | str | Path) -> tuple[Attack, ...]:
    """The attacks on the secrets that a design names, under its own law; a channel or a card names none.

    Parameters
    ----------
    mechanism : Design, Kernel, str or Path
        A channel, a design or a card, or a file with one.

    Returns
    -------
    tuple of Attack
        One for each secret.
    """
    if isinstance(mechanism, str | Path):
        document = read_told(mechanism, "mechanism file")
        design = isinstance(document, dict) and document.get("format") == FORMAT
        return attacks(Design.from_json(document)) if design else ()
    return attacks(mechanism) if isinstance(mechanism, Design) else ()


def promised(mechanism: Design | Kernel | str | Path) -> tuple[Guarantee, ...]:
    """The promises of a design, proved once more; a channel makes none, and a card's are read off its channel.

    Parameters
    ----------
    mechanism : Design, Kernel, str or Path
        A channel, a design or a card, or a file with one.

    Returns
    -------
    tuple of Guarantee
        Proved.

    Raises
    ------
    NotCertified
        If a promise does not hold.
    """
    if isinstance(mechanism, str | Path):
        document = read_told(mechanism, "mechanism file")
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            return ()
        mechanism = read_design(mechanism)
    if not isinstance(mechanism, Design):
        return ()
    checked(mechanism.dumps(), work=ENOUGH, privacy=True)
    return mechanism.problem.guarantees


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


def _of_design(design: Design) -> tuple[Pmf | None, Kernel, tuple[str, ...]]:
    small, kept = _small(design.channel), design.problem.kept
    if _by_figures(small):
        _refuse_kept(kept)
        return None, small, ()  # the joint pmf of a large one is not written out either
    joint = design.problem.pmf
    channel = with_kept(small, joint.alphabets(kept))
    source = design.problem.source
    of_person = _one_row(source.unit, source.max_rows) if isinstance(source, TableSource) else ()
    return joint, channel, (*_beside(kept), *of_person)


def _of_card(card: dict[str, Any]) -> tuple[None, Kernel, tuple[str, ...]]:
    try:
        channel = _small(channel_of(card["channel"]))
        kept = [str(n) for n in card["kept"]]
    except (KeyError, TypeError) as e:
        raise InputError(f"the card is damaged: {type(e).__name__} {e}") from None
    if _by_figures(channel):
        _refuse_kept(kept)
    if strange := [n for n in kept if n not in channel.inputs]:
        raise Unsupported(
            f"the kept column {strange[0]!r} leaves beside the value, and a card does not list its values; audit the "
            "design instead"
        )
    of_person = _one_row(str(card.get("unit_of_privacy", "person")), card.get("max_rows"))
    return None, with_kept(channel, {n: tuple(channel.inputs[n]) for n in kept}), (*_beside(kept), *of_person)


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
        values = [exact(entry, "a recipe entry") for entry in row]
        off = abs(sum(values, Fraction(0)) - 1)
        if off and off <= ROUNDING and any(is_decimal(entry) for entry in row) and min(values) >= 0:
            missed, total = max(missed, off), sum(values, Fraction(0))
            out.append([written(value / total) for value in values])
        else:
            out.append(row)
    remark = f"rows of decimals miss one by up to {float(missed):.1e}; each was divided by its exact sum"
    return ({**document, "rows": out}, (remark,)) if missed else (document, ())
