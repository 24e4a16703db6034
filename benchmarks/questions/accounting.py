"""Accounting: the delta of a noisy count, by which libraries of differential privacy keep their books."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

TITLE = "delta at epsilon = 1/10 of a count under Gaussian noise"
SIZE = "standard deviation of the noise"
SIZES = [1, 2, 4, 8, 16, 32]
WARM = True
SENSE = "min"
TOLERANCE = 1e-9
EPSILON = Fraction(1, 10)

Work = Callable[[], dict[str, Any]]


def ours(size: int) -> Work:
    from dalenius.core.query import Query
    from dalenius.measures.deltas import query_deltas

    query = Query(3, (("0", "1"),) * 3, "count", "gaussian", Fraction(size) ** 2)

    def work() -> dict[str, Any]:
        delta = query_deltas(query, [EPSILON])[EPSILON]
        return {"value": delta, "low": delta - 1e-11, "high": delta, "proved": False}

    return work


def by_dp_accounting(size: int) -> Work:
    """Google's privacy loss distribution, on its usual grid, from above."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    def work() -> dict[str, Any]:
        loss = pld.from_gaussian_mechanism(standard_deviation=float(size))
        return {"value": float(loss.get_delta_for_epsilon(float(EPSILON)))}

    return work


def by_opendp(size: int) -> Work:
    """OpenDP's zero-concentrated level, turned into delta at epsilon."""
    import opendp.prelude as dp

    dp.enable_features("contrib")

    def work() -> dict[str, Any]:
        space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
        measurement = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=float(size)))
        return {"value": float(measurement.map(1.0).delta(float(EPSILON)))}

    return work


CONTENDERS = {"dalenius": ours, "dp-accounting (Google)": by_dp_accounting, "OpenDP": by_opendp}
