"""Documents of rule levels: prices and multipliers from a linear program over any columns, for any of its problems."""

from itertools import product

import numpy as np

from dalenius.solvers.lp import maximise
from tests.kernel.documents import claims_of, design, local_dp

UNIT = 1 << 100  # of prices and multipliers


def rays(many, ratio):
    """The columns whose positive entries are powers of the ratio, none left out between two of them."""
    levels = (found for found in product(range(-1, many), repeat=many) if set(range(max(found))) <= set(found))
    found = [[0.0 if k < 0 else ratio ** (k - max(powers)) for k in powers] for powers in levels if max(powers) >= 0]
    return np.array(found)


def told(weights, column):
    """What a column c(x) tells about w beside k, for weights p(x, w, k)."""
    u = np.einsum("xwk,x->wk", weights, column)
    product_of = weights.sum(axis=(0, 2))[:, None] * u.sum(axis=0)[None, :]
    ratio = np.divide(u, product_of, out=np.ones_like(u), where=u > 0)
    return float((u * np.log2(ratio)).sum())


def best(weights, columns, epsilon, delta, pairs):
    """The most that a channel of these columns tells under the promise: the optimum of a linear program."""
    columns = columns / (columns @ weights.sum(axis=(1, 2)))[:, None]
    used = [np.maximum(0.0, columns[:, x] - np.exp(epsilon) * columns[:, y]) for x, y in pairs]
    gains = [told(weights, column) for column in columns]
    begin = np.concatenate([np.ones(columns.shape[1]), np.full(len(pairs), -np.inf)])
    end = np.concatenate([np.ones(columns.shape[1]), np.full(len(pairs), delta)])
    return maximise(gains, np.vstack([columns.T, *used]), begin, end)


def level_document(variables, outcomes, mechanism, about, weights, pairs, epsilon, delta, channel, given=(), rows=1):
    """A design whose bound is by the best prices; `weights` are p(x, w, k) of the inputs that occur."""
    one = (float(epsilon) / rows, float(delta) / rows)
    found = best(weights, rays(len(weights), np.exp(one[0])), *one, pairs)
    many = len(weights)
    proof = {
        "rule": "levels",
        "promise": 0,
        "prices": [str(int(v * UNIT)) for v in found.dual[:many]],
        "pairs": [[x, y, str(int(max(v, 0.0) * UNIT))] for (x, y), v in zip(pairs, found.dual[many:], strict=True)],
    }
    bound = f"{found.objective + 1e-9:.12f}"
    return design(
        variables,
        outcomes,
        mechanism,
        objective={"aim": "information", "about": list(about), "theta": "1"},
        promises=[local_dp(str(epsilon), *given, delta=str(delta), rows=rows)],
        channel=channel,
        claims=claims_of(bound=bound, gap=bound, promises=[[]]),
        proof=proof,
    )
