"""Noise for numeric columns on their grids."""
