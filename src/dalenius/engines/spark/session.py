"""A Spark session: the one that runs, or a new one; and what goes wrong in it, in one sentence."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from dalenius.errors import TableError, Unsupported

__all__ = ["BATCH", "master", "one_sentence", "session"]

BATCH = 1 << 17  # rows that a task codes and draws at a time


def session() -> Any:
    """The session that runs, or a new one as the environment of Spark configures it."""
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise Unsupported("the engine spark needs the extra spark: pip install 'dalenius[spark]'") from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("dalenius").config("spark.ui.showConsoleProgress", "false")
    try:
        if master().startswith("local"):  # one machine: nothing listens outside of it
            builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
            builder = builder.config("spark.ui.enabled", "false")
        found = builder.getOrCreate()
    except _errors_of_spark() as e:
        raise Unsupported(
            f"Spark does not start: {_first_line(e)}", do="Check that Java is installed, or leave out --engine spark."
        ) from None
    found.sparkContext.setLogLevel("ERROR")
    found.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(BATCH))
    found.conf.set("spark.sql.session.timeZone", "UTC")
    found.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")  # year=01 is "01", not 1
    return found


def master() -> str:
    """The cluster that the settings name: those of spark-submit, of SPARK_CONF_DIR, of the session that runs."""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()  # starts Java; before that, a configuration is empty whatever the settings say
    return str(SparkConf().get("spark.master", "local"))


@contextmanager
def one_sentence(what: str) -> Iterator[None]:
    """Errors of Spark in one sentence; ours pass."""
    try:
        yield
    except _errors_of_spark() as e:
        raise TableError(
            f"Spark cannot read or write {what}: {_first_line(e)}",
            do="Check the name and your rights, or leave out --engine spark.",
        ) from None


def _errors_of_spark() -> tuple[type[Exception], ...]:
    """What Spark, its bridge to Java, and Arrow raise; any other error is a fault of ours and must look like one."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError, pa.ArrowException, OSError, EOFError


def _first_line(e: BaseException) -> str:
    lines = [line.strip() for line in str(e).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(e).__name__
