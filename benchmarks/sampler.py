"""How many rows a second does the exact sampler draw, against the ways one would write it in an afternoon?

One thread, random channels with weights 1..999, inputs uniform. Every contestant's law is tested as well: a
fast sampler of the wrong law is not a rival. Rivals run on fewer rows where they are slow; rates are per row.

    exact      Sampler.draw: AES-256 words, exact law, cryptographic
    choices    random.choices, row by row in Python: float law, not secure
    float      numpy, PCG64, float inverse cdf, the faster of K - 1 compares and one searchsorted per input
    urandom    numpy, words of os.urandom, K - 1 compares with 64-bit integers: secure, law within 2^-64

Beside them two floors, in turn with the exact sampler in the same run, in processor time: the key stream alone (one
block of AES-256 a row) and the memory alone (codes read, letters written). The bar is twice the larger one.

    python benchmarks/sampler.py
"""

import os
import random
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from reporting import save

from dalenius.sampling.key import Key
from dalenius.sampling.sampler import Sampler
from dalenius.sampling.stream import Stream

SEED = 1
CHUNK = 1 << 17
Codes = npt.NDArray[np.uint16] | npt.NDArray[np.uint8]
Draw = Callable[[Any], npt.NDArray[Any]]


def channel(letters: int) -> list[list[Fraction]]:
    weights = np.random.default_rng([SEED, letters]).integers(1, 1000, (letters, letters)).tolist()
    return [[Fraction(w, sum(row)) for w in row] for row in weights]


def choices(rows: list[list[Fraction]]) -> Draw:
    letters = range(len(rows))
    cumulated = [np.cumsum([float(p) for p in row]).tolist() for row in rows]
    source = random.Random(SEED)
    return lambda codes: np.array([source.choices(letters, cum_weights=cumulated[x])[0] for x in codes.tolist()])


def compares(thresholds: npt.NDArray[Any], uniforms: Callable[[int], npt.NDArray[Any]]) -> Draw:
    by_letter = np.ascontiguousarray(thresholds.T)

    def draw(codes: Codes) -> npt.NDArray[Any]:
        letters = np.zeros(codes.size, dtype=np.min_scalar_type(len(thresholds)))
        for begin in range(0, codes.size, CHUNK):
            inputs = codes[begin : begin + CHUNK]
            u = uniforms(inputs.size)
            for threshold in by_letter:
                letters[begin : begin + CHUNK] += u >= threshold[inputs]
        return letters

    return draw


def searches(thresholds: npt.NDArray[Any], uniforms: Callable[[int], npt.NDArray[Any]]) -> Draw:
    def draw(codes: Codes) -> npt.NDArray[Any]:
        letters = np.empty(codes.size, dtype=np.min_scalar_type(len(thresholds)))
        u = uniforms(codes.size)
        order = np.argsort(codes, kind="stable")
        edges = np.searchsorted(codes[order], np.arange(len(thresholds) + 1))
        for x, row in enumerate(thresholds):
            of_input = order[edges[x] : edges[x + 1]]
            letters[of_input] = np.searchsorted(row, u[of_input], side="right")
        return letters

    return draw


