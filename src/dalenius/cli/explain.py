"""`dalenius explain`"""

from argparse import Namespace
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dalenius import stopping
from dalenius.cli.interrupts import seconds_left, within
from dalenius.cli.terminal import say
from dalenius.core import Design, Distortion, Leakage, Problem
from dalenius.core.digits import many
from dalenius.core.numbers import exact
from dalenius.documents import PROVABLE, stated_figures
from dalenius.errors import Infeasible, InputError, SolverFailed, Unsupported
from dalenius.kernel.check import Verdict
from dalenius.kernel.numbers import up
from dalenius.mechanisms.columns.funnel.takes import FUNNEL
from dalenius.mechanisms.in_turn import InTurn
from dalenius.papers.outlook_page import foreseen
from dalenius.report import words
from dalenius.report.asking import asked_for, asked_lines
from dalenius.report.facts import Facts
from dalenius.stopping import limited
from dalenius.tables import bind, read_design, read_told, sound
from dalenius.verifying import verify

if TYPE_CHECKING:
    from dalenius.mechanisms.columns.contraction import Passing


def run(arguments: Namespace) -> None:
    with within(arguments.seconds, f"the explanation of {arguments.design}"), limited(seconds_left(arguments)):
        _explained(arguments)


def _explained(arguments: Namespace) -> None:
    if arguments.design.endswith(".toml"):
        from dalenius.papers.outlook import outlook  # the solvers behind it take a second to import

        problem, _ = bind(Problem.from_file(arguments.design), rows=False)
        if arguments.whatever_secret:
            say(arguments, *_whatever_secret(problem))
            return
        if FUNNEL.why_not(problem) is None and any(type(promise) is Leakage for promise in problem.guarantees):
            from dalenius.cli.sweeping import foreseen as foreseen_curve
            from dalenius.mechanisms.columns.funnel.sweep import sweep

            asked = asked_for(problem)  # before the time is over, for what is said then
            whole = asked_lines(asked)
            turn = InTurn()
            buys = "what one more bit of leakage buys"
            try:
                curve = turn.take(buys, lambda: sweep(problem, 2), None)
            except SolverFailed:  # a search inside it has come to its own end
                stopping.reach(stopping.Stage.ENDING)
                turn.missed.append(buys)
                curve = None
            if curve is None:
                say(arguments, [*whole, *turn.words()], asked | {"remarks": list(turn.words())})
                return
            told = {"about": list(curve.wanted), "secret": list(curve.secret), "limit": curve.chosen.to_json()}
            say(arguments, foreseen_curve(curve), told | {"ends": [step.to_json() for step in curve.steps]})
            return
        try:
            found = outlook(problem, samples=arguments.samples, alpha=arguments.alpha)
        except Unsupported:
            if arguments.samples or arguments.alpha:
                raise
            asked = asked_for(problem)  # of any problem: what it releases, promises, wants and does not protect
            say(arguments, asked_lines(asked), asked)
        else:
            say(arguments, foreseen(found), found)
        return
    if arguments.samples or arguments.alpha or arguments.whatever_secret:
        raise InputError(
            "--samples, --alpha and --whatever-secret belong to a problem file",
            do="Leave them out, or name the problem file instead.",
        )
    document = read_told(arguments.design)
    if not isinstance(document, dict) or document.get("format") not in PROVABLE:
        raise InputError(
            f"{arguments.design} is neither a design nor a card",
            do="Name a design.json, a card.json or a problem file.",
        )
    verdict = verify(arguments.design, work=arguments.work)  # nothing is explained that is not proved
    with sound(arguments.design):
        designed = "joint" in document
        facts = Facts.of_design(read_design(arguments.design)) if designed else Facts.of_card(document)
        parts = _of_design(facts, verdict) if designed else _of_card(facts, verdict)
        remarks = [*_only_said(facts), *map(str, facts.remarks)]
    lines = []
    for title, sentences in [*parts.items(), ("Said beside the file, and not proved", remarks)]:
        if sentences:
            lines += [f"{title}:", *(f"  {s}" for s in sentences)]
    keys = ["promised", "proved", "one_more"] if designed else ["promised", "stated"]
    say(arguments, lines, dict(zip([*keys, "not_protected"], parts.values(), strict=True)) | {"remarks": remarks})


