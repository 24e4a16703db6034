"""The document of a design of form "records" in the format that the kernel proves, and the proof itself."""

import hashlib
from fractions import Fraction
from typing import Any

from dalenius.core import (
    Distortion,
    Guarantee,
    Independent,
    InformationPrivacy,
    Leakage,
    MinimizeDistortion,
    TableSource,
    WorstCaseLeakage,
)
from dalenius.core.numbers import written
from dalenius.kernel import Verdict, check
from dalenius.kernel.numbers import canonical, down, up
from dalenius.kernel.promises import LOWER
from dalenius.mechanisms.records.form import Wide
from dalenius.mechanisms.records.rows import Rows

__all__ = ["document", "proved"]

Json = dict[str, Any]

LOOSE = str(10**40)
"""A value that nothing exceeds: what a draft claims before the kernel has said what is true."""
MOST_WORK = 10**11
"""Work that a draft may take; the file then declares what it took."""
LONGEST = 60
"""Digits of a fraction that is written as it is; a longer one is rounded against the design."""


def document(wide: Wide, rows: Rows, proof: Json) -> Json:
    """All keys of a design in their order, with claims that say nothing.

    Parameters
    ----------
    wide : Wide
        The problem.
    rows : Rows
        The channel.
    proof : dict
        A rule of the kernel and its numbers.

    Returns
    -------
    dict
        To be proved by `proved`.
    """
    problem = wide.problem
    assert isinstance(problem.objective, MinimizeDistortion)
    law = wide.law
    table = isinstance(problem.source, TableSource) and problem.source.prior is None
    outcomes = [[*codes, str(n)] for codes, n in zip(law.support.tolist(), law.weights.tolist(), strict=True)]
    return {
        "format": "dalenius-design/2",
        "work": str(MOST_WORK),
        "variables": [{"name": name, "letters": list(letters)} for name, letters in law.variables.items()],
        "law": {"law": "table" if table else "known", "variables": list(law.variables), "outcomes": outcomes},
        "mechanism": {
            "observe": list(problem.observe),
            "strata": [],
            "keep": [],
            "release": list(problem.release),
            "fresh": None,
            "form": "any",
            "each": None,
            "forbid": [],
            "never": [],
            "freeze": [],
            "preserve_marginals": problem.preserve_marginals,
            "side": None,
        },
        "objective": {"aim": "distortion", "distortion": _distortion(problem.objective.measure)},
        "promises": [_promise(guarantee) for guarantee in problem.guarantees],
        "limits": [],
        "channel": {"form": "records", "rows": rows.to_json()},
        "evidence": [None] * len(problem.guarantees),
        "claims": {
            "promises": [[] for _ in problem.guarantees],
            "limits": [],
            "value": LOOSE,
            "bound": "0",
            "gap": LOOSE,
        },
        "proof": proof,
    }


def _distortion(measure: Distortion) -> list[Json]:
    return [
        {
            "distance": part.distortion,
            "of": list(part.of),
            "weight": written(part.weight),
            "classes": [list(members) for members in part.classes],
            "matrix": [],
        }
        for part in measure.parts or (measure,)
    ]


def _promise(guarantee: Guarantee) -> Json:
    secret = list(guarantee.secret)
    if isinstance(guarantee, Independent):
        return {"promise": "independent", "secret": secret}
    if isinstance(guarantee, InformationPrivacy):
        return {"promise": "information_privacy", "secret": secret, "epsilon": written(guarantee.epsilon)}
    if isinstance(guarantee, WorstCaseLeakage):
        return {"promise": "worst_case_leakage", "secret": secret, "at_most_bits": written(guarantee.at_most_bits)}
    assert isinstance(guarantee, Leakage)
    return {"promise": "leakage", "secret": secret, "at_most_bits": written(guarantee.at_most_bits), "within": None}


def proved(draft: Json) -> tuple[str, Verdict]:
    """The text of a design with the claims that the kernel proves, and the kernel's verdict.

    Parameters
    ----------
    draft : dict
        From `document`.

    Returns
    -------
    str, Verdict
        The text is final: the same check accepts it, with the work that it declares.

    Raises
    ------
    Refused
        If a promise is not kept.
    """
    verdict = check(canonical(draft), MOST_WORK)
    assert verdict.value is not None
    assert verdict.bound is not None
    value = _told(verdict.value, up)
    bound = _told(verdict.bound, down)
    claims = {
        "promises": [
            [
                {
                    "figure": name,
                    "given": None,
                    "value": None if figure is None else _told(figure, down if name in LOWER else up),
                }
                for name, figure in (figures or {}).items()
            ]
            for figures in verdict.kept.promises
        ],
        "limits": [],
        "value": value,
        "bound": bound,
        "gap": _told(Fraction(value) - Fraction(bound), up),
    }
    # The claims make the text a little longer, and reading them is work as well.
    text = canonical(draft | {"work": str(verdict.work + verdict.work // 4 + 100_000), "claims": claims})
    return text, verdict


def _told(number: Fraction, rounded: Any) -> str:
    """A number as it is while that is short, else rounded against the design."""
    text = str(number)
    return text if len(text) <= LONGEST else str(rounded(number))


def digest(text: str) -> str:
    """What names a design: SHA-256 of its text."""
    return hashlib.sha256(text.encode()).hexdigest()
