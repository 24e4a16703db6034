"""How fast and how near is the most likely law, against expectation-maximisation, and do the intervals cover?

The gap is a proved bound on the log-likelihood that is missing, in nats; that of EM is its distance to ours. EM
starts from the uniform law and stops after the iterations in the table, or when no entry moves by 1e-13. Times are CPU
seconds of one thread. The second table counts, in 2,000 releases of scenario I of paper 002 (10 categories, 10,000
rows, k-ary randomised response), how often the 95 % intervals of the unbiased estimate hold the truth: the lowest and
the highest share over the categories. The third does so where released letters are few: channels that tell a record as
it is with probability delta, and small tables; beside it the same for estimate +- 1.96 standard errors.

    python benchmarks/estimation.py
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from reporting import save

from dalenius.core import LocalDP, MaximizeInformation, Pmf, Problem
from dalenius.measures import Factor, Seen, estimate_law, factors_of
from dalenius.mechanisms import solve
from dalenius.solvers.likelihood import Fit, RankOne, maximum_likelihood, water_filling

SEED = 1
SCENARIO_I = np.array([0.3, 0.1, 0.2, 0.08, 0.02, 0.04, 0.06, 0.1, 0.01, 0.09])
Array = npt.NDArray[Any]


def em(M: Array, share: Array, most: int) -> tuple[Array, int]:
    p = np.full(len(M), 1 / len(M))
    for k in range(most):
        after = p * (M @ np.divide(share, p @ M, out=np.zeros_like(share), where=share > 0))
        if np.abs(after - p).max() < 1e-13:
            return after, k + 1
        p = after
    return p, most


def timed(call: Callable[[], Any], repeat: int = 5) -> tuple[Any, float]:
    best, answer = np.inf, None
    for _ in range(repeat):
        start = time.process_time()
        answer = call()
        best = min(best, time.process_time() - start)
    return answer, best


def response(S: int, alpha: float, n: int) -> tuple[RankOne, Array]:
    rng = np.random.default_rng([SEED, S])
    q = np.exp(alpha) / (np.exp(alpha) + S - 1)
    b = (1 - q) / (S - 1)
    law = RankOne(np.full(S, q - b), np.full(S, b), np.ones(S))
    m = law.forward(rng.dirichlet(np.ones(S)))
    return law, rng.multinomial(n, m / m.sum()).astype(float)


def general(S: int, n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng([SEED, S, 2])
    M = rng.dirichlet(np.ones(S), size=S)
    return M, rng.multinomial(n, rng.dirichlet(np.ones(S)) @ M).astype(float)


def log_likelihood(m: Array, n: Array) -> float:
    return float(n[n > 0] @ np.log(m[n > 0]))


def main() -> None:
    rows = []
    head = f"{'matrix':<22} {'S':>7} {'n':>9} {'seconds':>9} {'gap':>8} {'EM s':>8} {'EM steps':>8} {'EM gap':>9}"
    print(head)
    cases = [("randomised response", S, 953_076) for S in (10, 100, 1000, 100_000)]
    cases += [("general", S, n) for S in (10, 100, 300) for n in (10_000, 953_076)]
    for kind, S, n in cases:
        if kind == "general":
            M, counts = general(S, n)
            fit, seconds = timed(lambda M=M, counts=counts: maximum_likelihood(M, counts))
        else:
            law, counts = response(S, 2.0, n)
            fit = maximum_likelihood(law, counts)
            b, d = float(law.u[0]), float(law.d[0])
            _, seconds = timed(lambda counts=counts, b=b, d=d: water_filling(counts / counts.sum(), b, d))
            M = np.diag(law.d) + np.outer(law.u, law.v) if S <= 1000 else np.empty((0, 0))
        assert isinstance(fit, Fit)
        row: dict[str, Any] = {"matrix": kind, "letters": S, "rows": n, "seconds": seconds, "gap_nats": fit.gap}
        if len(M):
            steps = {10: 20_000, 100: 20_000, 300: 5_000}.get(S, 300)
            (p, used), slow = timed(lambda M=M, c=counts, s=steps: em(M, c / c.sum(), s), 1)
            row |= {"em_seconds": slow, "em_steps": used}
            row["em_gap_nats"] = fit.log_likelihood - log_likelihood(p @ M, counts)
            rival = f"{slow:8.2f} {used:8d} {row['em_gap_nats']:9.1e}"
        else:
            rival = f"{'not run':>8} {'':>8} {'':>9}"
        print(f"{kind:<22} {S:>7} {n:>9} {seconds:9.5f} {fit.gap:8.1e} {rival}", flush=True)
        rows.append(row)
    print(f"\n{'target':<12} {'alpha':>5} {'lowest':>7} {'highest':>7}")
    shares = []
    for target in ("table", "population"):
        for alpha in (0.5, 1.0, 1.5, 2.0):
            inside = coverage(alpha, target, 2000)
            print(f"{target:<12} {alpha:5.1f} {inside.min():7.4f} {inside.max():7.4f}", flush=True)
            shares.append({"target": target, "alpha": alpha, "coverage": inside.tolist()})
    print(f"\n{'few rows':<34} {'target':<12} {'lowest':>7} {'normal':>7} {'exact':>6}")
    thin = []
    for words, factor, p, n in few_rows():
        for target in ("table", "population"):
            inside, plain, exact = thin_coverage(factor, p, n, target, 500)
            print(f"{words:<34} {target:<12} {inside.min():7.3f} {plain.min():7.3f} {exact:6.0%}", flush=True)
            row = {"case": words, "target": target, "coverage": inside.tolist(), "normal": plain.tolist()}
            thin.append(row | {"exact": exact})
    question = "the most likely law against expectation-maximisation, and the coverage of intervals"
    save("estimation", question, rows, seed=SEED, coverage=shares, few_rows=thin)


def coverage(alpha: float, target: str, repetitions: int) -> Array:
    rng = np.random.default_rng([SEED, int(10 * alpha), len(target)])
    away = np.exp(-alpha) / (1 + 9 * np.exp(-alpha))
    M, n = np.full((10, 10), away) + (1 - 10 * away) * np.eye(10), 10_000
    letters = {"X": tuple("abcdefghij")}
    factor, inside = Factor(letters, letters, dense=M), np.zeros(10)
    for _ in range(repetitions):
        table = np.round(SCENARIO_I * n).astype(int) if target == "table" else rng.multinomial(n, SCENARIO_I)
        fit = estimate_law([factor], Seen.of(rng.multinomial(table, M).sum(axis=0)), target=target)
        inside += (fit.low <= SCENARIO_I) & (fit.high >= SCENARIO_I)
    return inside / repetitions


def few_rows() -> list[tuple[str, Factor, Array, int]]:
    cases, letters = [], {"X": tuple("abcdefghij")}
    counts = [((x,), round(1000 * v)) for x, v in zip(letters["X"], SCENARIO_I, strict=True)]
    joint = Pmf.from_records(letters, counts)
    for delta in ("1/1000000", "1/10000", "1/1000", "1/100"):
        promise = LocalDP(1, delta=delta)
        design = solve(Problem(("X",), MaximizeInformation(("X",)), (promise,), output="Y", joint=joint))
        cases.append((f"scenario I, delta {delta}", factors_of(design.channel)[0], SCENARIO_I, 10_000))
    p, four = np.array([0.5, 0.3, 0.15, 0.05]), {"X": tuple("abcd")}
    for n in (20, 40, 80):
        away = np.exp(-2) / (1 + 3 * np.exp(-2))
        M = np.full((4, 4), away) + (1 - 4 * away) * np.eye(4)
        cases.append((f"{n} rows, four letters, level 2", Factor(four, four, dense=M), p, n))
    return cases


def thin_coverage(factor: Factor, p: Array, n: int, target: str, repetitions: int) -> tuple[Array, Array, float]:
    """How often intervals hold the truth, how often normal ones would, and the share of exact ones."""
    rng, inside, plain, exact = np.random.default_rng([SEED, n]), np.zeros(len(p)), np.zeros(len(p)), 0.0
    M = factor.forward(np.eye(factor.letters))
    for _ in range(repetitions):
        table = np.round(p * n).astype(int) if target == "table" else rng.multinomial(n, p)
        fit = estimate_law(
            [factor], Seen.of(rng.multinomial(table, M / M.sum(axis=1)[:, None]).sum(axis=0)), target=target
        )
        inside += (fit.low <= p + 1e-12) & (fit.high >= p - 1e-12)
        plain += np.abs(fit.estimate - p) <= 1.959964 * np.sqrt(fit.variance)
        exact += float(fit.exact.mean())
    return inside / repetitions, plain / repetitions, exact / repetitions


if __name__ == "__main__":
    main()
