"""`dalenius help`: the first page, the help of a command, or the page about an error."""

import re
from argparse import Namespace
from difflib import get_close_matches
from pathlib import Path

from dalenius.cli.grammar import parser
from dalenius.cli.helping import commands_of
from dalenius.cli.terminal import say
from dalenius.errors import InputError

INSTALLED = Path(__file__).with_name("errors")
SOURCE = Path(__file__).parents[3] / "docs" / "reference" / "errors"
"""The pages about errors: a wheel carries them beside this file, a clone has them among its documentation."""


def run(arguments: Namespace) -> None:
    """Print the page."""
    about, commands = arguments.about, commands_of(parser())
    pages = {file.stem: file for file in (INSTALLED if INSTALLED.is_dir() else SOURCE).glob("*.md")}
    if about is None:
        text = parser().format_help()
    elif about in commands:
        text = commands[about].format_help()
    elif about in pages and about != "index":
        text = plain(pages[about].read_text(encoding="utf-8"))
    else:
        close = get_close_matches(about, [*pages, *commands], 1)
        guess = f"Did you mean {close[0]}?" if close else f"There are {', '.join(sorted(set(pages) - {'index'}))}."
        raise InputError(f'There is no page "{about}".', do=guess, code="usage")
    say(arguments, [text.rstrip()], {"about": about, "text": text})


def plain(page: str) -> str:
    """A page of the documentation as a terminal shows it: no marks of Markdown, no addresses of links.

    >>> plain("# Too large\\n\\n**Why.** See [limits](limits.md) and *this*, `--seconds`.")
    'Too large\\n\\nWhy. See limits and this, --seconds.'
    """
    page = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"(?m)^#+ ", "", page))
    return re.sub(r"\*\*(.+?)\*\*|(?<![\w*])\*([^*]+)\*|`([^`]+)`", lambda m: m[1] or m[2] or m[3], page)
