"""The audit and the calibration of a query in plain words."""

from collections.abc import Sequence
from fractions import Fraction

from dalenius.core.digits import figure
from dalenius.core.numbers import written
from dalenius.core.query import Interval, Query
from dalenius.evidence.query import QueryAudit
from dalenius.mechanisms.queries.calibration import Calibration
from dalenius.mechanisms.queries.words import parameter_figure
from dalenius.report.mechanism import RULED_OUT, UNBOUNDED, delta_line, table_of
from dalenius.report.mechanism import up as rounded_up

__all__ = ["audited_query", "calibrated"]

DIGITS = 9  # of a budget
SHORT = 16  # characters of a parameter that is told as it is written
PARAMETER = {
    "randomised-response": "probability of another answer",
    "geometric": "ratio of neighbouring probabilities",
    "exponential": "rate",
    "gaussian": "variance",
    "laplace": "scale",
}


def _described(query: Query) -> str:
    letters = "an interval" if isinstance(query.letters, Interval) else _many_letters(query.letters)
    noise = f"{query.noise} noise" if query.noise != "table" else "noise by a table"
    own = f", {PARAMETER[query.noise]} {_short(query)}" if query.parameter is not None else ""
    return f"A {query.kind} over {query.records:,} records of {letters} under {noise}{own}."


def _many_letters(alphabets: Sequence[Sequence[str]]) -> str:
    """How many values each record has.

    >>> _many_letters([("a", "b")] * 3), _many_letters([("a", "b"), ("a", "b", "c")])
    ('2 values', '2 to 3 values')
    """
    sizes = sorted({len(letters) for letters in alphabets})
    return f"{sizes[0]} values" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} values"


def _short(query: Query) -> str:
    assert query.parameter is not None
    text = written(query.parameter)
    return text if len(text) <= SHORT else parameter_figure(query.noise, query.parameter)


def _exceeding(bits: float, budget: Fraction) -> str:
    """A figure that is above a budget, from below, in as many digits as show that."""
    figures = (figure(bits, "down", digits) for digits in range(3, 17))
    return next((text for text in figures if Fraction(text) > budget), figure(bits, "down", 17))


def audited_query(seen: QueryAudit) -> list[str]:
    """One table, the worst adversary, the promises that the query keeps.

    Parameters
    ----------
    seen : QueryAudit
        What was found.

    Returns
    -------
    list of str
        Lines.
    """
    m = seen.measures
    lines = [_described(seen.query), "What it lets out, proved:"]
    why = UNBOUNDED if seen.query.noise == "gaussian" else RULED_OUT
    lines += table_of(m.groups, m.independent, m.capacity, (m.dp_epsilon, m.strong_dp_epsilon), why)
    lines.append(f"  {delta_line(seen.deltas)}")
    if seen.symmetric is not None:
        reached = "reached by all values together" if seen.symmetric_reached else "not reached"
        lines.append(
            f"  One distribution in different orders: at most {rounded_up(seen.symmetric[1])} bits, {reached}."
        )
    if m.worst.beliefs and m.worst.high:
        lines += ["", "The attacker who learns most believes of a record, and of f then:"]
        lines += [f"  {line}" for line in m.worst.words()]
    lines += ["", "It keeps these promises:", *(f"  {promise.words()}" for promise in seen.guarantees)]
    return lines + [f"Note: {remark}." for remark in m.remarks]


def _whom(against: str) -> str:
    """Who does not learn more."""
    if against == "any":
        return "nobody learns"
    if against == "independent":
        return "somebody to whom records are independent does not learn"
    return f"somebody who lacks {against.partition(':')[2]} bits about all records does not learn"


def calibrated(found: Calibration) -> list[str]:
    """The parameter with its proof, the one beside it, and the comparison.

    Parameters
    ----------
    found : Calibration
        What was found.

    Returns
    -------
    list of str
        Lines.
    """
    high = rounded_up(found.proved[1])
    parameter = parameter_figure(found.query.noise, found.parameter)
    lines = [
        _described(found.query),
        f"Parameter {parameter}: {_whom(found.against)} more than {high} bits about any one record, and the budget is "
        f"{figure(found.at_most_bits, 'nearest', DIGITS)}.",
    ]
    if found.beside is not None and found.beside_proved is not None:
        lines.append(
            f"With less noise, {parameter_figure(found.query.noise, found.beside, less=True)}, some attacker learns "
            f"{_exceeding(found.beside_proved[0], found.at_most_bits)} bits, which is more than the budget."
        )
    elif not found.against.startswith("unknown"):
        lines.append("No less noise was found to exceed the budget.")
    if found.compared:
        lines += ["", "The same numbers under other noise, at the same bits:"]
        for c in found.compared:
            level = "" if c.dp_epsilon is None else f", differential privacy at level {rounded_up(c.dp_epsilon)}"
            lines.append(f"  {c.noise:<18} against {c.against:<20} standard deviation {c.deviation:.6g}{level}")
    return lines + [f"Note: {remark}." for remark in found.remarks]
