"""The choice that was made: the trade-off curve with its ends, and where the release stands on it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dalenius.core import Leakage
from dalenius.core.digits import bits, figure
from dalenius.report import plain
from dalenius.report.drawing import CurvePicture, curve_picture
from dalenius.report.facts import Facts, joined

if TYPE_CHECKING:
    from dalenius.mechanisms.columns.leakage.curve import Curve

__all__ = ["Choice", "choice"]

FEW = Fraction(1, 10)  # entries in 100 rows below which a figure means nothing to anybody


@dataclass(frozen=True)
class Choice:
    """The curve, and what its two ends and the chosen point mean."""

    secret: str
    axis: str
    picture: CurvePicture
    marks: tuple[tuple[str, str], ...]
    proved: bool
    chosen: str


def choice(facts: Facts, curve: "Curve") -> Choice:
    """The curve of a statement, with its ends and the chosen point in words."""
    fields = plain.fields_compared(facts.aim)
    scale = 100 if fields else 1
    points = [(float(scale * point.distortion), float(point.high)) for point in curve.points]
    here = (float(scale * curve.chosen.distortion), float(curve.chosen.high)) if curve.chosen else None
    first = curve.points[0]

    def change(distortion: Fraction) -> str:
        if not distortion:
            return "no entry is changed" if fields else "no distortion"
        if fields and 100 * distortion < FEW:
            return f"fewer than 1 of {100 * fields:,} entries in 100 rows changed"
        return (
            f"{plain.changed_entries(distortion, fields)} changed"
            if fields
            else f"a distortion of {figure(distortion, 'up')}"
        )

    secret = joined(curve.trade.secret)
    revealed = bits(_revealed(facts, curve), "up") if curve.chosen else ""
    marks = [("Least change", f"{change(first.distortion)}; a row reveals {bits(first.high, 'up')} about {secret}.")]
    if curve.chosen:
        marks.append(
            (
                "This release",
                f"{change(curve.chosen.distortion)}; a row reveals at most {revealed}.",
            )
        )
    if curve.ends.private is not None:
        marks.append(("Nothing revealed", f"{change(curve.ends.private)}; a row reveals nothing about {secret}."))
    return Choice(
        secret=secret,
        axis=f"entries changed per 100 rows (of {100 * fields})" if fields else "distortion",
        picture=curve_picture(points, here, 500, 280),
        marks=tuple((name, f"{text[:1].upper()}{text[1:]}") for name, text in marks),
        proved=all(point.proved for point in curve.points),
        chosen=f"{revealed}, {change(curve.chosen.distortion)}" if curve.chosen else "",
    )


def _revealed(facts: Facts, curve: "Curve") -> Fraction:
    """What the release reveals: the curve has it within a gap, and the promise of the release is proved."""
    assert curve.chosen is not None
    promised = [
        promise.guarantee.at_most_bits
        for promise in facts.promises
        if type(promise.guarantee) is Leakage and set(promise.secret) == set(curve.trade.secret)
    ]
    return min([Fraction(curve.chosen.high), *promised])
