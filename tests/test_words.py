"""How Dalenius speaks: no private dialect, short sentences, no exponents, in everything that everybody meets."""

import argparse
import ast
import importlib.util
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from dalenius import errors
from dalenius.cli.grammar import parser

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("strings", ROOT / "scripts" / "strings.py")
strings = importlib.util.module_from_spec(spec)
sys.modules["strings"] = strings
spec.loader.exec_module(strings)

BANNED = re.compile(
    r"\b(letters?|alphabets?|laws?|channels?|the very|all but surely|by name|has a sign|nothing is lost|no family|"
    r"codes only save rate|drawn from|is refused|tells?|told|adversar(?:y|ies)|dual solution|pmf|joint|priors?|"
    r"posteriors?|nats|farkas|highs|walk|gamma|support lemma|paper 00\d|mode 600|inf,)(?![\w.])",
    re.IGNORECASE,
)
"""Words of the theory, and idioms of our own; none of them helps the one who signs a statement."""

KEYS = re.compile(r"dalenius channel|`[^`]*`|'[a-z_]+'|--[a-z-]+|\b\w+ = |[\w-]+\.(json|toml|csv)\b|\[\w+(\.\w+)*\]")
"""Names of files, flags and keys stay as they are."""

NAMED = ("core/forms/windows.py", "core/design.py", "core/product_pmf.py", "verifying.py", "cli/point.py")
"""Places with a sentence that is data: the evidence of a refusal, formulas on a card, types of arguments, the "
"quantities
of the papers at one point of a region."""

EXPONENT = re.compile(r"\b\d+(\.\d+)?e[-+]?\d+\b")
MOST_WORDS = 25
PAGES = [
    "README.md",
    "docs/index.md",
    "docs/comparison.md",
    "docs/engines.md",
    "docs/glossary.md",
    "docs/limits.md",
    "docs/promise-explained.md",
    *(f"docs/{part}" for part in ("start", "how-to", "tutorials", "reference/errors")),
]


said = cache(strings.said)


def lay():
    """Texts that people meet, all rooms but those of specialists."""
    return [one for one in said() if not (one.text.count(" ") < 2 or any(place in one.place for place in NAMED))]


def dialect(text):
    """Words of a text that only insiders know."""
    return [found[0] for found in BANNED.finditer(KEYS.sub(" ", text))]


def clauses(text):
    return re.split(r"(?<=[.!?;:])\s+", text)


def helps(top):
    """Every help text of a parser, with where it stands."""
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, sub in action.choices.items():
                yield name, sub.description or ""
                yield from ((f"{name} {place}", text) for place, text in helps(sub))
        elif action.help and action.help is not argparse.SUPPRESS:
            yield "/".join(action.option_strings) or action.dest, action.help


def prose(page):
    """The sentences of a page: no code, no tables of code, no links."""
    text = re.sub(r"(?s)```.*?```|<[^>]+>|\]\([^)]*\)", " ", page.read_text(encoding="utf-8"))
    return re.sub(r"`[^`]*`", " ", text)


def pages():
    for name in PAGES:
        path = ROOT / name
        yield from sorted(path.glob("*.md")) if path.is_dir() else [path] if path.exists() else []


def test_the_list_holds_what_users_see():
    found = said()
    assert len(found) > 2500
    assert {one.room for one in found} >= {"core", "mechanisms", "solvers", "measures", "studio", "report", "ledger"}
    texts = {one.text for one in found}
    assert any("is not in its list of values" in text for text in texts)
    assert any(text.startswith("Of 1,000 guesses") for text in texts)
    places = {one.place.partition(":")[0].rpartition("/")[2] for one in found}
    assert places >= {
        "prover.mjs",
        "steps.mjs",
        "statement.html.j2",
        "estimate.R",
        "failing.py",
        "dialogue.py",
        "summary.py",
    }
    assert {one.kind for one in found} == {"help", "error", "output", "page"}


def test_no_dialect_in_what_everybody_meets():
    assert [(one.place, words, one.text) for one in lay() if (words := dialect(one.text))] == []


def test_no_clause_is_long():
    long = [(one.place, c) for one in lay() for c in clauses(one.text) if len(c.split()) > MOST_WORDS]
    assert long == []


def test_no_exponents():
    assert [(one.place, one.text) for one in lay() if EXPONENT.search(one.text)] == []


def test_help_is_one_plain_sentence_for_each_option():
    told = list(helps(parser()))
    assert len(told) > 100
    assert [(place, words) for place, text in told if (words := dialect(text))] == []
    assert [(place, text) for place, text in told if len(text.split()) > MOST_WORDS or ". " in text] == []
    assert [place for place, text in told if EXPONENT.search(text)] == []


FOR_CALLERS = ("solvers/", "sampling/", "measures/", "core/forms/", "core/arithmetic", "core/multinomial")
"""Rooms that are called from Python: the sentence says what the argument must be, and nothing else can be done."""

DECLARED = ("core/",)
"""What a problem file or a query file declares: its reader names the line, and says to correct it."""

NOTHING_TO_DO = {
    "interrupted": "you stopped it yourself",
    "the figures contradict each other": "a fault of ours, said as one",
}


def ways(refusal):
    """What somebody who meets a refusal can do, as the terminal would show it; or where it stands in the sentence."""
    kind = getattr(errors, refusal.kind)
    if refusal.kind == "SmallCombinations":
        return refusal.do
    kind = errors.ProblemFileError if kind is errors.InputError and within(refusal, DECLARED) else kind
    what = refusal.what.replace("{}", "it")
    return kind(what, do=refusal.do).anatomy()["do"] or (errors._ASKS.search(what) or [""])[0]


