"""Where the rows of a release are counted, drawn and sorted: on this machine, by DuckDB, or on a Spark cluster."""

from dalenius.engines.engine import ENGINES, Engine, engine_named
from dalenius.engines.local import Local

__all__ = ["ENGINES", "Engine", "Local", "engine_named"]
