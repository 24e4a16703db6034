"""An answer in plain words."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from dalenius.core.digits import chance
from dalenius.core.numbers import exact
from dalenius.core.question import Question
from dalenius.mechanisms.queries.asking import Asked
from dalenius.mechanisms.queries.draw import Answer
from dalenius.mechanisms.queries.intervals import Number, exact_level
from dalenius.mechanisms.queries.proof import Figures
from dalenius.wording import in_bits, joined, rounded_up, shown

__all__ = [
    "answer_words",
    "asked_words",
    "ends_words",
    "figure_words",
    "noise_words",
    "parameter_figure",
    "question_words",
    "sure_words",
    "value_words",
]

MOST_LINES = 200
DIGITS = 9  # of a parameter as people read it


def answer_words(found: Answer) -> list[str]:
    """The answer with its intervals, what noise was added, and what it tells about a person."""
    question = found.question
    whom = f"{found.records:,} persons" if question.unit and question.max_rows is None else f"{found.records:,} records"
    lines = [f"{question_words(question)}, of {whom}:", ""]
    widest = max(len(shown(number.label)) for number in found.numbers)
    lines += [
        f"  {shown(number.label):<{widest}}  {value_words(number.possible):>12}   {ends_words(number)}"
        for number in found.numbers[:MOST_LINES]
    ]
    if len(found.numbers) > MOST_LINES:
        lines.append(f"  ... and {len(found.numbers) - MOST_LINES:,} more; --json shows all")
    lines += ["", sure_words(found)]
    lines.append(f"Noise: {noise_words(question)}.")
    return [*lines, "", *figure_words(found.proved.figures, question)]


def sure_words(found: Answer) -> str:
    """How sure the intervals of an answer are."""
    sure = f"{float(found.question.level):.0%}".replace("%", " %")
    each = "Each interval" if len(found.numbers) > 1 else "The interval"
    if exact_level(found.question):
        return f"{each} holds the true number with a probability of {sure}."
    return f"{each} holds the true number with a probability of at least {sure}."


def asked_words(found: Asked) -> list[str]:
    """What a question would tell, or the noise that keeps it to a budget."""
    lines = [
        f"{question_words(found.question)}, of {found.records:,} records.",
        f"Noise: {noise_words(found.question)}.",
    ]
    if found.bits is not None:
        lacking = f"Somebody who lacks {found.against.partition(':')[2]} bits about all records together learns at most"
        whom = {"any": "Nobody learns more than", "independent": "Somebody who knows all other records learns at most"}
        if found.at_most_bits is not None:
            budget = float(found.at_most_bits)
            parameter = parameter_figure(found.question.noise, found.question.parameter)
            lines.append(f"Parameter {parameter}, found for a budget of {budget:g} bits.")
        lines.append(f"{whom.get(found.against, lacking)} {in_bits(exact(found.bits))} about one person.")
        if found.against.startswith("unknown"):
            lines.append(
                "That holds for one answer only. It does not add up, and a ledger charges what anybody learns."
            )
    lines += ["", *figure_words(found.figures, found.question), "  delta at epsilon:"]
    return [*lines, *(f"    {level:>5}  {rounded_up(delta)}" for level, delta in found.deltas.items())]


def parameter_figure(noise: str, parameter: Fraction, *, less: bool = False) -> str:
    """A parameter in few digits: with no less noise than it stands for, or with `less` with no more.

    Parameters
    ----------
    noise : str
        Whose parameter it is.
    parameter : Fraction
        Exact; machines are told that one.
    less : bool
        Rounded towards less noise.

    >>> parameter_figure("geometric", Fraction(2, 3)), parameter_figure("geometric", Fraction(2, 3), less=True)
    ('0.666666667', '0.666666666')
    >>> parameter_figure("exponential", Fraction(2, 3)), parameter_figure("gaussian", Fraction(1500))
    ('0.666666666', '1500')
    """
    # The rate of exponential noise falls as the noise grows; every other parameter grows with it.
    upwards = (noise != "exponential") != less
    rounding = Context(prec=DIGITS, rounding=ROUND_CEILING if upwards else ROUND_FLOOR)
    return f"{rounding.divide(Decimal(parameter.numerator), Decimal(parameter.denominator)).normalize():f}"


def figure_words(seen: Figures, question: Question) -> list[str]:
    """What an answer tells about one person's records, a line for each kind of reader."""
    group = question.group
    whose = "any one record" if group == 1 else f"the {group} records of any one person"
    what = whose if question.whole else "anything, one record or all of them together"
    lines = [
        "Proved:",
        f"  Nobody learns more than {in_bits(seen.anybody_bits)} about {what}, whatever they know or believe.",
        f"  Somebody who knows all other records learns at most {in_bits(seen.independent_bits)} about {whose}.",
    ]
    if seen.epsilon_nats is None or seen.rho is None:
        return [*lines, "  No level of differential privacy: the noise rules an answer out."]
    level = f"  Differential privacy of {whose}: epsilon {rounded_up(seen.epsilon_nats)}"
    if seen.delta:
        level += f" at delta {chance(seen.delta)}"
    return [*lines, f"{level}; concentrated: rho {rounded_up(seen.rho)}."]


def question_words(question: Question) -> str:
    """What was asked."""
    what = {"count": "Count", "sum": "Sum", "mean": "Mean", "histogram": "Counts", "quantile": "Quantiles"}[
        question.kind
    ]
    columns = joined(question.columns)
    letter = f" = {shown(question.letter)}" if question.letter is not None else ""
    about = f" of {columns}{letter}" if columns else ""
    where = f" where {shown(question.where_text)}" if question.where_text else ""
    return f"{what}{about}{where}"


def noise_words(question: Question) -> str:
    """What was added to the true numbers, or drawn in their place."""
    size = float(question.parameter)
    if question.noise in _OTHERS:
        return _OTHERS[question.noise].format(size)
    kind = "Laplace" if question.noise == "discrete-laplace" else "Gaussian"
    deviation = size * 2**0.5 if kind == "Laplace" else size**0.5
    where = "for each of its two sums, in records" if question.ratio else "for each number"
    return f"{kind} on a grid, standard deviation {deviation:.4g} {where}"


_OTHERS = {
    "geometric": "geometric on a grid, each step {:.6g} times as likely as the one before",
    "randomised-response": "randomised response, another value with probability {:.6g}",
    "exponential": "exponential, of rate {:.6g}, on the values in the order of their distance",
    "table": "a table",
}


def value_words(value: Fraction | str) -> str:
    """A number or a word of an answer."""
    if isinstance(value, str):
        return shown(value)
    return f"{int(value):,}" if value.denominator == 1 else f"{float(value):,.6g}"


def ends_words(number: Number) -> str:
    """The interval of a number, and what was drawn where noise took it beyond all that the number can be."""
    low = value_words(number.low)
    high = value_words(number.high)
    drawn = "" if number.possible == number.value else f" (drawn: {value_words(number.value)}, which it cannot be)"
    if isinstance(number.low, str):
        return f"{low} and no other" if low == high else f"from {low} up to {high}"
    return f"{low}{drawn}" if low == high else f"{low} to {high}{drawn}"
