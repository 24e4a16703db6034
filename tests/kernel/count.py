"""How long the kernel is, and how many of its lines run for one design.

python -m tests.kernel.count
"""

import ast
import io
import sys
import tokenize
from pathlib import Path

import dalenius.kernel
from dalenius.kernel import check
from tests.kernel.documents import text_of
from tests.kernel.honest_documents import honest

KERNEL = Path(dalenius.kernel.__file__).parent
APART = {"__init__", "__main__", "command", "export"}  # the command line, and what writes the file
# What proves promises about secrets and local DP of a matrix that is written out; what is read in addition where a file
# has limits, promises under other laws, or gauges; the forms that prove privacy from their own numbers. All others
# prove bounds.
CORE = ("numbers", "logs", "nouns", "channel", "release", "promises", "document", "privacy")
PRIVACY = (*CORE, "distortion", "adversary", "ends", "intervals", "within", "received", "gauges")
FORMS = (
    *("added", "alike", "answers", "axes", "chained", "composite", "groups", "maps", "markov", "noise"),
    *("orbits", "nearest", "records", "short", "sums", "tabled", "water", "withheld"),
)


def lines(source):
    """All lines, those of code (without blank lines, comments and docstrings), and those that have a comment."""
    dropped = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                dropped |= set(range(first.lineno, first.end_lineno + 1))
    text = source.splitlines()
    code = [
        line
        for number, line in enumerate(text, 1)
        if line.strip() and not line.strip().startswith("#") and number not in dropped
    ]
    words = tokenize.generate_tokens(io.StringIO(source).readline)
    return len(text), len(code), len({word.start[0] for word in words if word.type == tokenize.COMMENT})


def modules():
    return {file.stem: lines(file.read_text(encoding="utf-8")) for file in sorted(KERNEL.glob("*.py"))}


def total(chosen):
    found = [size for name, size in modules().items() if name in chosen]
    return tuple(sum(kind) for kind in zip(*found, strict=True))


def ran(text, privacy_only=True):
    """How many different lines of the kernel run while it checks a text."""
    hit = set()
    here = str(KERNEL)

    def trace(frame, event, _):
        if not frame.f_code.co_filename.startswith(here):
            return None
        if event == "line":
            hit.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        check(text, None, privacy_only)
    finally:
        sys.settrace(before)
    return len(hit)


def main():
    found = modules()
    for name, (whole, code, comments) in found.items():
        part = "privacy" if name in PRIVACY else "form" if name in FORMS else "apart" if name in APART else "bound"
        print(f"{name:14} {part:8} {whole:6,} lines {code:6,} of code {comments:5,} with a comment")
    rest = set(found) - APART
    for name, chosen in (
        ("all", rest),
        ("privacy", {*PRIVACY}),
        ("its core", {*CORE}),
        ("forms", {*FORMS}),
        ("bounds", rest - {*PRIVACY, *FORMS}),
    ):
        whole, code, comments = total(chosen)
        print(f"{name:23} {whole:6,} lines {code:6,} of code {comments:5,} with a comment")
    texts = {name: text_of(document) for name, document in honest().items()}
    most = max((ran(text), name) for name, text in texts.items())
    plain = ran(texts["leakage"])
    print(f"lines that run for the privacy of one dense design: {plain} (leakage), at most {most[0]} ({most[1]})")


if __name__ == "__main__":
    main()
