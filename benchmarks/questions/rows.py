"""Randomising rows: one column of twelve letters under randomised response at level 1, drawn row by row."""

from collections.abc import Callable
from fractions import Fraction
from math import e
from typing import Any

import numpy as np

TITLE = "Randomised response on a column of twelve letters"
SIZE = "rows"
SIZES = [10_000, 100_000, 1_000_000, 10_000_000]
WARM = True
SENSE = "max"
TOLERANCE = 1.0
LETTERS = 12
LACKS = "exact probabilities and a cryptographic stream"

Work = Callable[[], dict[str, Any]]


def column(size: int) -> Any:
    return np.random.default_rng([7, size]).integers(0, LETTERS, size)


def _kept(before: Any, after: Any) -> dict[str, Any]:
    return {"kept": float(np.mean(np.asarray(before) == np.asarray(after)))}


def ours(size: int) -> Work:
    """The exact law, words of AES-256 in counter mode."""
    from dalenius.sampling.key import Key
    from dalenius.sampling.sampler import Sampler
    from dalenius.sampling.stream import Stream

    ratio = Fraction(2718281828, 10**9)
    other = 1 / (ratio + LETTERS - 1)
    rows = [[ratio * other if x == y else other for y in range(LETTERS)] for x in range(LETTERS)]
    codes = column(size)
    return lambda: _kept(codes, Sampler(rows).draw(codes, Stream(Key.unsafe(7).derive("benchmark"))))


def numpy_floats(size: int) -> Work:
    """Vectorised numpy with floats and PCG64: fast, neither exact nor cryptographic."""
    codes = column(size)
    keep = e / (e + LETTERS - 1)

    def work() -> dict[str, Any]:
        rng = np.random.default_rng(7)
        moved = (codes + rng.integers(1, LETTERS, size)) % LETTERS
        return _kept(codes, np.where(rng.random(size) < keep, codes, moved)) | {"lacks": LACKS}

    return work


def by_opendp(size: int) -> Work:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    keep = e / (e + LETTERS - 1)
    respond = dp.m.make_randomized_response(categories=list(range(LETTERS)), prob=keep)
    codes = column(size).tolist()
    return lambda: _kept(codes, [respond(x) for x in codes])


def by_multi_freq(size: int) -> Work:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    GRR_Client(0, LETTERS, 1.0)  # compiles
    codes = column(size).tolist()
    return lambda: _kept(codes, [GRR_Client(x, LETTERS, 1.0) for x in codes])


def by_pure_ldp(size: int) -> Work:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(epsilon=1.0, d=LETTERS)
    codes = (column(size) + 1).tolist()
    return lambda: _kept(codes, np.array([client.privatise(x) for x in codes]) + 1)


def by_diffprivlib(size: int) -> Work:
    """A binary column: the library has randomised response for two values only."""
    from diffprivlib.mechanisms import Binary

    respond = Binary(epsilon=1.0, value0="0", value1="1")
    codes = [str(int(x) % 2) for x in column(size)]
    return lambda: _kept(codes, [respond.randomise(x) for x in codes])


def floor_of_random_bits(size: int) -> Work:
    """What cannot be saved: 64 random bits for each row from AES-256 in counter mode."""
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import CTR

    chunk = min(8 * size, 1 << 18)  # stays in the cache
    nothing = bytes(chunk)
    bits = bytearray(chunk + 15)

    def work() -> dict[str, Any]:
        encryptor = Cipher(AES(bytes(32)), CTR(bytes(16))).encryptor()
        for _ in range(-(-8 * size // chunk)):
            encryptor.update_into(nothing, bits)
        return {}

    return work


def floor_of_memory(size: int) -> Work:
    """What cannot be saved: the codes are read and written once."""
    codes = column(size)
    written = codes.copy()  # memory that is there already: the first touch of a page is no part of the floor

    def work() -> dict[str, Any]:
        np.copyto(written, codes)
        return {}

    return work


CONTENDERS = {
    "dalenius": ours,
    "numpy (floats, not secure)": numpy_floats,
    "OpenDP": by_opendp,
    "multi-freq-ldpy": by_multi_freq,
    "pure-ldp": by_pure_ldp,
    "diffprivlib (two letters)": by_diffprivlib,
    "dalenius's floor: random bits": floor_of_random_bits,
    "dalenius's floor: memory": floor_of_memory,
}
