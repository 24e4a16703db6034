"""The files of a set of exhibits: a CSV for each table, an SVG for each chart, and one page that shows all of them.

The page is self-contained: no script, no outside request; it forbids both to itself.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from dalenius.outputs import FIGURES, new_folder, write_text
from dalenius.papers.curve import STYLE, draw
from dalenius.papers.exhibit import Cell, Exhibit, Figure, Table

__all__ = ["csv_text", "render", "write"]

DIGITS = 10
"""Decimals of a figure on the page; the files have more."""


@cache
def _template() -> Template:
    folder = files("dalenius.papers")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["cell"] = lambda cell: cell.text(DIGITS) if isinstance(cell, Figure) else cell
    environment.tests["figure"] = lambda cell: isinstance(cell, Figure)
    # The styles are ours, and the charts escape their own words; nothing else reaches the page unescaped.
    environment.globals["style"] = Markup(folder.joinpath("page.css").read_text("utf-8") + STYLE)
    environment.globals["draw"] = lambda chart: Markup(draw(chart, standalone=False))
    return environment.from_string(folder.joinpath("page.html.j2").read_text("utf-8"))


def csv_text(table: Table) -> str:
    """A table as CSV, figures with 18 decimals, cut to their own side.

    >>> csv_text(Table("", "", ("n", "ours"), (("2", "a,b"),)))
    'n,ours\\n2,"a,b"\\n'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_distinct(table.head))
    writer.writerows([cell.text() if isinstance(cell, Figure) else cell for cell in row] for row in table.rows)
    return out.getvalue()


def _distinct(head: Sequence[str]) -> list[str]:
    """Columns by name: a bound is named after what it bounds when there are several."""
    many = head.count("bound") > 1
    return [f"{head[k - 1]}, bound" if many and name == "bound" else name for k, name in enumerate(head)]


def _named(exhibit: Exhibit) -> Iterable[tuple[str, Table]]:
    return (
        (f"{exhibit.key}-{table.name}.csv" if table.name else f"{exhibit.key}.csv", table) for table in exhibit.tables
    )


def render(paper: str, title: str, exhibits: Sequence[Exhibit]) -> str:
    """The page, as text.

    Parameters
    ----------
    paper, title : str
        Its number and its name.
    exhibits : sequence of Exhibit
        In their order.

    Returns
    -------
    str
        HTML.
    """
    noted = [
        (exhibit, row)
        for exhibit in exhibits
        for table in exhibit.tables
        for row in table.rows
        if any(word.startswith("paper") for word in table.head)
    ]
    return _template().render(
        paper=paper,
        title=title,
        exhibits=[(exhibit, [(name, t) for name, t in _named(exhibit)]) for exhibit in exhibits],
        compared=len(noted),
        agreeing=sum(_says(row, "agree") for _, row in noted),
        differing=[(e.title, str(row[0])) for e, row in noted if _says(row, "DIFFERS")],
    )


def _says(row: Sequence[Cell], word: str) -> bool:
    return isinstance(row[-1], str) and word in row[-1]


def write(paper: str, title: str, exhibits: Sequence[Exhibit], folder: Path | str, *, force: bool = False) -> list[str]:
    """Make a folder with `index.html` and the files of every exhibit; their names. All of it appears, or nothing.

    Parameters
    ----------
    paper, title : str
        Its number and its name.
    exhibits : sequence of Exhibit
        In their order.
    folder : str or Path
        A new one.
    force : bool
        Write although it is there.

    Returns
    -------
    list of str
        The names of the files.
    """
    place = Path(folder)
    with new_folder(place, FIGURES, force=force) as partial:
        write_text(partial / "index.html", render(paper, title, exhibits))
        for exhibit in exhibits:
            for name, table in _named(exhibit):
                write_text(partial / name, csv_text(table))
            if exhibit.chart:
                write_text(partial / f"{exhibit.key}.svg", draw(exhibit.chart))
    return sorted(f.name for f in place.iterdir())
