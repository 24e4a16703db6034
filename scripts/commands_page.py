"""Write the page about all commands from the grammar of the command line.

python scripts/commands_page.py docs/reference/commands.md
"""

import argparse
import sys
from pathlib import Path

from dalenius.cli.grammar import parser
from dalenius.cli.helping import WANTED, commands_of

__all__ = ["page"]


def page() -> str:
    """The page: commands by what people want to do, with their options and an example each."""
    commands = commands_of(parser())
    named = {name for names in WANTED.values() for name in names}
    groups = dict(WANTED) | {"More": tuple(name for name in commands if name not in named)}
    lines = ["# Commands", "", "Every command has `--help`, and `--json` for machines.", ""]
    for title, names in groups.items():
        known = [name for name in names if name in commands]
        lines += [f"## {title}", ""] if known else []
        for name in known:
            lines += _command(f"dalenius {name}", commands[name])
    return "\n".join(lines).rstrip() + "\n"


def _command(title: str, sub: argparse.ArgumentParser) -> list[str]:
    lines = [f"### {title}", "", sub.description or "", ""]
    below = [action for action in sub._actions if isinstance(action, argparse._SubParsersAction)]
    rows = [
        (", ".join(f"`{o}`" for o in action.option_strings) or f"`{action.metavar or action.dest}`", action.help)
        for action in sub._actions
        if action not in below and action.help not in (None, argparse.SUPPRESS) and action.dest != "help"
    ]
    if rows:
        lines += ["| option | meaning |", "|---|---|"]
        lines += [f"| {name} | {(text or '').replace('%%', '%').replace('|', chr(92) + '|')} |" for name, text in rows]
        lines.append("")
    example = (sub.epilog or "").partition(":\n")[2]
    lines += ["```text", *(line.strip() for line in example.splitlines()), "```", ""] if example else []
    for action in below:
        for name, deeper in action.choices.items():
            lines += _command(f"{title} {name}", deeper)
    return lines


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
