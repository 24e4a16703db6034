"""Every relative link of the documentation leads to a file that exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def dead(page: Path) -> list[str]:
    """The relative links of a page that lead nowhere."""
    links = LINK.findall(re.sub(r"(?s)```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8")))
    files = [x.split("#")[0] for x in links if not re.match(r"[a-z]+:|#", x)]
    return [x for x in files if not (page.parent / x).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_relative_links_lead_somewhere(page):
    assert dead(page) == []


def test_a_dead_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("[here](page.md#top) [there](https://example.org) [nowhere](gone.md) `[code](x.md)`")
    assert dead(page) == ["gone.md"]


def test_decisions_are_numbered_once():
    numbers = [page.name[:3] for page in (ROOT / "docs" / "decisions").glob("*.md")]
    assert len(numbers) == len(set(numbers))
    for page in (ROOT / "docs" / "decisions").glob("*.md"):
        assert page.read_text(encoding="utf-8").startswith(f"# {page.name[:3]} "), page.name
