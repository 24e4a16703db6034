"""How long does the individual capacity of a query take, and how narrow is its bracket?

CPU seconds, proof included, with the gap of the bracket in bits. The rival writes the channel of all records out and
searches it (`individual_capacity`), while that is possible; for Gaussian noise it is (115), which costs nothing and is
only a bound: its excess in bits stands beside it.

    python benchmarks/queries.py
"""

import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import log
from typing import Any

from reporting import save

from dalenius.core.query import Interval, Query
from dalenius.core.query_noise import channel_of_query
from dalenius.measures import individual_capacity
from dalenius.measures.noise import gaussian_bound
from dalenius.measures.query import query_capacity
from dalenius.mechanisms.queries.calibration import calibrate

F = Fraction
BITS, TRITS = ("0", "1"), ("0", "1", "2")


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def written_out(query: Query) -> Any:
    return individual_capacity(channel_of_query(query))


def main() -> None:
    rows = []
    query_capacity(Query(2, (BITS,) * 2, "count", "geometric", F(1, 2)))  # imports are not what is timed
    for name, query in (
        ("count, 8 bits, geometric 7/10", Query(8, (BITS,) * 8, "count", "geometric", F(7, 10))),
        ("count, 12 bits, geometric 7/10", Query(12, (BITS,) * 12, "count", "geometric", F(7, 10))),
        ("count, 500 bits, geometric 7/10", Query(500, (BITS,) * 500, "count", "geometric", F(7, 10))),
        ("count, 500 bits, geometric 99/100", Query(500, (BITS,) * 500, "count", "geometric", F(99, 100))),
        ("count, 500 bits, exponential 1/100", Query(500, (BITS,) * 500, "count", "exponential", F(1, 100))),
        ("sum, 12 ternary records, geometric 1/2", Query(12, (TRITS,) * 12, "sum", "geometric", F(1, 2))),
        ("mean in [-1, 1], Gaussian, A = 3", Query(50, Interval(F(-1), F(1)), "mean", "gaussian", F(1, 9))),
        ("mean in [-1, 1], Gaussian, A = 10", Query(50, Interval(F(-1), F(1)), "mean", "gaussian", F(1, 100))),
        ("mean in [-1, 1], Laplace, A = 3", Query(50, Interval(F(-1), F(1)), "mean", "laplace", F(1, 3))),
    ):
        seconds, found = timed(partial(query_capacity, query))
        row = {"query": name, "seconds": seconds, "bits": found.low, "gap": found.high - found.low}
        if query.noise == "gaussian":
            row["rival"] = f"(115): {gaussian_bound(1.0, float(query.parameter or 1)) - found.low:.4f} bits too many"
        elif not isinstance(query.letters, Interval) and len(query.letters[0]) ** query.records <= 4096:
            slow, _ = timed(partial(written_out, query))
            row["rival"] = f"written out: {slow:.3f} s"
        else:
            row["rival"] = "written out: too large"
        rows.append(row)
        print(f"{name:<42} {seconds:8.3f} s  {row['bits']:.9f} bits  gap {row['gap']:.1e}  {row['rival']}")
    budget = 1 / F(log(2))
    seconds, one = timed(lambda: calibrate(Query(50, Interval(F(-1), F(1)), "mean", "gaussian", F(1)), budget))
    saved = 1 / (2.718281828459045**2 - 1) / float(one.parameter)
    rows.append({"query": "calibrate, Gaussian, one nat", "seconds": seconds, "variance_saved": saved})
    print(f"{'calibrate to one nat, Gaussian':<42} {seconds:8.3f} s  (117) asks for {saved:.4f} times the variance")
    for noise in ("geometric", "exponential", "randomised-response"):
        query = Query(500, (BITS,) * 500, "count", noise, F(1, 2))
        seconds, found = timed(partial(calibrate, query, F(1, 2)))
        assert found.beside is not None
        apart = abs(float(found.beside / found.parameter) - 1)
        name = f"calibrate, count, 500 bits, {noise}"
        rows.append({"query": name, "seconds": seconds, "apart": apart})
        print(f"{name:<52} {seconds:8.3f} s  the two proofs are {apart:.1e} apart")
    save("queries", "seconds and gap of the individual capacity of queries, against the channel written out", rows)


if __name__ == "__main__":
    main()
