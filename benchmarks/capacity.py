"""How long until a capacity is known to a proved gap, and what do the coefficients and selections cost?

CPU seconds, proof included. Random rows: uniform numbers divided by their sum, or Dirichlet. Rivals in the same run:

    BA      plain Blahut-Arimoto in numpy until its own bracket is as narrow (its doubles are not proved)
    qif     qif.measure.shannon.add_capacity with the same tolerance; it gives no upper end
    SVD     numpy.linalg.svd for the maximal correlation
    all     the same search for selections with every row kept and no pairs, as a proof for the checker needs it

    python benchmarks/capacity.py [seeds]
"""

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg.lapack
import scipy.sparse.linalg  # noqa: F401  (imports are not what is timed)
from numpy.typing import NDArray
from reporting import save

from dalenius.core import Channel, Pmf
from dalenius.measures import individual_capacity, s_star
from dalenius.measures.individual import individual_proof
from dalenius.solvers.capacity import smallest_ball
from dalenius.solvers.contraction import correlation, pairwise_contraction, total_variation
from dalenius.solvers.divergence import Laws

Floats: TypeAlias = NDArray[np.float64]

GAP = 1e-9  # nats
ROUNDS = 300_000


def rows_of(kind: str, m: int, k: int, seed: int) -> Floats:
    rng = np.random.default_rng([seed, m, k])
    raw = rng.random((m, k)) if kind == "uniform" else rng.dirichlet(np.full(k, float(kind)), m)
    raw = np.where(raw < 1e-280, 0.0, raw)
    return raw / raw.sum(axis=1, keepdims=True)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    out = work()
    return time.process_time() - begin, out


def blahut_arimoto(rows: Floats) -> tuple[float, int]:
    w = np.full(len(rows), 1 / len(rows))
    h = (rows * np.log(np.where(rows > 0, rows, 1))).sum(axis=1)
    gap, n = np.inf, 0
    while n < ROUNDS:
        n += 1
        d = h - rows @ np.log(np.maximum(w @ rows, 1e-300))
        gap = float(d.max() - w @ d)
        if gap <= GAP:
            break
        w = w * np.exp(d - d.max())
        w /= w.sum()
    return gap, n


def by_qif(rows: Floats) -> float:
    import qif

    return float(qif.measure.shannon.add_capacity(rows, GAP / np.log(2), 0.0)[0]) * float(np.log(2))


def capacities(seeds: range) -> list[dict[str, Any]]:
    print(
        f"{'rows':>8} {'m x k':>12} {'seed':>4} {'seconds':>9} {'gap':>8}"
        f" {'BA, s':>9} {'gap':>8} {'x':>7} {'qif, s':>8} {'x':>7}"
    )
    out = []
    for kind, m, k, rivals in [
        ("uniform", 200, 200, "both"), ("0.1", 100, 100, "both"), ("1", 1000, 1000, ""), ("1", 100_000, 20, ""),
    ]:  # fmt: skip
        for seed in seeds:
            rows = rows_of(kind, m, k, seed)
            seconds, ball = min(
                (timed(lambda r=rows: smallest_ball(Laws.normalised(r), gap=GAP)) for _ in range(3)), key=lambda t: t[0]
            )
            result: dict[str, Any] = {
                "rows": kind, "m": m, "k": k, "seed": seed, "seconds": seconds, "gap": ball.high - ball.low,
                "nats": ball.low,
            }  # fmt: skip
            line = f"{kind:>8} {f'{m} x {k}':>12} {seed:>4} {seconds:>9.4f} {result['gap']:>8.1e}"
            if rivals:
                took, (gap, rounds) = timed(lambda r=rows: blahut_arimoto(r))
                result["BA"] = {"seconds": took, "gap": gap, "rounds": rounds}
                line += f" {took:>9.3f} {gap:>8.1e} {took / seconds:>7.0f}"
                took, value = timed(lambda r=rows: by_qif(r))
                result["qif"] = {"seconds": took, "below_our_upper_end": ball.high - value}
                line += f" {took:>8.3f} {took / seconds:>7.0f}"
            out.append(result)
            print(line, flush=True)
    return out


