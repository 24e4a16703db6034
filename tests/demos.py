"""Runs a demo of examples/ as its command would, and leaves the process as it was."""

import contextlib
import importlib.util
import io
import signal
import sys
from pathlib import Path

__all__ = ["EXAMPLES", "rand_table", "run_demo"]

EXAMPLES = Path(__file__).parents[1] / "examples"


def run_demo(name, folder):
    """What the demo printed; its files are in the folder."""
    spec = importlib.util.spec_from_file_location(f"demo_{name}", EXAMPLES / name / "demo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    hook, handler, printed = sys.excepthook, signal.getsignal(signal.SIGTERM), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            assert module.demo(folder) == 0
    finally:
        sys.excepthook = hook
        signal.signal(signal.SIGTERM, handler)
    return printed.getvalue()


def rand_table(path):
    """Write the table of the main example."""
    import pyarrow.csv

    spec = importlib.util.spec_from_file_location("rand", EXAMPLES / "rand.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pyarrow.csv.write_csv(module.rand_health().select(["health", "plan", "visits", "illnesses"]), path)
