"""What a notebook shows of a release: the promise, 1,000 guesses as dots, and rows before and after as bars.

No script, no outside request.
"""

from collections.abc import Sequence
from html import escape

from dalenius.evidence.before_after import ValueCount
from dalenius.report.drawing import dots
from dalenius.report.plain import Promised

__all__ = ["release_html"]

MOST_VALUES = 60  # bars of a page; a wide table has more
MOST_CHARACTERS = 60  # of a name
DOTS = {"base": ("3.1", "#2f6db3"), "extra": ("4.6", "#c4500a"), "none": ("1.7", "#8a8f98")}
"""Right without the row, right because of it, and wrong: the radius and the colour of a dot."""
STYLE = (
    ".dalenius{font:14px/1.4 system-ui,sans-serif;max-width:44rem}.dalenius td{padding:.1rem .6rem .1rem 0;"
    "text-align:left}.dalenius td.n{text-align:right;font-variant-numeric:tabular-nums}.dalenius .lost{color:#b3261e;"
    "font-weight:600}.dalenius meter{width:9rem}.dalenius svg{display:block;width:100%;max-width:32rem}"
    ".dalenius .mark{border:1px solid;padding:0 .4rem;font-size:12px}"
)


def release_html(sentence: str, values: Sequence[ValueCount], promises: Sequence[Promised] = ()) -> str:
    """A small page about a release.

    Parameters
    ----------
    sentence : str
        The release in one line.
    values : sequence of ValueCount
        Rows of each value before and after.
    promises : sequence of Promised
        What is promised; of the first one that limits guesses a thousand are drawn.

    Returns
    -------
    str
        HTML below 30 kB. It holds counts of the table, and says that it is confidential.
    """
    most = max((max(value.before, value.after) for value in values), default=1) or 1
    rows = []
    for value in values[:MOST_VALUES]:
        lost = ' class="lost"' if 4 * value.after < 3 * value.before else ""
        rows.append(
            f"<tr{lost}><td>{_short(value.columns[0])}</td><td>{_short(value.values[0])}</td>"
            f'<td class="n">{value.before:,}</td><td class="n">{value.after:,}</td>'
            f'<td><meter min="0" max="{most}" value="{value.after}">{value.after:,}</meter></td></tr>'
        )
    more = len(values) - MOST_VALUES
    rest = f"<p>{more:,} more values are in the statement.</p>" if more > 0 else ""
    head = "<tr><td>column</td><td>value</td><td class='n'>rows before</td><td class='n'>after</td><td></td></tr>"
    return (
        f'<div class="dalenius"><style>{STYLE}</style><p><span class="mark">Confidential</span> {escape(sentence)}</p>'
        f"{_guesses(promises)}<table>{head}{''.join(rows)}</table>{rest}</div>"
    )


def _guesses(promises: Sequence[Promised]) -> str:
    """A thousand guesses as dots, and what they say in words."""
    found = next(
        (promise for promise in promises if promise.about and promise.before is not None and promise.gain is not None),
        None,
    )
    if found is None or found.before is None or found.gain is None:
        return ""
    more = f"and at most {found.gain:,} more with it" if found.gain else "and no more with it"
    says = escape(f"Of 1,000 guesses of {found.about}, {found.before:,} are right without the row, {more}.")
    patterns = "".join(
        f'<pattern id="dalenius-{kind}" width="10" height="10" patternUnits="userSpaceOnUse">'
        f'<circle cx="5" cy="5" r="{radius}" fill="{colour}"/></pattern>'
        for kind, (radius, colour) in DOTS.items()
    )
    areas = "".join(
        f'<rect x="{a.x}" y="{a.y}" width="{a.width}" height="{a.height}" fill="url(#dalenius-{a.kind})"/>'
        for a in dots(found.before, found.gain)
    )
    picture = f'<svg viewBox="0 0 500 200" role="img" aria-label="{says}"><defs>{patterns}</defs>{areas}</svg>'
    return f"<p>{says}</p>{picture}"


def _short(name: str) -> str:
    """A name as HTML text that does not break the page."""
    return escape(name if len(name) <= MOST_CHARACTERS else name[: MOST_CHARACTERS - 1] + "…")