def selections(seeds: range) -> list[dict[str, Any]]:
    print(
        f"\n{'letters':>7} {'n':>3} {'|Y|':>4} {'seed':>4} {'selections':>11}"
        f" {'seconds':>8} {'gap, bits':>9} {'all, s':>8} {'x':>5}"
    )
    out = []
    for letters, n, k in [(3, 4, 3), (3, 6, 4), (2, 10, 4), (4, 5, 5), (3, 5, 10), (2, 8, 20)]:
        for seed in seeds:
            rows = rows_of("1", letters**n, k, seed)
            names = {f"X{i}": tuple(map(str, range(letters))) for i in range(n)}
            channel = Channel.rationalise(names, {"Y": tuple(map(str, range(k)))}, rows.tolist())
            seconds, found = timed(lambda c=channel: individual_capacity(c))
            count = float(n) * float(letters ** (n - 1)) ** letters
            gap, (every, _) = found.high - found.low, timed(lambda c=channel: individual_proof(c))
            out.append(
                {"letters": letters, "n": n, "k": k, "seed": seed, "seconds": seconds, "gap": gap, "all rows": every}
            )
            print(
                f"{letters:>7} {n:>3} {k:>4} {seed:>4} {count:>11.1e} {seconds:>8.3f} {gap:>9.1e}"
                f" {every:>8.3f} {every / seconds:>5.1f}",
                flush=True,
            )
    return out


def coefficients(seeds: range) -> list[dict[str, Any]]:
    print(f"\n{'what':>16} {'seed':>4} {'seconds':>8} {'width':>8} {'SVD, s':>8} {'x':>5}")
    out = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        p, rows = rng.dirichlet(np.ones(1000)), rows_of("1", 1000, 1000, seed)
        seconds, (low, high, _) = timed(lambda p=p, r=rows: correlation(p, r))
        q = np.sqrt(p)[:, None] * rows / np.sqrt(p @ rows) - np.outer(np.sqrt(p), np.sqrt(p @ rows))
        svd, values = timed(lambda q=q: np.linalg.svd(q))
        assert low - 1e-9 <= values[1][0] <= high
        out.append({"what": "rho_m 1000 x 1000", "seed": seed, "seconds": seconds, "width": high - low, "SVD": svd})
        print(
            f"{'rho_m 1000x1000':>16} {seed:>4} {seconds:>8.3f} {high - low:>8.1e} {svd:>8.3f} {svd / seconds:>5.1f}",
            flush=True,
        )
        rows = rows_of("1", 100, 100, seed)
        seconds, (low, high) = timed(lambda r=rows: pairwise_contraction(r, total_variation(r)[1]))
        out.append({"what": "eta_KL 100 x 100", "seed": seed, "seconds": seconds, "width": high - low})
        print(f"{'eta_KL 100x100':>16} {seed:>4} {seconds:>8.3f} {high - low:>8.1e}", flush=True)
        for n in (3, 4):
            rows, counts = rows_of("0.7", n, n, seed), rng.integers(1, 50, n).tolist()
            letters = tuple(map(str, range(n)))
            channel = Channel.rationalise({"X": letters}, {"Y": letters}, rows.tolist())
            prior = Pmf.from_records(
                {"X": letters}, [((a,), Fraction(c, sum(counts))) for a, c in zip(letters, counts, strict=True)]
            )
            seconds, (low, high) = timed(lambda p=prior, c=channel: s_star(p, c))
            out.append({"what": f"S* {n} x {n}", "seed": seed, "seconds": seconds, "width": (high - low) / low})
            print(f"{f'S* {n}x{n}':>16} {seed:>4} {seconds:>8.3f} {(high - low) / low:>8.1e}", flush=True)
    return out


def main() -> None:
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    results = capacities(seeds) + selections(seeds) + coefficients(seeds)
    save("capacity", "seconds to a proved capacity, against Blahut-Arimoto and qif", results, seeds=list(seeds))


if __name__ == "__main__":
    main()
