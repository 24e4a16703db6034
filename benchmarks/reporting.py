"""What every benchmark writes: its results as JSON, with the machine and the versions that gave them."""

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = ["as_installed", "save"]

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "POLARS_MAX")}


def as_installed() -> dict[str, str]:
    """The environment of a process that is measured: one thread, and bytecode is kept as in an installed package."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | ONE_THREAD


def save(name: str, question: str, results: list[dict[str, Any]], **more: Any) -> None:
    """Write `results/NAME.json` beside this file and say where."""
    report = {
        "question": question,
        "machine": {"processor": _processor(), "system": platform.platform(), "cpus": os.cpu_count()},
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in ("numpy", "highspy", "python-flint", "cryptography")},
        **more,
        "results": results,
    }
    path = Path(__file__).parent / "results" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(report, indent=2) + "\n")
    print(path)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )
