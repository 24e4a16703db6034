"""What a notebook shows of a release: the promise, and rows before and after as bars. No script, no outside request."""

from collections.abc import Sequence
from html import escape

from dalenius.evidence.before_after import ValueCount

__all__ = ["release_html"]

MOST_VALUES = 60  # bars of a page; a wide table has more
MOST_CHARACTERS = 60  # of a name
STYLE = (
    ".dalenius{font:14px/1.4 system-ui,sans-serif;max-width:44rem}.dalenius td{padding:.1rem .6rem .1rem 0;"
    "text-align:left}.dalenius td.n{text-align:right;font-variant-numeric:tabular-nums}.dalenius .lost{color:#b3261e;"
    "font-weight:600}.dalenius meter{width:9rem}.dalenius .mark{border:1px solid;padding:0 .4rem;font-size:12px}"
)


def release_html(sentence: str, values: Sequence[ValueCount]) -> str:
    """A small page about a release.

    Parameters
    ----------
    sentence : str
        The release in one line.
    values : sequence of ValueCount
        Rows of each value before and after.

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
        f"<table>{head}{''.join(rows)}</table>{rest}</div>"
    )


def _short(name: str) -> str:
    """A name as HTML text that does not break the page."""
    return escape(name if len(name) <= MOST_CHARACTERS else name[: MOST_CHARACTERS - 1] + "…")
