"""Tables that DuckDB counts and sorts."""

from dalenius.engines.duckdb.engine import DuckDB

__all__ = ["DuckDB"]
