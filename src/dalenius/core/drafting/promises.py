"""Promises, aims, limits and the shape of a mechanism as documents write them."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dalenius.core.conditional_law import Kernel
from dalenius.core.distorting import ERASED
from dalenius.core.forms.noise import Noise
from dalenius.core.guarantee import Guarantee
from dalenius.core.guess_guarantees import Guess, MaximalLeakage, Sibson, TotalVariation
from dalenius.core.information_guarantees import Contraction, Dalenius, Independent, Leakage, WorstCaseLeakage
from dalenius.core.numbers import written
from dalenius.core.objective import (
    Distortion,
    MaximizeInformation,
    MaximizeInformationOfEach,
    MinimizeCapacity,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeLeakageAndRate,
    MinimizeRate,
    MinimizeVariance,
)
from dalenius.core.odds_guarantees import InformationPrivacy, LocalDP
from dalenius.core.pmf import Alphabets
from dalenius.core.problem import Problem
from dalenius.documents.text import text

__all__ = [
    "evidence_document",
    "form_document",
    "fresh_letters",
    "limit_documents",
    "mechanism_document",
    "objective_document",
    "promise_document",
]

Json = dict[str, Any]

PRAM = ("pram", "randomised-response")
"""Forms whose matrices keep a letter or draw one of the others, all alike."""


# --- the mechanism ----------------------------------------------------------------------------------------------------
def mechanism_document(problem: Problem, alphabets: Alphabets) -> Json:
    """What is looked at, what leaves, and which letters may be released.

    A column that is looked at and kept is a stratum.
    """
    kept, strata = problem.kept, problem.divided_by
    never = [
        [{"column": name, "letters": list(letters)} for name, letters in zero.columns] for zero in problem.combinations
    ]
    side = problem.side_information
    return {
        "observe": [name for name in problem.observe if name not in kept],
        "strata": list(strata),
        "keep": [name for name in kept if name not in strata],
        "release": list(problem.release),
        "fresh": fresh_letters(problem, alphabets),
        "form": form_document(problem.form),
        "each": _each(problem),
        "forbid": [list(pair) for pair in problem.transitions],
        "never": never,
        "freeze": list(problem.freeze),
        "preserve_marginals": problem.preserve_marginals,
        "side": None if side is None else side.to_json(),
    }


def form_document(form: str | None) -> str:
    """Which mechanisms compete: all, or those of one form. Most forms only say how to search."""
    return "noise" if form == "noise" else "pram" if form in PRAM else "any"


def _each(problem: Problem) -> list[str] | None:
    """The level of each observed column that has a matrix of its own, for one row; or None.

    Where a person has several rows, the levels of the problem are for all of them together. Where only what the columns
    reveal is limited, there are no levels.
    """
    levels = [promise for promise in problem.guarantees if isinstance(promise, LocalDP)]
    if not problem.each or not levels:
        return None
    own = problem.each
    if not isinstance(own, Mapping):
        share = min(promise.epsilon for promise in levels) / len(problem.observe)
        own = dict.fromkeys(problem.observe, share)
    rows = max(promise.rows for promise in levels)
    return [written(own[name] / rows) for name in problem.observe]


def fresh_letters(problem: Problem, alphabets: Alphabets) -> list[str] | None:
    """The letters of an output of its own, where a distortion fixes them."""
    if problem.release:
        return None
    for part in (part for measure in problem.measures for part in measure.summands):
        if not isinstance(part.distortion, str):
            return [str(k) for k in range(len(part.distortion[0]))]
        if part.distortion == "erasure":
            return [*(letter for letter in alphabets[part.of[0]] if letter != ERASED), ERASED]
    return None


# --- aims and limits --------------------------------------------------------------------------------------------------
def objective_document(problem: Problem, channel: Kernel) -> Json:
    """What is made as large or as small as possible.

    The least capacity is among noise that reaches no further than the one that was found.
    """
    goal = problem.objective
    match goal:
        case MinimizeCapacity():
            axes = channel.axes if isinstance(channel, Noise) else ()
            return {"aim": "capacity", "reach": [len(axis.weights) - 1 for axis in axes]}
        case MaximizeInformationOfEach():
            return {"aim": "information_of_each", "about": list(goal.about), "theta": "1"}
        case MaximizeInformation():
            return {"aim": "information", "about": list(goal.about), "theta": "1"}
        case MinimizeDistortion():
            return {"aim": "distortion", "distortion": _distortion(goal.measure)}
        case MinimizeRate():
            return {"aim": "leakage", "about": [], "theta": "0"}
        case MinimizeLeakageAndRate():
            return {"aim": "leakage", "about": list(goal.about) if goal.theta else [], "theta": written(goal.theta)}
        case MinimizeLeakage():
            return {"aim": "leakage", "about": list(goal.about), "theta": "1"}
        case MinimizeVariance():
            return {"aim": "variance", "about": list(goal.of)}
    raise ValueError(f"documents have no words for the objective {type(goal).__name__}")


def limit_documents(problem: Problem) -> list[Json]:
    """Distortions that are bounded, what must be told at least, and how often each released record occurs."""
    if problem.keep_rows is not None:
        raise ValueError("limits of single values are not yet counted")
    found: list[Json] = [
        {"distortion": _distortion(limit), "at_most": written(limit.at_most or Fraction(0))} for limit in problem.limits
    ]
    found += [
        {"information": list(least.about), "at_least_bits": written(least.at_least_bits)} for least in problem.tells
    ]
    if problem.min_multiplicity is not None:
        found.append({"multiplicity": str(problem.min_multiplicity)})
    return found


def _distortion(measure: Distortion) -> list[Json]:
    """The summands of a distortion."""
    found: list[Json] = []
    for part in measure.summands:
        own = part.distortion
        if own == "norm":
            found.append({"distance": "norm", "of": list(part.of), "p": "inf" if part.p == "inf" else text(part.p)})
            continue
        found.append(
            {
                "distance": own if isinstance(own, str) else "matrix",
                "of": list(part.of),
                "weight": written(part.weight),
                "classes": [list(group) for group in part.classes],
                "matrix": [] if isinstance(own, str) else _table(own),
            }
        )
    return found


def _table(rows: Sequence[Sequence[Fraction]]) -> list[list[str]]:
    return [[written(value) for value in row] for row in rows]


# --- promises ---------------------------------------------------------------------------------------------------------
def promise_document(promise: Guarantee, problem: Problem) -> Json:
    """One promise, with everything that changes its meaning inside it: within a ball of laws, also the ball."""
    return {"promise": promise.key, **_promised(promise, problem)}


def _promised(promise: Guarantee, problem: Problem) -> Json:
    secret = list(promise.secret)
    match promise:
        case LocalDP(epsilon, metric, delta, given, rows):
            assert not isinstance(metric, str)  # the file is read by now
            apart = _table(metric) if metric else None
            level = {"epsilon": written(epsilon), "metric": apart, "delta": written(delta)}
            return level | {"given": list(given), "rows": rows}
        case Dalenius(bits, group, rows):
            return {"at_most_bits": written(bits), "group": group, "rows": str(rows)}
        case Contraction(share):
            return {"at_most": written(share)}
        case Guess(_, at_most, times, gain):
            assert not isinstance(gain, str)
            limits = [None if limit is None else written(limit) for limit in (at_most, times)]
            gains = _table(gain) if gain else None
            return {"secret": secret, "at_most": limits[0], "times": limits[1], "gain": gains}
        case Sibson(_, order, bits):
            return {"secret": secret, "order": written(order), "at_most_bits": written(bits)}
        case TotalVariation():
            return {"secret": secret, "at_most": written(promise.at_most)}
        case MaximalLeakage() | WorstCaseLeakage():
            return {"secret": secret, "at_most_bits": written(promise.at_most_bits)}
        case Leakage(_, bits):
            ball = problem.robust
            within = None if ball is None else {"ball": ball.ball, "radius": written(ball.radius)}
            return {"secret": secret, "at_most_bits": written(bits), "within": within}
        case InformationPrivacy(_, epsilon):
            return {"secret": secret, "epsilon": written(epsilon)}
        case Independent():
            return {"secret": secret}
    raise ValueError(f"documents have no words for the promise {promise.key}")


def evidence_document(proof: Mapping[str, Any], promise: Json) -> Any:
    """What a promise needs for its proof beside law and channel: multipliers of a ball, or trees of an adversary."""
    if promise.get("within"):
        if "moves" in proof:
            return {"moves": [_moves(part) for part in proof["moves"]]}
        if "received" in proof:
            return {"received": proof["received"]}
        if "cuts" in proof:
            return {"cuts": proof["cuts"], "parts": [_multipliers(part) for part in proof["parts"]]}
        return _multipliers(proof)
    if promise["promise"] == "dalenius" and proof.get("trees"):
        return [[_node(node) for node in tree] for tree in proof["trees"]]
    return None


def _moves(part: Mapping[str, Any]) -> Json:
    return {"rising": part["rising"], "weights": [str(n) for n in part["law"]], "held": part["held"]}


def _multipliers(proof: Mapping[str, Any]) -> Json:
    law = {"law": [str(n) for n in proof["law"]]} if "law" in proof else {}
    return law | {"nu": text(proof.get("nu", 0)), "m": text(proof.get("k", 0)), "t": text(proof.get("t", 0))}


def _node(node: Json) -> Json:
    if "q" in node:
        return {"node": "centre", "law": [str(value) for value in node["q"]]}
    return {"node": "choice", "value": node["class"], "rows": node["rows"]}
