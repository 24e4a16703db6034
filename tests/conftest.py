"""Properties try 5 examples by default and 100 in the long run; the keys of a test are the same whenever it is run.

A default run ends alike every time: fresh keys and examples of properties follow from the name of the test. The long
run draws anew; a test that compares a draw with an interval of 95 % would fail there once in twenty.
"""

import gc
import hashlib
import itertools
import sys
from collections.abc import Generator
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from _pytest.runner import runtestprotocol
from hypothesis import settings

from dalenius.sampling import key
from tests.effort import EVERYTHING, effort

settings.register_profile("dalenius", deadline=None, max_examples=effort(5, 100), derandomize=not EVERYTHING)
settings.load_profile("dalenius")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[Any], list[Any]]:
    """Doctests stand in the package; to look for some in every test took a fifth of the collection."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fresh keys that follow from the name of the test."""
    if not EVERYTHING:
        taken = itertools.count()
        key.token_bytes = lambda size: hashlib.shake_256(f"{item.nodeid} {next(taken)}".encode()).digest(size)


COUNTS_LINES = sys.gettrace()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Python drops whoever counts lines when a signal raises an error in its middle: it counts on in the next test."""
    if COUNTS_LINES is not None and sys.gettrace() is None:
        sys.settrace(COUNTS_LINES)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What was collected stays to the end: the collector of garbage need not look at it again after every test."""
    gc.freeze()
    gc.set_threshold(200_000, 50, 50)


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Workers report each test once, and fixtures only where they fail: five messages for each test cost more."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, nextitem=nextitem, log=False):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True
