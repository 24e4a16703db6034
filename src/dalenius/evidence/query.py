"""The audit of a query under noise: every measure that needs no prior, without writing its channel out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, nextafter
from pathlib import Path
from typing import Any

from dalenius.core.guarantee import Guarantee
from dalenius.core.information_guarantees import Dalenius
from dalenius.core.numbers import decimal_above, written
from dalenius.core.odds_guarantees import LocalDP
from dalenius.core.pmf import Pmf
from dalenius.core.query import FINITE, Query
from dalenius.core.query_noise import channel_of_query, kernel_of, permuted
from dalenius.measures.capacity import Bracket
from dalenius.measures.deltas import query_deltas
from dalenius.measures.dp import information_of_dp
from dalenius.measures.noise import symmetric_bits, uniform_mixture
from dalenius.measures.query import QueryMeasures, measures_of_query
from dalenius.mechanisms.auditing import MechanismAudit, examine_mechanism
from dalenius.tables.documents import read_pmf
from dalenius.tables.query_file import read_query

__all__ = ["QueryAudit", "audit_query", "examine_query"]

FEW = 40  # letters up to which the test of (65) is made


@dataclass(frozen=True)
class QueryAudit:
    """Every measure of a query; brackets in bits hold the truth, levels are rounded up, None is infinite.

    Parameters
    ----------
    query : Query
        What is answered.
    measures : QueryMeasures
        What the answer tells.
    symmetric : Bracket or None
        The bound that does not depend on the data, where the noise is symmetric.
    symmetric_reached : bool or None
        Whether some law of the records reaches it.
    """

    query: Query
    measures: QueryMeasures
    symmetric: Bracket | None
    symmetric_reached: bool | None
    deltas: Mapping[Fraction, float] = field(default_factory=dict)

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """The promises that the query keeps, at the least level that is proved."""
        met: list[Guarantee] = [Dalenius(decimal_above(g.high), group=k) for k, g in self.measures.groups.items()]
        strong = self.measures.strong_dp_epsilon
        return tuple([*met, LocalDP(decimal_above(strong))] if strong is not None else met)

    def to_json(self) -> dict[str, Any]:
        m = self.measures
        return {
            "query": self.query.to_json(),
            "records": self.query.records,
            "individual_capacity_bits": [m.worst.low, m.worst.high],
            "group_capacity_bits": {str(k): [g.low, g.high] for k, g in m.groups.items()},
            "individual_capacity_independent_bits": list(m.independent),
            "independent_by_dp_bits": None if m.dp_epsilon is None else information_of_dp(m.dp_epsilon),
            "capacity_bits": list(m.capacity),
            "dp_epsilon": m.dp_epsilon,
            "strong_dp_epsilon": m.strong_dp_epsilon,
            "delta": {written(epsilon): delta for epsilon, delta in self.deltas.items()},
            "data_independent_bound_bits": None if self.symmetric is None else list(self.symmetric),
            "data_independent_bound_reached": self.symmetric_reached,
            "worst_record": list(m.worst.group),
            "worst_adversary": [
                {"record": list(belief.record), "probability": belief.probability, "f": belief.others[0]}
                for belief in m.worst.beliefs
            ],
            "guarantees": [{**promise.to_json(), "words": promise.words()} for promise in self.guarantees],
            "remarks": list(m.remarks),
        }


def examine_query(query: Query) -> QueryAudit:
    """Audit a query under its noise.

    Parameters
    ----------
    query : Query
        With its noise.

    Returns
    -------
    QueryAudit
        Brackets in bits.

    >>> seen = examine_query(Query(1, (("0", "1"),), "parity", "randomised-response", Fraction(1, 2)))
    >>> seen.measures.worst.high, seen.measures.dp_epsilon
    (0.0, 0.0)
    """
    bound, reached = None, None
    if query.noise in FINITE:
        kernel = kernel_of(query)
        if len(kernel.letters) <= FEW and permuted(kernel.rows):
            low, high = symmetric_bits(kernel.rows)
            bound = nextafter(float(low), -inf) if low else 0.0, nextafter(float(high), inf)
            reached = uniform_mixture(kernel.rows) is not None
    return QueryAudit(query, measures_of_query(query), bound, reached, query_deltas(query))


def audit_query(query: Query | str | Path, *, prior: Pmf | str | Path | None = None) -> QueryAudit | MechanismAudit:
    """Audit a query or its file; with a prior of the records X1, X2, ... as the channel that it is, while small.

    Parameters
    ----------
    query : Query, str or Path
        Or its file.
    prior : Pmf, str or Path, optional
        Of the records X1, X2, ...

    Returns
    -------
    QueryAudit or MechanismAudit
        The second under a prior.
    """
    described = query if isinstance(query, Query) else read_query(query)
    if prior is None:
        return examine_query(described)
    law = prior if isinstance(prior, Pmf) else read_pmf(prior, "prior")
    return examine_mechanism(channel_of_query(described), law)
