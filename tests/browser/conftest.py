"""Pages in Debian's Chromium, on two widths and in two colour schemes, with everything that they do wrong collected."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dalenius.api import release
from dalenius.core import Problem
from dalenius.sampling import Key
from tests.demos import EXAMPLES, rand_table

CHROMIUM = "/usr/bin/chromium"
SIZES = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]

CUT = """[...document.querySelectorAll('body *')].filter(element => {
  const box = element.getBoundingClientRect();
  return box.width && box.right > innerWidth + 1 && !element.closest('.scroll, .vh, .skip');
}).map(element => element.outerHTML.slice(0, 120))"""
"""Elements that stand out of the page on the right; a table that scrolls in its own frame is no fault."""

LOW = """[...document.querySelectorAll('button')].filter(element => {
  const box = element.getBoundingClientRect();
  return element.offsetParent && box.height > 0 && box.height < 43.5;
}).map(element => element.outerHTML.slice(0, 120))"""
"""Buttons that a thumb misses: 44 pixels is the least that a finger hits."""

SMALL = """[...document.querySelectorAll('button, select, input, summary')].filter(element => {
  const box = element.getBoundingClientRect();
  return element.offsetParent && !element.closest('.vh') && box.height > 0 && box.height < 24
    && !['checkbox', 'radio', 'range'].includes(element.type);
}).map(element => element.outerHTML.slice(0, 120))"""


PATIENCE = int(120_000 * min(5.0, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))))
"""Milliseconds that a page may take on a slow machine, more on a busy one; what must be quick, `quickly` measures."""


def quickly(seconds: float) -> float:
    """Four times a bar in seconds, longer by as much as the machine is loaded: this finds what got slow."""
    return 4 * seconds * max(1.0, 2 * os.getloadavg()[0] / (os.cpu_count() or 1))


@dataclass
class Watched:
    """A page, the errors on its console, and the addresses that it asked for."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def faults(self) -> dict[str, Any]:
        """Everything that a page must not have; empty if it is fine."""
        from axe_playwright_python.sync_playwright import Axe

        sideways = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        violations = [
            (found["id"], found["nodes"][0]["target"], found["nodes"][0]["failureSummary"])
            for found in Axe().run(self.page).response["violations"]
        ]
        found = {
            "sideways": sideways,
            "cut": self.page.evaluate(CUT),
            "small": self.page.evaluate(SMALL),
            "low": self.page.evaluate(LOW),
            "axe": violations,
            "errors": list(self.errors),
        }
        return {name: fault for name, fault in found.items() if fault}


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def watch(browser: Any) -> Iterator[Any]:
    """A function that opens an address in a context of its own."""
    with contextlib.ExitStack() as stack:

        def opened(address: str, width: int = 1280, scheme: Any = "light", **options: Any) -> Watched:
            context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
            stack.callback(context.close)
            context.set_default_timeout(PATIENCE)
            watched = Watched(context.new_page())
            watched.page.on(
                "console", lambda m: watched.errors.append(m.text) if m.type in ("error", "warning") else None
            )
            watched.page.on("pageerror", lambda e: watched.errors.append(str(e)))
            watched.page.on("request", lambda r: watched.requests.append(r.url))
            watched.page.goto(address)
            return watched

        yield opened


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the main example: its table, its problem file and the release of it."""
    folder = tmp_path_factory.mktemp("demo")
    rand_table(folder / "rand.csv")
    (folder / "problem.toml").write_text((EXAMPLES / "rand_health" / "problem.toml").read_text())
    release(Problem.from_file(folder / "problem.toml"), folder / "release", key=Key.unsafe(1))
    return folder
