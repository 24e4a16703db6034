"""The documentation site lists every page, and the page about commands says what the grammar says."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_about_commands_is_what_the_grammar_says():
    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    assert page == script("commands_page").page(), "run: python scripts/commands_page.py docs/reference/commands.md"


def test_every_page_has_its_place():
    listed = set(re.findall(r"[\w/.-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if not page.startswith("decisions/")} == listed


def test_links_out_of_the_site_become_names_of_files():
    class Page:
        class file:  # noqa: N801 - the name that MkDocs uses
            src_uri = "tutorials/custodian.md"

    text = "[The example](../../examples/acs/problem.toml) and [limits](../limits.md#what)"
    found = script("site_hooks").on_page_markdown(text, page=Page, config={"docs_dir": str(ROOT / "docs")})
    assert found == "The example (`examples/acs/problem.toml`) and [limits](../limits.md#what)"


def test_no_script_comes_from_another_host():
    page = '<script src="https://example.org/a.js"></script><script src="assets/b.js"></script>'
    assert script("site_hooks").on_post_page(page) == '<script src="assets/b.js"></script>'
