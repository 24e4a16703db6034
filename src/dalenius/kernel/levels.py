"""Rule "levels": the most information under local DP with a delta, for few inputs (proof in kernel-rules.md).

With prices z(x), multipliers m(x, x') >= 0 for two inputs of one world, and r not below e^epsilon, if in every column

    phi(c)  <=  sum_x z(x) c(x) + sum m(x, x') (c(x) - r c(x'))_+ + tau sum_x p(x) c(x)                              (1)

no mechanism tells more than sum z + delta sum m + tau. Columns whose positive entries are powers of r, every one from
the least to the greatest, are enough.
"""

from fractions import Fraction
from itertools import product

from dalenius.kernel.document import Limits, Promises
from dalenius.kernel.logs import BITS, exp
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, require
from dalenius.kernel.objective import Objective
from dalenius.kernel.posteriors import Posteriors
from dalenius.kernel.promises import LocalDP
from dalenius.kernel.rows import MOST_NATS, SCORE, of_one_row

MOST_INPUTS = 6


def bound_by_levels(setting: Setting, promises: Promises, _: Limits, objective: Objective, proof: Node) -> Fraction:
    """sum z + delta sum m + the least tau; prices and multipliers in units of 2^-SCORE."""
    require(objective.maximise, "levels are for information")
    which, prices, pairs = proof.fields("rule", "promise", "prices", "pairs")[1:]
    promise = promises[which.place(len(promises))]
    if not isinstance(promise, LocalDP) or promise.metric is not None:
        raise which.refuse("levels need a promise of local_dp without a metric")
    epsilon, delta = of_one_row(promise)
    require(epsilon <= MOST_NATS, "this promise restricts nothing that a proof could use")
    ratio = exp(epsilon)[1]
    inputs = list(setting.mass)
    many = len(inputs)
    require(many <= MOST_INPUTS, f"levels are for up to {MOST_INPUTS} inputs that occur")
    z = prices.wholes()
    prices.require(len(z) == many, "there is not one price for each input that occurs")
    worlds = setting.worlds(promise.given)
    weights = []
    for pair in pairs.items():
        first, second, weight = pair.pair(3)
        x, other = first.place(many), second.place(many)
        # Of two worlds the promise says nothing: their terms would be paid for by nobody.
        pair.require(worlds[inputs[x]] == worlds[inputs[other]], "the promise does not speak of these two inputs")
        weights.append((x, other, weight.whole(0)))
    told = Posteriors(setting, objective.about)
    top, bottom = ratio.numerator, ratio.denominator
    longest = max(abs(number) for number in (*z, *(m for _, _, m in weights))).bit_length()
    needs = []
    setting.work.spend(4 * (many + 1) ** many)
    for levels in product(range(-1, many), repeat=many):
        highest = max(levels)
        # No power left out between two others: only these are rays.
        if highest < 0 or not set(range(highest)) <= set(levels):
            continue
        column = [0 if k < 0 else top**k * bottom ** (highest - k) for k in levels]
        setting.work.spend(20 * (many + len(weights)) + 10 * len(told.keys), max(column).bit_length() + longest)
        used = [(x, c) for x, c in zip(inputs, column, strict=True) if c]
        whole = sum(c * setting.mass[x] for x, c in used)
        paid = sum(c * price * bottom for c, price in zip(column, z, strict=True))
        paid += sum(m * max(0, bottom * column[i] - top * column[j]) for i, j, m in weights)
        over = (paid * setting.total << BITS - SCORE) // (whole * bottom)  # down: what is paid is subtracted from phi
        needs.append(told.phi_of_column(used, whole) - over)
    spent = sum(z) + delta * sum(m for _, _, m in weights)
    return Fraction(spent) / (1 << SCORE) + Fraction(max(needs), 1 << BITS)
