"""Further questions to a mechanism: adversaries who lack bits, other releases beside it, metrics that imply others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log, prod
from typing import Any

from dalenius.core.conditional_law import Kernel
from dalenius.core.pmf import Pmf
from dalenius.core.query import Query
from dalenius.errors import InputError, Unsupported
from dalenius.measures.balance import balance, limited_capacity, threshold
from dalenius.measures.capacity import aligned
from dalenius.measures.collusion import collusion
from dalenius.measures.composition import Composed, general, parallel
from dalenius.measures.lattice import METRICS, Context, implied, levels
from dalenius.measures.limited import query_limited
from dalenius.measures.shannon import entropy

__all__ = ["Further", "about_lacking", "about_metrics", "about_query_lacking", "about_together", "refuse_large"]

LARGEST = 1 << 16  # inputs times letters of a channel that is looked at by these searches


@dataclass(frozen=True)
class Further:
    """What was found, as lines for people and as figures for machines."""

    lines: tuple[str, ...]
    figures: Mapping[str, Any] = field(default_factory=dict)


def refuse_large(channel: Kernel) -> None:
    """Refuse what is too large for these searches.

    Parameters
    ----------
    channel : Kernel
        That was measured itself already.

    Raises
    ------
    Unsupported
        With the ways out.
    """
    if not channel.few or channel.shape[0] * channel.shape[1] > LARGEST:
        raise Unsupported(
            "this mechanism is too large to be asked further; its own measures stand above",
            do="Group values, or release fewer columns together.",
        )


def about_lacking(channel: Kernel, b_bits: float) -> Further:
    """What adversaries learn about one record who lack so many bits of all records together (Assumption 3 of 001).

    Parameters
    ----------
    channel : Kernel
        Each input is the record of one individual.
    b_bits : float
        Least entropy of what the adversary believes about all records.

    Returns
    -------
    Further
    """
    refuse_large(channel)
    low, high = limited_capacity(channel, b_bits)
    gain = balance(channel, b_bits)
    from_here = threshold(channel)
    return Further(
        (
            f"Attackers who lack {b_bits:g} bits about all records learn {low:.6g} to {high:.6g} bits about one.",
            f"  The assumption is worth {gain[0]:.6g} to {gain[1]:.6g} bits, and nothing up to {from_here:.6g} bits.",
            "  Such figures hold for one release only: they do not add up over several.",
        ),
        {
            "limited_capacity_bits": [low, high],
            "balance_bits": list(gain),
            "balance_threshold_bits": from_here,
            "unknown_bits": b_bits,
        },
    )


def about_query_lacking(query: Query, b_bits: float) -> Further:
    """The same for a query by its structure; the lower end is 0 unless its channel is small."""
    low, high = query_limited(query, b_bits)
    return Further(
        (
            f"Attackers who lack {b_bits:g} bits about all records learn {low:.6g} to {high:.6g} bits about one.",
            "  Such figures hold for one answer only: they do not add up over several.",
        ),
        {"limited_capacity_bits": [low, high], "unknown_bits": b_bits},
    )


def about_metrics(channel: Kernel, prior: Pmf) -> Further:
    """Every privacy metric of a channel under a prior, and the metrics that bound it from the others."""
    refuse_large(channel)
    law = aligned(prior, channel)
    found = levels(law, channel)
    context = Context(len(channel.inputs), entropy(law, list(law.variables)) * log(2), len(law) == _outcomes(channel))
    lines = ["Metrics under the stated distribution (natural logarithms), and what follows from each alone:"]
    follows: dict[str, dict[str, float]] = {}
    for name, level in found.items():
        shown = "not bounded" if level is None else f"{level:.6g}"
        lines.append(f"  {METRICS[name]:<38} {shown}")
        if level is None:
            continue
        steps = {other: bound for other, (bound, path) in implied(name, level, context).items() if path}
        follows[name] = steps
        if steps:
            lines.append("    implies " + ", ".join(f"{METRICS[other]} {bound:.4g}" for other, bound in steps.items()))
    return Further(tuple(lines), {"metrics_nats": found, "implied_nats": follows})


def _outcomes(channel: Kernel) -> int:
    return prod(len(letters) for letters in channel.inputs.values())


def about_together(
    channels: Sequence[Kernel], prior: Pmf | None, about: Sequence[str], *, people: str = "same"
) -> Further:
    """What several releases tell together.

    Parameters
    ----------
    channels : sequence of Kernel
        One for each release, drawn separately.
    prior : Pmf or None
        With `about`: the joint law of all columns that are read, and of the secret.
    about : sequence of str
        The secret that those who share their letters want to know.
    people : str
        Without a prior: the releases are about the "same" people, or about "other" people each.

    Returns
    -------
    Further
    """
    for channel in channels:
        refuse_large(channel)
    if about:
        if prior is None:
            raise InputError(
                "what releases reveal together about a secret needs --prior, the distribution of all columns",
                do="Add --prior FILE.",
            )
        seen = collusion(prior, channels, list(about))
        exactly = "too large to be counted" if seen.exact is None else f"{seen.exact:.6g} bits"
        chain = "does not apply" if seen.lemma2 is None else f"at most {seen.lemma2:.6g} bits"
        return Further(
            (
                f"Together the {len(channels)} releases reveal at most {seen.bits:.6g} bits about {', '.join(about)}.",
                f"  exactly: {exactly}; one by one: {', '.join(f'{v:.6g}' for v in seen.apart)} bits",
                f"  sum, where the columns are independent given the secret: {chain}",
                f"  percolation: at most {seen.percolation:.6g} bits",
            ),
            {
                "together_bits": seen.bits,
                "exact_bits": seen.exact,
                "apart_bits": list(seen.apart),
                "sum_bits": seen.lemma2,
                "percolation_bits": seen.percolation,
            },
        )
    found: Composed = general(channels) if people == "same" else parallel(channels)
    low, high = found.together
    return Further(
        (
            f"Together the {len(channels)} releases about {people} people reveal to anybody {low:.6g} to "
            f"{high:.6g} bits "
            f"about one person ({found.rule}).",
            f"  one by one: {', '.join(f'{a[1]:.6g}' for a in found.alone)} bits",
        ),
        {"together_bits": [low, high], "apart_bits": [list(a) for a in found.alone], "rule": found.rule},
    )
