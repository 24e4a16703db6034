r"""The most that is told of one value of the secret where each of its cells is at one of two ends.

With v_y the mass of a letter, p that of all cells and l_y a bound of log2 q(y) from below,

    h(p)  <=  sum_y [v_y log2 v_y - v_y l_y]  -  p log2 p,

and v_y depends on those cells alone that send mass to y, so that each letter is told once for the ends of these. Where
there are many, v log2 v is convex and lies below its chord between two points, and p log2 p above its tangent at one.
"""

from collections.abc import Sequence
from itertools import pairwise

from dalenius.kernel.logs import BITS, E_LOW, LOG_COST, log2
from dalenius.kernel.numbers import Work

PIECE_BITS = 7  # bits of the number of pieces, at most
LISTED_CELLS = 40  # cells whose ends anybody would list
# From above a tangent of p log2 p would rise above it where it is subtracted.
LOG_OF_E = int(E_LOW * (1 << BITS))  # from below


def in_order(uses: Sequence[Sequence[int]]) -> list[int]:
    """The cells that letters use; next come those of the letter that has the fewest of them left."""
    order: dict[int, None] = {}
    left = [set(own) for own in uses]
    while left:
        least = min(left, key=len)
        order |= dict.fromkeys(sorted(least))
        left = [rest for own in left if (rest := own - least)]
    return list(order)


def cost_of_ends(uses: Sequence[Sequence[int]]) -> int:
    """How many operations it takes to tell letters that use these cells, for all ends of all of them, as measured."""
    place = {cell: at + 1 for at, cell in enumerate(in_order(uses))}
    ends = sum(1 << min(max((place[cell] for cell in own), default=0), LISTED_CELLS) for own in uses)
    return ends // 2 + sum(_cost_of_list(len(own)) for own in (place, *uses)) + 10 * len(place) * len(uses)


def _cost_of_list(many: int) -> int:
    few = min(many, LISTED_CELLS)
    return (4 << few) + (LOG_COST // 2 << min(few, PIECE_BITS))


def most_at_ends(
    ends: Sequence[tuple[int, int]], rows: Sequence[list[int]], known: list[int], price: int, work: Work
) -> int:
    """The largest h(p) - price p in units of 2^-BITS; a row is what a cell sends to each letter, whole in all."""
    wide = [c for c, (low, high) in enumerate(ends) if low < high]
    uses = [[c for c in wide if rows[c][y]] for y in range(len(known))]
    work.spend(cost_of_ends(uses), max(high * sum(row) for (_, high), row in zip(ends, rows, strict=True)).bit_length())
    order = in_order(uses)
    place = {cell: at for at, cell in enumerate(order)}
    letters = sorted((sorted(place[c] for c in own), y) for y, own in enumerate(uses))
    told = [0]
    count = 0
    # Letters whose last cell comes first, so that the list of ends grows once for each cell.
    for own, y in sorted(letters, key=lambda letter: letter[0][-1:]):
        least = sum(low * row[y] for (low, _), row in zip(ends, rows, strict=True))
        more = _sums_of_ends([(ends[order[at]][1] - ends[order[at]][0]) * rows[order[at]][y] for at in own])
        needed = own[-1] + 1 if own else 0
        told *= 1 << needed - count
        count = needed
        told = [a + b for a, b in zip(told, _for_all_ends(_letter_above(least, more, known[y]), own), strict=True)]
    least = sum(low * sum(row) for (low, _), row in zip(ends, rows, strict=True))
    more = _sums_of_ends([(ends[c][1] - ends[c][0]) * sum(rows[c]) for c in order])
    return max(a - b for a, b in zip(told, _whole_below(least, more, price), strict=True))


def _sums_of_ends(steps: list[int]) -> list[int]:
    """The sums of any of the steps; the last step makes the second half of them."""
    found = [0]
    for step in steps:
        found += [mass + step for mass in found]
    return found


def _for_all_ends(values: list[int], own: list[int]) -> list[int]:
    """Values for the ends of some cells, the last among them, for the ends of all cells up to that."""
    for at in sorted(set(range(own[-1] if own else 0)) - set(own)):
        block = 1 << at
        values = [value for start in range(0, len(values), block) for value in values[start : start + block] * 2]
    return values


def _letter_above(least: int, more: list[int], known: int) -> list[int]:
    """At least v log2 v - known v, where v is the least and some more."""

    def told(v: int) -> int:
        return v * (log2(v)[1] - known) if v else 0  # log2 v up and log2 q (known) down: told is too much

    if len(more) <= 1 << PIECE_BITS:
        return [told(least + v) for v in more]
    shift = _shift_of(more)
    ends = [told(least + (at << shift)) for at in range((more[-1] >> shift) + 2)]
    # Rounded up: v stands at or above the lower end of its piece, so that the chord stays above.
    slopes = [-((first - second) >> shift) for first, second in pairwise(ends)]
    starts = [end - slope * (at << shift) for at, (end, slope) in enumerate(zip(ends, slopes, strict=False))]
    return [starts[v >> shift] + slopes[v >> shift] * v for v in more]


def _whole_below(least: int, more: list[int], price: int) -> list[int]:
    """At most p log2 p + price p, where p is the least and some more."""
    if len(more) <= 1 << PIECE_BITS:
        # log2 from below, as all of this is subtracted.
        return [p * (log2(p)[0] + price) if p else 0 for p in (least + v for v in more)]
    shift = _shift_of(more)
    # The lower end of a piece: the tangent there is below p log2 p on all of it.
    points = [max(least + (at << shift), 1) for at in range((more[-1] >> shift) + 1)]
    slopes = [log2(point)[0] + LOG_OF_E + price for point in points]
    starts = [least * slope - point * LOG_OF_E for slope, point in zip(slopes, points, strict=True)]
    return [starts[v >> shift] + slopes[v >> shift] * v for v in more]


def _shift_of(more: list[int]) -> int:
    """By which the largest of these, the last, is divided into pieces."""
    return max(more[-1].bit_length() - PIECE_BITS, 0)
