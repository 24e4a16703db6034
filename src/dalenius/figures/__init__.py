"""Figures of the papers, recomputed at call time: tables, charts and one page that shows them beside the printed."""

from dalenius.figures.curve import Chart, Line, draw
from dalenius.figures.enclosure import Enclosure
from dalenius.figures.exhibit import Exhibit, Figure, Table
from dalenius.figures.page import render, write

__all__ = ["Chart", "Enclosure", "Exhibit", "Figure", "Line", "Table", "draw", "render", "write"]
