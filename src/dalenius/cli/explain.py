"""`dalenius explain`"""

from argparse import Namespace

from dalenius.cli.terminal import say
from dalenius.errors import InputError
from dalenius.report import words
from dalenius.tables import read_json


def run(arguments: Namespace) -> None:
    document = read_json(arguments.design, "design or card file")
    known = ("dalenius-design/1", "dalenius-card/1")
    if not isinstance(document, dict) or document.get("format") not in known:
        raise InputError(f"{arguments.design} is neither a design nor a card")
    parts = {
        "promised": words.promised(document),
        "proved": words.proved(document),
        "one_more": words.one_more(document),
        "not_protected": words.not_protected(document),
    }
    titles = ("Promised", "Claimed (run `dalenius verify` to re-prove it)", "With one more attribute", "Not protected")
    lines = []
    for title, sentences in zip(titles, parts.values(), strict=True):
        if sentences:
            lines += [f"{title}:", *(f"  {s}" for s in sentences)]
    lines += [f"Note: {remark}." for remark in document.get("remarks", [])]
    say(arguments, lines, parts | {"remarks": document.get("remarks", [])})
