"""`dalenius gaussian`"""

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from dalenius.cli.terminal import say
from dalenius.errors import InputError
from dalenius.papers.gaussian import (
    GaussianRelease,
    informed,
    leakage_seeing_both,
    reverse_water_filling,
    uninformed,
    vector_leakage,
)
from dalenius.tables.documents import read_json

NOTE = "These figures are for Gaussian numbers, in floats. To release numbers of a table use `dalenius noise`."
KEYS = ("covariance", "private", "residual")


def run(arguments: Namespace) -> None:
    lines, document = _vector(arguments) if arguments.vector else _scalar(arguments)
    say(arguments, [*lines, NOTE], document)


def _scalar(arguments: Namespace) -> tuple[list[str], dict[str, Any]]:
    if arguments.correlation is None:
        raise InputError("say --correlation, that of the number with the secret, or --vector FILE")
    rho, error, variance = arguments.correlation, arguments.error, arguments.variance
    cases = {"alone": uninformed(rho, error, variance=variance)}
    if arguments.beside is not None:
        cases["beside"] = uninformed(rho, error, variance=variance, rho_xz=arguments.beside)
        cases["informed"] = informed(rho, arguments.beside, error, variance=variance)
    both = leakage_seeing_both(rho, error, variance=variance)
    words = {
        "alone": "users have nothing else",
        "beside": "users have a further number that nobody reckons with",
        "informed": "users have it, and the release reckons with it",
    }
    lines = [f"A Gaussian number of variance {variance:g}, with a squared error of at most {error:g}:"]
    for name, found in cases.items():
        lines.append(
            f"  {words[name]}: {found.leakage_bits:.9g} bits about the secret, at a rate of {found.rate_bits:.9g} bits"
        )
        if name != "beside":
            lines.append(f"    {_recipe(found)}")
    lines.append(f"  whoever makes the release sees the secret too: {both:.9g} bits about it at least")
    document: dict[str, Any] = {name: vars(found) for name, found in cases.items()}
    return lines, json.loads(json.dumps(document).replace("Infinity", "null")) | {"seeing_both_bits": both}


def _recipe(found: GaussianRelease) -> str:
    if found.scale == 0:
        return "nothing is sent"
    return f"released is {found.scale:.9g} (number + noise), noise of variance {found.noise:.9g}"


def _vector(arguments: Namespace) -> tuple[list[str], dict[str, Any]]:
    if arguments.correlation is not None or arguments.beside is not None:
        raise InputError("--vector describes several numbers; leave --correlation and --beside out")
    path = Path(arguments.vector)
    said = read_json(path, "file of Gaussian numbers")
    if not isinstance(said, dict) or not {"covariance"} <= set(said) <= set(KEYS) or len(said) == 2:
        raise InputError(
            f"{path.name}: it has covariance, and for a secret B x + w also private (B) and residual (of w)",
            do="Give the file these keys and no others.",
        )
    try:
        parts = {name: np.array(said[name], dtype=float) for name in said}
    except (TypeError, ValueError):
        raise InputError(
            f"{path.name}: its parts are matrices of numbers", do="Write each part as a list of rows of numbers."
        ) from None
    rate, error = reverse_water_filling(parts["covariance"], arguments.error)
    lines = [
        f"{len(error)} Gaussian numbers, with squared errors of at most {arguments.error:g} together:",
        f"  about the numbers themselves: {rate:.9g} bits, and no fewer",
    ]
    document: dict[str, Any] = {"rate_bits": rate, "error": error.tolist()}
    if len(parts) == len(KEYS):
        found = vector_leakage(parts["covariance"], parts["private"], parts["residual"], arguments.error)
        lines.append(
            f"  about the secret: {found.leakage_bits:.9g} bits, and no release has fewer than {found.bound_bits:.9g}"
        )
        document |= {"leakage_bits": found.leakage_bits, "bound_bits": found.bound_bits, "error": found.error.tolist()}
    return lines, document
