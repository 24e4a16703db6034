"""The level under a metric is that of all quotients, found without a fraction for each of them."""

from fractions import Fraction
from itertools import permutations

from dalenius.core import Channel
from dalenius.core.numbers import exact
from dalenius.kernel import release
from dalenius.kernel.logs import nats
from dalenius.mechanisms import solve
from tests.mechanisms.columns.test_near_rows import PROMISES, asked


def test_the_level_under_a_metric_is_that_of_all_quotients(monkeypatch):
    n = 6
    made = []

    class Counted(Fraction):
        def __new__(cls, *parts):
            made.append(parts)
            return Fraction(*parts)

    monkeypatch.setattr(release, "Fraction", Counted)
    design = solve(asked(n, PROMISES["metric"](n)))
    assert isinstance(design.channel, Channel)
    rows = design.channel.rows
    level = max(
        nats(max(Fraction(a) / b for a, b in zip(rows[i], rows[j], strict=True) if b)) / Fraction(abs(i - j), 4)
        for i, j in permutations(range(n), 2)
    )
    (promise,) = design.outline()["guarantees"]
    assert 0 <= exact(promise["proved"]["epsilon_nats"]) - level < Fraction(1, 10**9)
    assert len(made) <= n * n  # one for each pair of rows at most; there was one for each value that they share, too
