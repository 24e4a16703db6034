"""Tables on a Spark cluster."""

from dalenius.engines.spark.engine import Scattered, Spark

__all__ = ["Scattered", "Spark"]
