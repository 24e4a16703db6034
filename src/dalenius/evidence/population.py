"""What a release tells about the secrets in the population that the rows were drawn from, in words for the reader."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal

from dalenius.core import Leakage
from dalenius.core.design import Design
from dalenius.core.pmf import Pmf
from dalenius.core.source import TableSource
from dalenius.errors import InputError, Unsupported
from dalenius.measures.finite_sample import Population, population_leakage
from dalenius.measures.shannon import entropy

__all__ = ["of_one_answer", "population", "population_words"]

BETA = 0.05  # the probability that one of the bounds fails


def population(design: Design, counted: Pmf, rows: int) -> list[tuple[tuple[str, ...], str, Population]]:
    """For each secret of a promise: its columns, the exact figure in bits for the table, and the bound with confidence.

    All bounds hold together with probability 1 - BETA. Rows that belong to persons in common are not independent draws,
    and a mechanism that is not written out row by row has no cells: no bound is given then.

    Parameters
    ----------
    design : Design
        With its law.
    counted : Pmf
        The law of the table.
    rows : int
        That it was counted from.

    Returns
    -------
    list of (names, str, Population)
        One for each secret.
    """
    source = design.problem.source
    if not isinstance(source, TableSource) or source.unit != "row" or not design.channel.few:
        return []
    secrets = {
        promise.secret: shown
        for promise, shown in zip(design.problem.guarantees, design.proved, strict=True)
        if promise.secret
    }
    found = []
    for secret, shown in secrets.items():
        try:
            bound = population_leakage(
                counted,
                rows,
                design.channel,
                secret,
                kept=design.problem.kept,
                beta=BETA / len(secrets),
                designed_elsewhere=design.public_prior,
            )
        except (InputError, Unsupported):
            continue  # more cells than a bound by cells can hold
        found.append((secret, str(shown.get("leakage_bits", "")), bound))
    return found


def _up(bits: float | str) -> str:
    """Three digits, rounded up.

    >>> _up(0.12301), _up("0")
    ('0.124', '0')
    """
    return format(float(Context(prec=3, rounding=ROUND_CEILING).plus(Decimal(bits))), "g")


def population_words(design: Design, counted: Pmf, rows: int) -> list[str]:
    """One sentence for each secret: exact for the table, and for the population with confidence.

    None for a design on a public prior: its card tells nothing about the records, and these sentences would. None for
    a secret whose promise is about the population already: two bounds with one confidence would stand side by side.

    Parameters
    ----------
    design : Design
        With its law.
    counted : Pmf
        The law of the table.
    rows : int
        That it was counted from.

    Returns
    -------
    list of str
        Sentences.
    """
    if design.public_prior:
        return []
    robust = design.problem.robust
    promised = [g.secret for g in design.problem.guarantees if isinstance(g, Leakage)]
    told = promised if robust is not None and robust.ball == "confidence" else []
    return [
        f"what is released reveals {_up(figure)} bits about {' with '.join(secret)} for a record of this table; for the"
        f" population, if the {rows:,} rows are independent draws from it, {_limit(bound, counted, secret)}"
        for secret, figure, bound in population(design, counted, rows)
        if figure and tuple(secret) not in told
    ]


def of_one_answer(design: Design) -> list[str]:
    """What no release can hide: a secret that is the same in every row, which `init` refuses and a file may name.

    Parameters
    ----------
    design : Design
        With its law.

    Returns
    -------
    list of str
        A sentence for each such secret; none for a design on public statistics, which say nothing of the rows.
    """
    law = design.problem.law
    if design.public_prior or not isinstance(law, Pmf):
        return []
    names = dict.fromkeys(name for guarantee in design.problem.guarantees for name in guarantee.secret)
    return [
        f"the protected column {name} has the same value in every row: whoever knows that somebody is in the table "
        "knows it, whatever is released"
        for name in names
        if len(law.marginal([name])) == 1
    ]


def _limit(bound: Population, counted: Pmf, secret: Sequence[str]) -> str:
    if bound.bits >= entropy(counted, secret):  # of no use: as much as there is to know about it
        return "they are too few for so many combinations to say how much it is there"
    return f"at most {_up(bound.bits)} bits with confidence {100 * (1 - BETA):g} %"
