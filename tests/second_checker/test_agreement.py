"""Two checkers, two languages, one format: they agree on the whole corpus and on damaged documents."""

import json
import random
import subprocess
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from dalenius.kernel import Refused, check
from tests.effort import effort
from tests.kernel.documents import honest
from tests.kernel.mutations import damaged

pytestmark = pytest.mark.node

RUN = Path(__file__).parent / "run.mjs"
CORPUS = Path(__file__).parents[1] / "kernel" / "corpus"
NEAR = Fraction(1, 10**11)  # the bounds of both are rounded upwards, by their own steps
TOO_LONG = ("operations", "too many", "written out")
"""Python counts its work and lists no more than it says; the other checker has a limit of its own, called unknown."""


def second(texts: list[str]) -> list[dict]:
    """The verdicts of the checker in JavaScript."""
    done = subprocess.run(["node", str(RUN)], input=json.dumps(texts), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def first(text: str) -> dict:
    try:
        found = check(text, privacy_only=True)
    except Refused as e:
        return {"refused": str(e)}
    return {"proved": {"rows": found.rows, "promises": found.kept.promises, "limits": found.kept.limits}}


def near(ours: str | None, theirs: Fraction | None) -> bool:
    if ours is None or theirs is None:
        return ours is None and theirs is None
    return abs(Fraction(ours) - theirs) <= NEAR


def agreement(texts: dict[str, str]) -> Counter[str]:
    """How often they agree; a test fails at the first text on which they do not."""
    seen: Counter[str] = Counter()
    for (name, text), ours in zip(texts.items(), second(list(texts.values())), strict=True):
        theirs = first(text)
        if "unknown" in ours:
            seen["unknown"] += 1
            continue
        if "refused" in theirs and any(words in theirs["refused"] for words in TOO_LONG):
            seen["too long"] += 1
            continue
        assert ours.keys() == theirs.keys(), (name, ours, theirs)
        if "refused" in ours:
            seen["refused"] += 1
            continue
        proved, kept = ours["proved"], theirs["proved"]
        assert proved["rows"] == (None if kept["rows"] is None else str(kept["rows"])), name
        for figures, known in zip(proved["promises"], kept["promises"], strict=True):
            assert (figures is None) == (known is None), name
            for figure, value in (figures or {}).items():
                assert near(value, known[figure]), (name, figure, value, known[figure])
            assert set(figures or ()) == set(known or ()), name
        assert all(map(near, proved["limits"], kept["limits"])), name
        seen["proved"] += 1
    return seen


def test_the_corpus() -> None:
    texts = {str(f.relative_to(CORPUS)): f.read_text("utf-8") for f in sorted(CORPUS.rglob("*.json"))}
    seen = agreement({name: text for name, text in texts.items() if not name.endswith("verdicts.json")})
    assert seen["proved"] > 50
    assert seen["refused"] > 200


def test_damaged_documents() -> None:
    chance = random.Random(11)
    documents = list(honest().items())
    texts = {}
    for k in range(effort(1000, 20_000)):
        name, document = chance.choice(documents)
        spoilt = damaged(document, chance)
        texts[f"{k} {name}"] = json.dumps(spoilt, ensure_ascii=False, separators=(",", ":"))
    seen = agreement(texts)
    assert seen["proved"] > 50
    assert seen["refused"] > 400


def test_the_comparison_can_fail() -> None:
    honest_text = (CORPUS / "base" / "honest_contraction.json").read_text("utf-8")
    assert agreement({"honest": honest_text})["proved"] == 1
    assert not near("1/3", Fraction(1, 2))
    assert not near(None, Fraction(1, 2))
