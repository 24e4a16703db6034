"""Properties without a number of their own try 5 examples by default, and 100 in the long run."""

import gc
from collections.abc import Generator
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from _pytest.runner import runtestprotocol
from hypothesis import settings

from tests.effort import effort

settings.register_profile("dalenius", deadline=None, max_examples=effort(5, 100))
settings.load_profile("dalenius")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[Any], list[Any]]:
    """Doctests stand in the package; to look for some in every test took a fifth of the collection."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


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
