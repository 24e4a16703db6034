"""Pages of docs/tutorials are walked from an empty folder: its files written, its commands and programs run.

What a page prints must be what is printed here, up to folded lines, what it leaves out (...) and, where the draw has a
fresh key, the numbers.
"""

import contextlib
import doctest
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest

from tests.demos import run_demo

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?(e-?\d+)?")
DRAWN = re.compile(r"(head|cat|sort|sha256sum|grep -o) .*released")  # what the key decides
MARK = "=-=-="


def rand_tables():
    """The module examples/rand.py."""
    spec = importlib.util.spec_from_file_location("rand", ROOT / "examples" / "rand.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rand():
    return rand_tables().rand_health()


def nothing(folder):
    """The page makes what it needs."""


def main_demo(folder):
    run_demo("rand_health", folder)
    for made in ("release", "curve"):
        (folder / made).rename(folder / f"demo-{made}")


def four_columns(folder):
    pa.csv.write_csv(rand().select(["health", "plan", "visits", "illnesses"]), folder / "rand.csv")


def three_columns(folder):
    table = rand()
    visits = pc.case_when(
        pc.make_struct(*(pc.less(table["visits"], k) for k in (1, 3, 7))), "none", "1-2", "3-6", "7 or more"
    )
    pa.csv.write_csv(
        pa.table({"health": table["health"], "plan": table["plan"], "visits": visits}), folder / "rand.csv"
    )


def parity(folder):
    run_demo("parity", folder)
    shutil.rmtree(folder / "release")


def ten_columns(folder):
    pa.csv.write_csv(rand_tables().rand_wide(), folder / "rand.csv")


def tenths(folder):
    table = rand()
    pa.csv.write_csv(
        table.set_column(3, "illnesses", pc.round(table["illnesses"], ndigits=1)).select([0, 1, 2, 3]),
        folder / "rand.csv",
    )


def named(kind, before, after):
    """The file that a block is: named in the line before it, else the next one that the page speaks of."""
    line, kind = before.rstrip().rsplit("\n", 1)[-1], "csv" if kind == "text" else kind
    here = re.findall(rf"`([\w.-]+\.{kind})`", line) or re.findall(rf"\b([\w-]+\.{kind})\b", after)
    return here[0] if here else None


def said(text, *, numbers):
    """Words in a row; numbers are left out where they are drawn."""
    text = " ".join(text.split())
    return text if numbers else NUMBER.sub("#", text)


def missed(command, shown, printed, *, numbers):
    """The sentences of a page that are not printed."""
    printed = said(printed, numbers=numbers)
    pieces = [v for part in shown.split("...") for v in re.split(r"(?<=[.:;]) ", said(part, numbers=numbers)) if v]
    return [f"{command}: {v!r}\n    is now {printed[:3000]!r}" for v in pieces if v not in printed]


def commands(body):
    """Pairs of a command and what it prints, of a console block."""
    body = body.replace("\\\n", " ")
    found = []
    for part in ("\n" + body).split("\n$ ")[1:]:
        command, *rest = part.split("\n")
        while rest and rest[0].startswith("> "):  # a document that the command reads
            command += "\n" + rest.pop(0)[2:]
        found.append((command, "\n".join(rest)))
    return found


def outputs(body, folder):
    """The commands of a block with what the page shows, and what each of them prints."""
    pairs = commands(body)
    script = "\n".join(f"echo '{MARK}'\n{command}" for command, _ in pairs)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1\n{script}"],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return pairs, done.stdout.split(MARK + "\n")[1:]


def run_shell(body, folder, *, numbers):
    """What the page says and the commands of a block do not print."""
    pairs, printed_by = outputs(body, folder)
    wrong = []
    for (command, shown), printed in zip(pairs, printed_by, strict=True):
        if not DRAWN.match(command):
            wrong += missed(command, shown, printed, numbers=numbers)
        if "dalenius: " in printed and "dalenius: " not in shown:
            wrong.append(f"{command}: {printed!r}")
    return wrong


def run_python(page, body, folder, names):
    if body.startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(body, names, page, None, 0)
        assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False).failed == 0
        names.update(test.globs)
        return ""
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        exec(compile(body, page, "exec"), names)
    return printed.getvalue()


def walk(page, folder, *, numbers=True):
    text = (ROOT / page).read_text(encoding="utf-8")
    names, printed, wrong = {"__name__": "page"}, None, []
    for block in BLOCK.finditer(text):  # a query file may be shown after the command that reads it
        kind, body = block.groups()
        if kind == "json" and (name := named(kind, text[: block.start()], text[block.end() :])):
            (folder / name).write_text(body, encoding="utf-8")
    for block in BLOCK.finditer(text):
        kind, body = block.groups()
        if kind == "toml" and "[source]" not in body:
            continue  # a part of a file, to be read
        if kind in ("toml", "json") or (kind == "text" and "$ " not in body):
            if name := named(kind, text[: block.start()], text[block.end() :]):
                (folder / name).write_text(body, encoding="utf-8")
        elif kind == "console":
            wrong += run_shell(body, folder, numbers=numbers)
        elif kind == "python":
            printed = run_python(page, body, folder, names)
            continue
        elif not kind and printed is not None:
            wrong += missed("python", body, printed, numbers=numbers)
        printed = None
    return wrong


WALKS = {
    "analyst and risk": (nothing, [("docs/tutorials/analyst.md", False), ("docs/tutorials/risk.md", False)]),
    "custodian": (main_demo, [("docs/tutorials/custodian.md", False)]),
    "disclosure, auditor, ledger": (
        three_columns,
        [(f"docs/tutorials/{p}.md", False) for p in ("disclosure", "auditor", "ledger")],
    ),
    "wide": (ten_columns, [("docs/tutorials/wide.md", False)]),
    "parity": (parity, [("docs/tutorials/parity.md", False)]),
    "noise": (tenths, [("docs/tutorials/noise.md", False)]),
    "samples": (nothing, [("docs/tutorials/samples.md", True)]),
    "queries": (nothing, [("docs/tutorials/queries.md", True)]),
    "researcher": (nothing, [("docs/tutorials/researcher.md", True)]),
    "README": (four_columns, [("README.md", False)]),
    "start": (four_columns, [("docs/start/first-release.md", False), ("docs/start/python.md", True)]),
    **{
        f"how to {page.stem.replace('-', ' ')}": (four_columns, [(f"docs/how-to/{page.name}", False)])
        for page in sorted((ROOT / "docs" / "how-to").glob("*.md"))
    },
}


@pytest.mark.slow
@pytest.mark.parametrize(("prepare", "pages"), WALKS.values(), ids=WALKS)
def test_a_page_works_as_it_is_written(prepare, pages, tmp_path):
    prepare(tmp_path)
    wrong = [f"{page}: {v}" for page, numbers in pages for v in walk(page, tmp_path, numbers=numbers)]
    assert not wrong, "\n".join(wrong)
