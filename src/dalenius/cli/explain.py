"""`dalenius explain`"""

from argparse import Namespace

from dalenius.cli.terminal import say
from dalenius.convert import PROVABLE
from dalenius.core import Problem
from dalenius.errors import InputError
from dalenius.papers.outlook_page import foreseen
from dalenius.report import words
from dalenius.tables import bind, read_told, sound


def run(arguments: Namespace) -> None:
    if arguments.design.endswith(".toml"):
        from dalenius.papers.outlook import outlook  # the solvers behind it take a second to import

        problem, _ = bind(Problem.from_file(arguments.design))
        found = outlook(problem, samples=arguments.samples, alpha=arguments.alpha)
        say(arguments, foreseen(found), found)
        return
    if arguments.samples or arguments.alpha:
        raise InputError("--samples and --alpha belong to a problem file")
    document = read_told(arguments.design)
    if not isinstance(document, dict) or document.get("format") not in PROVABLE:
        raise InputError(f"{arguments.design} is neither a design nor a card")
    with sound(arguments.design):
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
    with sound(arguments.design):
        remarks = [str(remark) for remark in document.get("remarks", [])]
    lines += [f"Note: {remark}." for remark in remarks]
    say(arguments, lines, parts | {"remarks": remarks})
