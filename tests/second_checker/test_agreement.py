"""Two checkers, two languages, one format: they agree on the whole corpus and on damaged documents."""

import json
import random
import subprocess
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from dalenius.kernel import Refused, check
from dalenius.report.reproof import ALWAYS, DIVISIONS, RULES, needed, script
from tests.effort import effort
from tests.kernel.honest_documents import honest
from tests.kernel.mutations import damaged

pytestmark = pytest.mark.node

RUN = Path(__file__).parent / "run.mjs"
CORPUS = Path(__file__).parents[1] / "kernel" / "corpus"
NEAR = Fraction(1, 10**11)  # the bounds of both are rounded upwards, by their own steps
TOO_LONG = ("operations", "too many", "written out")
"""Python counts its work and lists no more than it says; the other checker has a limit of its own, called unknown."""


def second(texts: list[str], *checker: str) -> list[dict]:
    """The verdicts of the checker in JavaScript."""
    command = ["node", str(RUN), *checker]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def first(text: str, *, privacy_only: bool) -> dict:
    """The verdict of the checker in Python."""
    try:
        found = check(text, privacy_only=privacy_only)
    except Refused as e:
        return {"refused": str(e)}
    proved = {"rows": found.rows, "promises": found.kept.promises, "limits": found.kept.limits, "bound": found.bound}
    return {"proved": proved}


def loosened(text: str) -> str:
    """The same document with a claimed bound that is worse by a hair, which no rounding of either checker refuses."""
    document = json.loads(text)
    claims = document["claims"]
    towards = 1 if document["objective"]["aim"].startswith("information") else -1
    claims["bound"] = str(Fraction(claims["bound"]) + towards * NEAR)
    claims["gap"] = str(Fraction(claims["gap"]) + NEAR)
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def near(ours: str | None, theirs: Fraction | None) -> bool:
    if ours is None or theirs is None:
        return ours is None and theirs is None
    return abs(Fraction(ours) - theirs) <= NEAR


def agreement(texts: dict[str, str]) -> Counter[str]:
    """How often they agree; a test fails at the first text on which they do not."""
    seen: Counter[str] = Counter()
    for (name, text), ours in zip(texts.items(), second(list(texts.values())), strict=True):
        if "unknown" in ours:
            seen["unknown"] += 1
            continue
        # Where the second checker proves no bound it has looked at privacy alone.
        private = "proved" in ours and ours["proved"]["bound"] is None
        theirs = first(text, privacy_only=private)
        if "refused" in theirs and any(words in theirs["refused"] for words in TOO_LONG):
            seen["too long"] += 1
            continue
        if ours.keys() != theirs.keys():
            # One of them rounds more than the other: both prove a bound that is worse by a hair.
            (ours,), theirs = second([loosened(text)]), first(loosened(text), privacy_only=False)
            assert "proved" in ours, (name, ours)
            assert "proved" in theirs, (name, theirs)
            seen["rounded"] += 1
        if "refused" in ours:
            seen["refused"] += 1
            seen["bound refused"] += "proved" in first(text, privacy_only=True)
            continue
        proved, kept = ours["proved"], theirs["proved"]
        assert proved["rows"] == (None if kept["rows"] is None else str(kept["rows"])), name
        for figures, known in zip(proved["promises"], kept["promises"], strict=True):
            assert (figures is None) == (known is None), name
            for figure, value in (figures or {}).items():
                assert near(value, known[figure]), (name, figure, value, known[figure])
            assert set(figures or ()) == set(known or ()), name
        assert all(map(near, proved["limits"], kept["limits"])), name
        assert private or near(proved["bound"], kept["bound"]), (name, proved["bound"], kept["bound"])
        seen["proved"] += 1
        seen["bound proved"] += not private
    return seen


def corpus() -> dict[str, str]:
    texts = {str(f.relative_to(CORPUS)): f.read_text("utf-8") for f in sorted(CORPUS.rglob("*.json"))}
    return {name: text for name, text in texts.items() if not name.endswith("verdicts.json")}


def test_the_corpus() -> None:
    seen = agreement(corpus())
    assert seen["proved"] > 240
    assert seen["bound proved"] > 215
    assert seen["refused"] > 330
    assert seen["unknown"] < 350


def test_the_checker_in_a_page_is_the_same(tmp_path: Path) -> None:
    """A statement carries the checker without comments and spaces: it gives every verdict to the letter."""
    rules = dict.fromkeys(module for modules in RULES.values() for module in modules)
    rules |= dict.fromkeys(DIVISIONS["faces"])
    everything = (
        *ALWAYS[:-1],
        "forms",
        "records",
        "local",
        "adversary",
        "gauges",
        "check",
        *(m for m in rules if m not in ("records", "local")),
    )
    (tmp_path / "packed.mjs").write_text(script(everything, button=False), "utf-8")
    texts = list(corpus().values())
    assert second(texts, (tmp_path / "packed.mjs").as_uri()) == second(texts)


