"""`dalenius noise`: the short way to a problem of form noise and its release."""

from argparse import Namespace
from fractions import Fraction
from typing import Any

from dalenius.cli.release import refuse_contradictions, released
from dalenius.cli.terminal import dialect_of
from dalenius.core import Problem
from dalenius.core.numbers import exact, written
from dalenius.errors import InputError
from dalenius.mechanisms.numbers.plans import Numbers
from dalenius.tables import bind

NORMED = ("max-entropy", "minimum-capacity")


def run(arguments: Namespace) -> None:
    refuse_contradictions(arguments)
    arguments.mechanism = arguments.mechanism or _usual(arguments)
    released(arguments, _problem(arguments))


def _usual(arguments: Namespace) -> str:
    """The kind of noise where none is named: shrinkage adds least, but keeps no level for everybody."""
    if not arguments.epsilon:
        return "shrinkage"
    return "gaussian" if arguments.delta else "laplace"


def _problem(arguments: Namespace) -> Problem:
    """The problem file that these words stand for."""
    if len(arguments.column) != len(arguments.grid):
        raise InputError("say --grid low:high:step once for each --column, in the same order")
    if len(set(arguments.column)) != len(arguments.column):
        raise InputError("a column is named twice", do="Name each column once.")
    if arguments.clip and len(arguments.clip) != len(arguments.column):
        raise InputError("say --clip low:high once for each --column, in the same order")
    if arguments.missing and len(arguments.missing) != len(arguments.column):
        raise InputError("say --missing NUMBER once for each --column, in the same order; refuse for none")
    names, kind = list(arguments.column), arguments.mechanism
    grids = [_numbers(text, 3, "--grid low:high:step") for text in arguments.grid]
    if wrong := [
        text for text, (low, high, step) in zip(arguments.grid, grids, strict=True) if not _rising(low, high, step)
    ]:
        raise InputError(f"--grid is {wrong[0]}; write the lowest number, the highest and a step above 0, as 0:100:1")
    clips = [_numbers(text, 2, "--clip low:high") for text in arguments.clip]
    mechanism: dict[str, Any] = {"observe": names, "release": names}
    if kind != "best":  # which is any matrix from points of the grid to points of the grid
        mechanism |= {"form": "noise", "noise": kind}
    elif clips:
        raise InputError(
            "--mechanism best releases points of the grid; --clip is for added noise", do="Leave out --clip."
        )
    if clips:
        mechanism["clip"] = dict(zip(names, clips, strict=True))
    if arguments.order != "shuffle":
        mechanism["order"] = arguments.order
    document: dict[str, Any] = {
        "source": {"table": str(arguments.table)} | dialect_of(arguments).to_json(),
        "columns": {
            name: {"grid": dict(zip(("low", "high", "step"), grid, strict=True)), "missing": gap}
            for name, grid, gap in zip(names, grids, arguments.missing or ["refuse"] * len(names), strict=True)
        },
        "mechanism": mechanism,
    }
    if arguments.delta and not arguments.epsilon:
        raise InputError("--delta goes with --epsilon", do="Add --epsilon, or leave out --delta.")
    if arguments.distortion:
        goal = {"capacity": True} if kind == "minimum-capacity" else {"leakage": names}
        document |= {"objective": {"minimize": goal}, "limit": [_limit(arguments, document, names)]}
        return Problem.from_document(document)
    if kind in NORMED:
        raise InputError(
            f"{kind} noise is asked for by --distortion, a norm of the noise", do="Say --distortion NUMBER."
        )
    promise: dict[str, Any] = {}
    if arguments.epsilon:
        promise = {"local_dp": _number(arguments.epsilon, "--epsilon")}
        promise |= {"delta": _number(arguments.delta, "--delta")} if arguments.delta else {}
    else:
        promise = {"leakage": names, "at_most_bits": _number(arguments.leakage_bits, "--leakage-bits")}
    document |= {"objective": {"minimize": {"distortion": "squared", "of": names}}, "guarantee": [promise]}
    return Problem.from_document(document)


def _limit(arguments: Namespace, document: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """What is allowed: a norm, a squared error, or a share of the variance of the table."""
    if arguments.mechanism in NORMED:
        size = _number(arguments.distortion, "--distortion")
        return {"distortion": "norm", "p": arguments.p, "of": names, "at_most": size}
    squared: dict[str, Any] = {"distortion": "squared", "of": names}
    if not arguments.distortion.endswith("%"):
        return squared | {"at_most": _number(arguments.distortion, "--distortion")}
    share = exact(arguments.distortion[:-1], "--distortion") / 100
    plain = {"objective": {"minimize": {"leakage": names}}, "limit": [squared | {"at_most": "1"}]}
    bound, _ = bind(Problem.from_document(document | plain), rows=False)
    return squared | {"at_most": written(share * Numbers.of(bound.pmf, names).variance)}


def _rising(low: str, high: str, step: str) -> bool:
    """Whether a grid has a point, and a way to the next."""
    return exact(low, "--grid") <= exact(high, "--grid") and exact(step, "--grid") > 0


def _number(text: str, what: str) -> str:
    number = exact(text, what)
    if number <= Fraction(0):
        raise InputError(f"{what} is {text}; it is a number above 0")
    return text


def _numbers(text: str, many: int, usage: str) -> list[str]:
    parts = text.split(":")
    if len(parts) != many:
        raise InputError(f"{text!r} is not {usage}", do="Write it in that way.")
    return [written(exact(part, usage)) for part in parts]