def within(refusal, rooms):
    return refusal.place.removeprefix("src/dalenius/").startswith(rooms)


def test_every_refusal_says_what_to_do():
    found = list(strings.refusals())
    assert len(found) > 1000
    silent = [
        one
        for one in found
        if not ways(one)
        and not within(one, FOR_CALLERS)
        and not any(one.what.startswith(known) for known in NOTHING_TO_DO)
        and re.sub(r"\W|is", "", one.what)  # said again with its place; what to do comes with it
        and not one.what.endswith("; {}")  # an example, which asks to write one
    ]
    assert [(one.place, one.what) for one in silent] == []


def options(top):
    """Every option of a parser and of the commands below it."""
    for action in top._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from options(sub)


def commands():
    """The parser of each command."""
    return next(a.choices for a in parser()._actions if isinstance(a, argparse._SubParsersAction))


def keys():
    """The keys that the readers of problem and query files take."""
    takers = {
        "take",
        "section",
        "text",
        "choice",
        "integer",
        "flag",
        "number",
        "names",
        "texts",
        "done",
        "get",
        "error",
    }
    for room in ("core", "tables"):
        for file in (ROOT / "src" / "dalenius" / room).glob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in takers:
                    yield from (c.value for a in node.args for c in ast.walk(a) if isinstance(c, ast.Constant))
                elif isinstance(node, ast.Compare | ast.Subscript | ast.Dict | ast.Assign):
                    yield from (c.value for c in ast.walk(node) if isinstance(c, ast.Constant))


FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
COMMAND = re.compile(r"(?:`|[Rr]un |[Uu]se |with |by |: |or |that |[Ss]tart )dalenius ([a-z]+)\b")
KEY = re.compile(r"(?<![\w.{-])([a-z_]+) = (?:[\"\[{]|true|false)")
COLUMNS_OF_EXAMPLES = {"age", "marital", "sex", "column"}
OF_DUCKDB = {"enable_progress_bar_print", "file_row_number", "hive_partitioning"}


def test_every_flag_that_is_named_exists():
    known = set(options(parser()))
    assert [(one.place, flag) for one in said() for flag in FLAG.findall(one.text) if flag not in known] == []


def test_a_command_names_its_own_flags():
    of = {f"cli/{name}.py": set(options(sub)) for name, sub in commands().items()}
    of["starting/"] = of["cli/init.py"]
    lost = []
    for one in said():
        place = one.place.removeprefix("src/dalenius/")
        flags = FLAG.findall(re.sub(r"`?dalenius [a-z]+ [^;`]*", " ", one.text))  # of another command, called by name
        for start, known in of.items():
            lost += [(one.place, flag) for flag in flags if place.startswith(start) and flag not in known]
    assert lost == []


def test_every_command_that_is_named_exists():
    named = [(one.place, word) for one in said() for word in COMMAND.findall(one.text)]
    assert len(named) > 40
    assert [(place, word) for place, word in named if word not in commands() and word not in ("that", "about")] == []


def test_every_key_that_is_named_exists():
    known = {key for key in keys() if isinstance(key, str)} | COLUMNS_OF_EXAMPLES | OF_DUCKDB
    spoken = [one for one in said() if not any(p in one.place for p in ("/solvers/", "ledger/store"))]
    named = [(one.place, key) for one in spoken for key in KEY.findall(one.text)]
    assert len(named) > 100
    assert [(place, key) for place, key in named if key not in known] == []


@pytest.mark.parametrize("page", list(pages()), ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_for_everybody_are_plain(page):
    text = prose(page)
    if page.name not in ("glossary.md", "researcher.md"):  # the words of the theory beside ours; the papers' own
        assert dialect(text) == []
        assert EXPONENT.findall(text) == []
    sentences = re.split(r"(?<=[.!?])\s+|\n\s*\n|\n\s*[-*|#]|\|", text)
    assert [s for s in sentences if len(s.split()) > 40] == []


SPECIALISTS = "Everything below is for specialists. [How to read it](index.md#how-to-read-the-rest-of-a-page)"


@pytest.mark.parametrize(
    "page",
    [page for page in sorted((ROOT / "docs" / "mechanisms").glob("*.md")) if page.name != "index.md"],
    ids=lambda page: page.stem,
)
def test_pages_of_mechanisms_begin_for_everybody(page, tmp_path):
    head, _, rest = page.read_text(encoding="utf-8").partition(SPECIALISTS)
    assert rest, "the plain part ends where the specialists' begins"
    assert "**When to use it.**" in head
    assert "**What you write.**" in head
    (tmp_path / page.name).write_text(re.sub(r"\*\*.*?\*\*", "", head), encoding="utf-8")
    text = prose(tmp_path / page.name)
    assert dialect(text) == []
    assert not EXPONENT.search(text)
    assert [s for s in re.split(r"(?<=[.!?:;])\s+|\n\s*\n", text) if len(s.split()) > MOST_WORDS] == []
    assert f"({page.name})" in (ROOT / "docs" / "mechanisms" / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the letters of a channel", ["letters", "channel"]),
        ("write `channel.json`, or prior = 3", []),
        ("a row reveals nothing", []),
        ("it tells nothing", ["tells"]),
    ],
)
def test_the_test_can_fail(text, found):
    assert dialect(text) == found