def rate(draw: Draw, codes: Codes, repeats: int) -> tuple[float, npt.NDArray[Any]]:
    """Rows a second, the best of a few runs, and the letters of the last one."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        drawn = draw(codes)
        best = min(best, time.perf_counter() - begin)
    return codes.size / best, drawn


def key_stream(rows: int) -> None:
    """One block of AES-256 in counter mode for each row, in a buffer that stays in the cache."""
    size = 1 << 14
    nothing = bytes(16 * size)
    blocks = bytearray(16 * size)
    encryptor = Cipher(AES(bytes(32)), CTR(bytes(16))).encryptor()
    for _ in range(0, rows, size):
        encryptor.update_into(nothing, blocks)


def floors(sampler: Sampler, stream: Stream, codes: Codes) -> dict[str, float]:
    """Nanoseconds a row of the sampler and of what it cannot do without, the best of nine turns, and the ratio."""
    written = codes.copy()
    works = {
        "exact": lambda: sampler.draw(codes, stream),
        "key stream": lambda: key_stream(codes.size),
        "memory": lambda: np.copyto(written, codes),
    }
    best = dict.fromkeys(works, float("inf"))
    for _ in range(9):
        for name, work in works.items():
            begin = time.process_time()
            work()
            best[name] = min(best[name], (time.process_time() - begin) / codes.size * 1e9)
    return best | {"ratio": best["exact"] / max(best["key stream"], best["memory"])}


def deviation(codes: Codes, drawn: npt.NDArray[Any], rows: list[list[Fraction]]) -> float:
    """Pearson's statistic, as standard deviations above its mean; far above 5 means a wrong law."""
    k = len(rows)
    counts = np.bincount(codes.astype(np.int64) * k + drawn, minlength=k * k).reshape(k, k)
    expected = np.array([[float(p) for p in row] for row in rows]) * counts.sum(axis=1, keepdims=True)
    freedom = k * (k - 1)
    return float((((counts - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom))


def contest(letters: int, size: int) -> dict[str, Any]:
    rows = channel(letters)
    codes = np.random.default_rng([SEED, letters, 1]).integers(0, letters, size).astype(np.min_scalar_type(letters))
    begin = time.perf_counter()
    sampler = Sampler(rows)
    build = time.perf_counter() - begin
    stream = Stream(Key.unsafe(SEED).derive("benchmark", str(letters)))

    cdf = np.cumsum([[float(p) for p in row] for row in rows], axis=1)[:, :-1]
    tops = np.zeros((letters, letters - 1), dtype=np.uint64)
    for x, row in enumerate(rows):
        reached = Fraction(0)
        for j, p in enumerate(row[:-1]):
            reached += p
            tops[x, j] = (reached.numerator << 64) // reached.denominator
    floats = np.random.default_rng(SEED).random
    slow = min(size, 1_000_000_000 // letters // 10)

    def urandom(n: int) -> npt.NDArray[np.uint64]:
        return np.frombuffer(os.urandom(8 * n), dtype=np.uint64)

    entrants: dict[str, tuple[Draw, int]] = {
        "exact": (lambda x: sampler.draw(x, stream), size),
        "choices": (choices(rows), 100_000),
        "float compares": (compares(cdf, floats), slow),
        "float searchsorted": (searches(cdf, floats), size),
        "urandom": (compares(tops, urandom), slow),
    }
    result: dict[str, Any] = {"letters": letters, "rows": size, "build_seconds": build}
    result["floors"] = floors(sampler, stream, codes)
    for name, (draw, some) in entrants.items():
        speed, drawn = rate(draw, codes[:some], 3 if name == "exact" or letters <= 12 else 1)
        result[name] = {"rows": some, "rows_per_second": speed}
        # Pearson's statistic has its law only where every cell is expected a few times.
        if some >= 5 * letters * letters:
            result[name]["law_deviation"] = deviation(codes[:some], drawn, rows)
    result["float"] = max(
        (result[name] for name in ("float compares", "float searchsorted")), key=lambda r: r["rows_per_second"]
    )
    ours = result["exact"]["rows_per_second"]
    result["times_faster"] = {n: ours / result[n]["rows_per_second"] for n in ("choices", "float", "urandom")}
    return result


def main() -> None:
    results = [contest(letters, 10_000_000) for letters in (2, 12, 100, 1000)]
    print("million rows a second, one thread (in brackets: how many times slower than exact)")
    print(f"{'letters':>8} {'build s':>8} {'exact':>8} {'choices':>18} {'float':>18} {'urandom':>18}   worst law")
    for r in results:
        rivals = "".join(
            f"{r[name]['rows_per_second'] / 1e6:>10.2f} {'(' + format(r['times_faster'][name], '.1f') + ')':<8}"
            for name in ("choices", "float", "urandom")
        )
        worst = max(v["law_deviation"] for v in r.values() if isinstance(v, dict) and "law_deviation" in v)
        ours = r["exact"]["rows_per_second"] / 1e6
        print(f"{r['letters']:>8} {r['build_seconds']:>8.3f} {ours:>8.1f} {rivals}   {worst:+.1f} sd")
    print("nanoseconds of processor time a row, and the ratio to the larger floor (the bar is 2)")
    for r in results:
        own = r["floors"]
        words = ", ".join(f"{name} {own[name]:.2f}" for name in ("exact", "key stream", "memory"))
        print(f"{r['letters']:>8} letters: {words}; ratio {own['ratio']:.2f}")
    save("sampler", "rows a second of the exact sampler against naive rivals, one thread", results, seed=SEED)


if __name__ == "__main__":
    main()
