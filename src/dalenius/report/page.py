"""The report: one self-contained page, without scripts and without outside requests, that reads well printed too."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from dalenius.core import Design, Kernel, Margins, Product, Samples, Types, channel_of
from dalenius.core.digits import before_and_after, bits, factor, figure, percent
from dalenius.core.forms import WITHHELD
from dalenius.core.multinomial import type_law
from dalenius.core.numbers import exact
from dalenius.evidence import Audit
from dalenius.evidence.before_after import BeforeAfter
from dalenius.report import words
from dalenius.report.facts import Document, Facts, joined, shown
from dalenius.report.implications import lattice
from dalenius.report.picture import exact_rows, picture

__all__ = ["render", "render_public"]

PICTURES = 24  # matrices of single columns that are drawn one by one
SHOWN = 40  # letters whose changes are listed


@cache
def _template() -> Template:
    folder = files("dalenius.report")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["round1"] = lambda x: f"{x:.1f}".removesuffix(".0")
    # The style is a file of this package, the only text that reaches the page unescaped.
    environment.globals["style"] = folder.joinpath("page.css").read_text("utf-8")
    return environment.from_string(folder.joinpath("page.html.j2").read_text("utf-8"))


def render(
    design: Design,
    audit: Audit | None = None,
    *,
    title: str | None = None,
    details: Mapping[str, str] | None = None,
    counts: BeforeAfter | None = None,
) -> str:
    """The internal report of a design and of the audit of its release. Confidential: it shows a function of the counts.

    `details` are further lines of the technical section, such as the digest of the table; `counts` the rows of each
    value before and after the release.

    >>> from dalenius import solve
    >>> from dalenius.testing import xor
    >>> render(solve(xor())).startswith("<!doctype html>")
    True
    """
    document = design.outline()
    facts = Facts.read(document)
    technical = {
        **_technical(facts),
        "Source": _source(document.get("source", {})),
        "Digest of the problem file": document["problem_digest"] or "none: the problem was not read from a file",
        "Digest of design.json": design.fingerprint(),
        **{shown(k): shown(v) for k, v in (details or {}).items()},
        "Versions": _versions(document),
    }
    return _page(facts, _drawn(design), technical, title, audit, counts)


def render_public(card: Document, *, title: str | None = None) -> str:
    """The public report, from the card alone: no counts, no joint distribution, no name of the source."""
    facts = Facts.read(card)
    technical = {**_technical(facts), "Digest of design.json": card["proof"]["digest"], "Versions": _versions(card)}
    shown_on_card = card["channel"].get("form") != WITHHELD
    matrices = _matrices(channel_of(card["channel"])) if shown_on_card else []
    return _page(facts, [(part, None) for part in matrices], technical, title, None)


def _page(
    facts: Facts,
    drawn: Sequence[tuple[Kernel, Sequence[int] | None]],
    technical: Mapping[str, str],
    title: str | None,
    audit: Audit | None,
    counts: BeforeAfter | None = None,
) -> str:
    document = facts.document
    return _template().render(
        public=facts.public,
        title=shown(title) if title else f"Release of {joined(facts.released)}",
        summary=_summary(facts, audit),
        alarm=audit is not None and audit.contradicts,
        promised=words.promised(document, audit.rows if audit is not None else None),
        proved=words.proved(document),
        seen=words.seen(audit),
        findings=_findings(audit),
        moved=_moved(audit),
        counts=counts,
        gains=_gains(facts),
        one_more=words.one_more(document),
        bars=_bars(facts),
        leaving=facts.leaving,
        utility=_utility(facts),
        maps=[(picture(part, weight), exact_rows(part, weight)) for part, weight in drawn if part.few],
        not_protected=words.not_protected(document),
        lattice=lattice(facts.promises),
        remarks=[_sentence(shown(r)) for r in facts.remarks],
        estimate=document.get("estimate", ""),
        technical=technical,
    )


def _sentence(remark: str) -> str:
    return remark[:1].upper() + remark[1:] + ("" if remark.endswith((".", "!", "?")) else ".")


def _matrices(channel: Kernel) -> list[Kernel]:
    """What is drawn as a picture: one matrix for each column where each has its own, else one."""
    if isinstance(channel, Product) and len(channel.windows) <= PICTURES:
        return list(channel.windows)
    return [channel.by_type() if isinstance(channel, Types) else channel]


def _drawn(design: Design) -> list[tuple[Kernel, list[int] | None]]:
    """The matrices, and how probable each row is, to show the most probable ones when there are many."""
    law, matrices = design.problem.law, _matrices(design.channel)
    if isinstance(law, Samples):
        return [(matrices[0], [sum(row) for row in type_law(law.masses, law.kernel.rows, law.n)[1]])]
    found: list[tuple[Kernel, list[int] | None]] = []
    for matrix in matrices:
        names, weight = list(matrix.inputs), [0] * matrix.shape[0] if matrix.few else None
        if weight and (len(names) == 1 or not isinstance(law, Margins)):
            here = law.marginal(names) if isinstance(law, Margins) else design.problem.pmf
            for codes, n in zip(here.grouped(names)[0], here.counts(names).tolist(), strict=True):
                weight[matrix.row_of(codes)] = int(n)
        else:  # how the columns depend is not known
            weight = None
        found.append((matrix, weight))
    return found


def _summary(facts: Facts, audit: Audit | None) -> list[tuple[str, str, str]]:
    """Promised, proved, seen: a headline and a line each."""
    count, limits = len(facts.promises), len(facts.document.get("limits", ()))
    about = list(dict.fromkeys(n for p in facts.promises for n in p.secret))
    secrets = f"about {joined(about)}" if about else "about every record"
    told = [("Promised", f"{count} promise{'s' * (count != 1)}", secrets if count else "nothing")]
    if limits and not count:
        told = [("Promised", f"{limits} limit{'s' * (limits != 1)}", "on the distortion")]
    sure = sum(bool(p.figures) for p in facts.promises)
    head = "Value and bound" if not count else "Each one, exactly" if sure == count else f"{sure} of {count}, exactly"
    told.append(("Proved", head, "for the very channel that is drawn from"))
    if not facts.public:
        if audit is None:
            told.append(("Seen", "Not audited", "no released rows were looked at"))
        elif audit.contradicts:
            told.append(("Seen", "Contradiction", f"in {audit.rows:,} released rows"))
        else:
            told.append(("Seen", "Nothing against it", f"in {audit.rows:,} released rows"))
    return told


def _findings(audit: Audit | None) -> list[dict[str, Any]]:
    return [
        {
            "what": shown(f.what),
            "detail": shown(f.detail),
            "chance": figure(f.p_value, "up", 2) if f.p_value < 1 else "1",
            "against": f.contradicts,
        }
        for f in (audit.findings if audit else ())
    ]


def _moved(audit: Audit | None) -> list[dict[str, Any]]:
    """What changed from which letter to which, for each column that was released in its own letters."""
    found = []
    for entry in audit.transitions if audit else ():
        if counts := entry.get("frequencies"):
            letters = [shown(line["letter"]) for line in counts[:SHOWN]]
            table = entry.get("table") or [[] for _ in letters]
            rows = [(v, f["before"], f["after"], row) for v, f, row in zip(letters, counts, table, strict=False)]
            what = shown(", ".join(entry["columns"]) + entry.get("where", ""))
            letters = letters if entry.get("table") else []
            found.append({"what": what, "letters": letters, "rows": rows, "hidden": len(counts) - len(rows)})
    return found


def _gains(facts: Facts) -> list[dict[str, str]]:
    """Average and worst letter with the best guess before and after, one line for each secret."""
    lines: list[dict[str, str]] = []
    for promise in facts.promises:
        f = promise.figures
        if f.get("guess_after") is None or f.get("leakage_bits") is None:
            continue
        before, after = before_and_after(f.get("guess_before", f["guess_after"]), f["guess_after"])
        odds = f.get("odds_nats")
        line = {
            "secret": promise.about,
            "before": before,
            "after": after,
            "average": bits(f["leakage_bits"], "up"),
            "worst": bits(f.get("worst_letter_bits", f["leakage_bits"]), "up"),
            "letter": facts.letter(f.get("worst_letter")) if exact(f.get("worst_letter_bits", 0)) else "",
            "factor": "a value is ruled out" if odds is None else f"× {factor(odds)}",
        }
        if line not in lines:
            lines.append(line)
    return lines


def _bars(facts: Facts) -> list[dict[str, Any]]:
    """What one more attribute would give away, as bars on one scale, the most first."""
    found = {
        (promise.about, shown(name)): exact(more)
        for promise in facts.promises
        for name, more in promise.figures.get("with_one_more_bits", {}).items()
    }
    most = max(found.values(), default=Fraction(0)) or Fraction(1)
    return [
        {"secret": secret, "knows": knows, "bits": bits(more, "up"), "width": float(100 * more / most)}
        for (secret, knows), more in sorted(found.items(), key=lambda entry: -entry[1])
    ]


def _utility(facts: Facts) -> dict[str, Any]:
    """Value, bound and gap, and the bar that shows them."""
    document, form = facts.document, words.WITHIN.get(facts.kind, "")
    maximise, information = "maximize" in document["objective"], document["unit"] == "bits"
    value, bound, gap = (exact(document[k], k) for k in ("value", "bound", "gap"))
    low, high = min(value, bound), max(value, bound)
    unit = " bits" if information else ""
    tight = gap <= words.NEGLIGIBLE * high
    share = ""
    if maximise and not high:
        share = f"Under these promises there is nothing to tell: no mechanism {form}of this shape can do better."
    elif maximise and tight:
        share = f"This is all that any mechanism {form}of this shape can tell under these promises, up to the gap."
    elif maximise:
        reached = percent(value / bound, "down")
        share = f"This is at least {reached} of the most that any mechanism {form}of this shape can tell so."
    elif tight:
        share = f"No mechanism {form}of this shape that keeps these promises does better, up to the gap."
    return {
        "label": _told(document["objective"]),
        "value": figure(value, "down" if maximise else "up", 6) + unit,
        "bound": figure(bound, "up" if maximise else "down", 6) + unit,
        "gap": figure(gap, "up", 2) + unit,
        "solid": float(100 * low / high) if high else 0.0,
        "drawn": bool(high),
        "maximise": maximise,
        "title": "How useful it is" if maximise else "How good it is",
        "limit": f"No mechanism {form}of this shape can reach {'more' if maximise else 'less'} than",
        "tight": tight,
        "share": f"{share} {words.compared(document)}".strip(),
    }


def _told(objective: Document) -> str:
    """What the value of an objective is called."""
    aim = objective.get("maximize") or objective.get("minimize") or {}
    if about := aim.get("information") or aim.get("information_of_each") or aim.get("leakage"):
        return f"This release tells about {joined(about)}"
    return next(
        (w for k, w in (("distortion", "Expected distortion"), ("variance", "Variance")) if k in aim), "This release"
    )


def _technical(facts: Facts) -> dict[str, str]:
    document = facts.document
    order = "kept as in the original" if facts.order == "keep" else "shuffled by the key of the release"
    unit = "one row" if facts.unit == "row" else f"one person (column {shown(facts.unit)})"
    if facts.max_rows:
        levels = [p.kind == "local_dp" for p in facts.promises]
        unit = facts.person(facts.max_rows)
        if not levels or not all(levels):
            unit = f"one row; of the level of local_dp, {unit}" if any(levels) else f"one row, where {unit} is a person"
    return {
        "Released": joined(facts.released),
        "Kept as it is": joined(facts.kept) if facts.kept else "nothing",
        "The mechanism looks at": joined(list(document["channel"].get("inputs", ()))),
        "Unit of the promise": unit,
        "Order of the rows": order,
        "Method": shown(document["method"]),
        "Kind of the optimality proof": f"{shown(facts.kind)}: {words.KINDS.get(facts.kind, 'see the certificate')}",
    }


def _source(source: Document) -> str:
    """The name of the source; of a path only its last part, of an address nothing, because it can hold a password."""
    if "conditionally_iid" in source:
        return "conditionally independent samples"
    name = source.get("table") or source.get("pmf")
    if not name:
        return "a table given in Python" if "table" in source else "a distribution given in Python"
    if "://" in name or "\n" in name or len(name) > 200:
        return "a database query"
    return shown(PurePath(name).name)


def _versions(document: Document) -> str:
    return ", ".join(f"{shown(k)} {shown(v)}" for k, v in document.get("versions", {}).items()) or "not stated"
