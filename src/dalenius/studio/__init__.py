"""Choosing what to release in a browser, on this computer alone. The page shows what the library says and no more."""

from dalenius.studio.server import Studio, open_studio

__all__ = ["Studio", "open_studio"]