def test_a_page_carries_what_its_proof_needs(tmp_path: Path) -> None:
    texts = list(corpus().values())
    whole = second(texts)
    proved = [(text, verdict) for text, verdict in zip(texts, whole, strict=True) if "proved" in verdict]
    groups: dict[tuple[str, ...], list[tuple[str, dict]]] = {}
    for text, verdict in proved:
        if '"form":"withheld"' not in text:  # of which nothing can be proved
            groups.setdefault(needed(json.loads(text)), []).append((text, verdict))
    assert len(groups) > 5
    assert () not in groups
    for k, (modules, cases) in enumerate(groups.items()):
        carried = tmp_path / f"{k}.mjs"
        carried.write_text(script(modules, button=False), "utf-8")
        assert second([text for text, _ in cases], carried.as_uri()) == [verdict for _, verdict in cases]


def test_a_page_offers_no_proof_that_its_checker_does_not_know() -> None:
    texts = list(corpus().values())
    offered = 0
    for text, verdict in zip(texts, second(texts), strict=True):
        if "unknown" in verdict and '"dalenius-answer/1"' not in text and "too long" not in verdict["unknown"]:
            try:
                offered += bool(needed(json.loads(text)))
            except (ValueError, KeyError, TypeError, AttributeError):
                continue  # forged: no page is written of it
    assert not offered


def test_damaged_documents() -> None:
    chance = random.Random(11)
    documents = list(honest().items())
    texts = {}
    for k in range(effort(3000, 20_000)):
        name, document = chance.choice(documents)
        spoilt = damaged(document, chance)
        texts[f"{k} {name}"] = json.dumps(spoilt, ensure_ascii=False, separators=(",", ":"))
    seen = agreement(texts)
    assert seen["proved"] > 150
    assert seen["refused"] > 1200


def changed_proof(document: dict, chance: random.Random) -> dict:
    """The document with one number of its proof, or of the claims about its value and bound, changed."""
    spoilt = json.loads(json.dumps(document))
    places: list[tuple[dict | list, str | int]] = [(spoilt["claims"], key) for key in ("value", "bound", "gap")]
    stack: list[dict | list] = [spoilt["proof"]]
    while stack:
        node = stack.pop()
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(value, dict | list):
                stack.append(value)
            elif isinstance(value, str) and value.lstrip("-").isdigit():
                places.append((node, key))
    node, key = chance.choice(places[:3] if chance.random() < 0.2 else places)
    number = Fraction(node[key])
    # Not by a last digit: a bound that is worse by 1e-18 is refused by the one that rounds more.
    more = number + 1 + abs(number) / 1000
    change = chance.choice((number * 2, more, -number, number * Fraction(9, 10), Fraction(0)))
    node[key] = str(change if isinstance(node, dict) and "value" in node else round(change))
    return spoilt


def proved_by_both() -> dict[str, list[dict]]:
    """The documents of the corpus whose bound both checkers prove, by rule and division."""
    texts = list(corpus().values())
    found: dict[str, list[dict]] = {}
    for text, verdict in zip(texts, second(texts), strict=True):
        if "proved" in verdict and verdict["proved"]["bound"] is not None:
            document = json.loads(text)
            rule = document["proof"]["rule"]
            found.setdefault(document["proof"].get("division", rule), []).append(document)
    return found


RULES_OF_BOTH = {"letters", *DIVISIONS, *RULES} - {"lines"}


def test_every_rule_that_a_page_offers_proves_something() -> None:
    assert proved_by_both().keys() == RULES_OF_BOTH


def test_damaged_proofs_of_optimality() -> None:
    chance = random.Random(12)
    by_rule = proved_by_both()
    texts = {}
    for rule, bounds in by_rule.items():
        for k in range(effort(60, 600)):
            spoilt = changed_proof(chance.choice(bounds), chance)
            texts[f"{rule} {k}"] = json.dumps(spoilt, ensure_ascii=False, separators=(",", ":"))
    seen = agreement(texts)
    assert seen["rounded"] < 10
    assert seen["bound proved"] > 60
    assert seen["bound refused"] > 200


def test_the_comparison_can_fail() -> None:
    honest_text = (CORPUS / "base" / "honest_contraction.json").read_text("utf-8")
    assert agreement({"honest": honest_text})["proved"] == 1
    assert not near("1/3", Fraction(1, 2))
    assert not near(None, Fraction(1, 2))
