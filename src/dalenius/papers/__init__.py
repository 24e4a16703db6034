"""Figures of the papers, recomputed at call time: tables, charts and one page that shows them beside the printed."""

from dalenius.papers.curve import Chart, Line, draw
from dalenius.papers.enclosure import Enclosure
from dalenius.papers.exhibit import Exhibit, Figure, Table
from dalenius.papers.page import render, write

__all__ = ["Chart", "Enclosure", "Exhibit", "Figure", "Line", "Table", "draw", "render", "write"]
