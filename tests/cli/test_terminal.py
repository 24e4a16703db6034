"""The line that follows long work: on a terminal alone, rewritten in its place, and gone at the end."""

import io
from argparse import Namespace

import pytest

from dalenius.cli import terminal


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("how", [{"quiet": True}, {"json": True}])
def test_nobody_who_asked_for_silence_or_json_sees_it(how, monkeypatch):
    seen = Terminal()
    monkeypatch.setattr(terminal.sys, "stderr", seen)
    with terminal.progress(Namespace(**({"quiet": False, "json": False} | how))) as show:
        assert (show is None) == ("quiet" in how)
        if show:
            show("reading", 10, 1000)
    assert seen.getvalue() == ""


def test_a_line_is_rewritten_and_removed(monkeypatch):
    seen = Terminal()
    monkeypatch.setattr(terminal.sys, "stderr", seen)
    monkeypatch.setattr(terminal, "EVERY", 0.0)
    monkeypatch.setenv("COLUMNS", "30")
    with terminal.progress(Namespace(quiet=False, json=False)) as show:
        show("reading", 10, 1000)
        show("drawing", 500, 1000)
    lines = seen.getvalue().split("\r\033[K")
    assert lines[-1] == ""
    assert any(line.startswith("Reading the table") for line in lines)
    assert any(line.startswith("Drawing") for line in lines)
    assert max(map(len, lines)) <= 29