def _proved(problem: Problem, found: "Passing") -> tuple[Design, Design] | None:
    """Both figures proved: the limit lies between what one recipe reaches and what none does; None: they are not."""
    from dalenius.mechanisms.columns.contraction import proved_within

    try:
        above, below = proved_within(problem, found)
    except (Infeasible, SolverFailed, Unsupported):
        return None
    limit = next(limit.at_most for limit in problem.limits if isinstance(limit, Distortion))
    return (above, below) if limit is not None and above.value <= limit < below.bound else None


def _whatever_secret(problem: Problem) -> tuple[list[str], dict[str, Any]]:
    """The least capacity within the limits of a problem, in words and as figures."""
    from dalenius.mechanisms.columns.contraction import least_within

    found = least_within(problem)
    turn = InTurn()
    both = turn.take("the proof of both figures", lambda: _proved(problem, found), None)
    if both is None:
        lines, figures = _searched(found)
        return [*lines, *turn.words()], figures
    above, below = both
    most, least = (design.problem.guarantees[0].to_json()["at_most_bits"] for design in (above, below))
    lines = [
        f"Within the limits of distortion one recipe reveals at most {float(Fraction(most)):.6g} bits with a row,",
        "  whatever the secret is and whatever the statistics of the rows are.",
        f"Every recipe within the limits reveals more than {float(Fraction(least)):.6g} bits about some secret.",
        f"Both are proved: with dalenius = true and at_most_bits = {most} the least distortion is at most",
        f"  {float(above.value):.9g}, and with {least} at least {float(below.bound):.9g}.",
        "To release such a recipe, promise the first.",
    ]
    figures = {"most_bits": float(Fraction(most)), "at_least_bits": float(Fraction(least)), "proved": True}
    return lines, figures | {"channel": above.channel.to_json()}


def _searched(found: "Passing") -> tuple[list[str], dict[str, Any]]:
    """The same where no proof was found."""
    lines = [
        f"Within the limits of distortion one recipe reveals at most {found.value:.6g} bits with a row,",
        "  whatever the secret is and whatever the statistics of the rows are.",
        f"No recipe within the limits can promise less than {max(0.0, found.bound):.6g} bits.",
        "The search is in floats and nothing of it is a proof; --json shows the recipe, which `audit` measures.",
    ]
    figures = {"most_bits": found.value, "at_least_bits": max(0.0, found.bound), "proved": False}
    return lines, figures | {"channel": found.channel.to_json()}


def _of_design(facts: Facts, verdict: Verdict) -> dict[str, list[str]]:
    """Sentences from figures that the kernel has just proved; those of the file beside the design give way to them."""
    found = replace(
        facts,
        stated=stated_figures(verdict.kept),
        entropy=exact(up(verdict.entropy_bits or Fraction(0))),
        beside=None if verdict.beside_bits is None else exact(up(verdict.beside_bits)),
    )
    return {
        "Promised": words.promised(found),
        "Proved, and checked again just now": words.proved(found),
        "With one more attribute": words.one_more(found),
        "Not protected": words.not_protected(found),
    }


def _only_said(facts: Facts) -> list[str]:
    """Whom a row is about, and that statistics are public: no design and no card can prove it."""
    said = [] if facts.unit == "row" else [f"rows of one person have the same value of {facts.unit}"]
    said += [f"a person has at most {many(facts.max_rows, 'row')}"] if facts.max_rows else []
    public = facts.prior in ("uniform", "public")
    return said + (["the recipe was made from public statistics, and not from the rows"] if public else [])


def _of_card(facts: Facts, verdict: Verdict) -> dict[str, list[str]]:
    """What the card proves by itself, and apart from it what is only stated: figures that need the design."""
    proved = [
        promise if figures is not None else replace(promise, figures={})
        for promise, figures in zip(facts.promises, verdict.kept.promises, strict=True)
    ]
    limits = tuple(replace(limited, reached=None) for limited in facts.limits)
    promised = words.promised(replace(facts, promises=tuple(proved), limits=limits, stated={}, beside=None))
    stated = [sentence for sentence in words.promised(facts) if sentence not in promised]
    if facts.objective is not None:  # which travels in the file beside the card
        stated += words.proved(facts) + words.one_more(facts)
    return {
        "Promised": promised,
        "Stated of the design, which alone can prove it": [
            told.replace("Proved", "Stated").replace(": proved to", ": stated to").replace("is proved,", "was proved,")
            for told in stated
        ],
        "Not protected": words.not_protected(facts),
    }
