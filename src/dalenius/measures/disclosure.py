r"""What no private disclosure can exceed, and what a given mapping gives away; no solver needed.

All of it is stated for views g, groups of variables that Y must be independent of jointly; the paper's samples X_i are
the views of one variable each. Bounds are in bits.

References: Rassouli, Rosas & Gündüz, "Data Disclosure under Perfect Sample Privacy" (paper 000), section II.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, inf
from typing import Any, TypeAlias

import numpy as np

from dalenius.core import Kernel, Pmf
from dalenius.core.numbers import written
from dalenius.errors import InputError, MismatchError
from dalenius.measures.shannon import (
    Names,
    conditional_mutual_information,
    entropy,
    independent,
    mutual_information,
)

__all__ = [
    "Exposure",
    "UpperBounds",
    "disclosure_bounds",
    "efficiency_bound",
    "examine_mapping",
    "incidence",
    "surprisal_bound",
    "view_bound",
    "withheld_bound",
]

Views: TypeAlias = Sequence[Names]


@dataclass(frozen=True)
class UpperBounds:
    """Upper bounds in bits on the disclosure capacity I_s(W, X), and the least of them.

    `view_bits` is Proposition 2 with the view that gives it; `surprisal_bits` bounds all that can be said about X,
    hence about any W; infinite where it does not apply.

    Parameters
    ----------
    entropy_bits : float
        H(X).
    view_bits : float
        By the best view.
    tightest_view : names
        Which one that is.
    surprisal_bits : float
        By surprisals.
    """

    entropy_bits: float
    view_bits: float
    tightest_view: tuple[str, ...]
    surprisal_bits: float


def view_bound(pmf: Pmf, about: Names, samples: Names, view: Names) -> float:
    """I_s <= I(W; X | X_g), Proposition 2 eq. (4) for a group g instead of one sample.

    Because I(W; Y) <= I(W, X_g; Y) = I(W; Y | X_g). It also holds for a view that the mechanism does not observe.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    about : names
        The variables W.
    samples : names
        The observed samples X.
    view : names
        One of them.

    Returns
    -------
    float
        In bits.

    >>> from dalenius.testing import xor
    >>> view_bound(xor().pmf, ["W"], ["X1", "X2"], ["X1"])
    1.0
    """
    return conditional_mutual_information(pmf, about, samples, view)


def withheld_bound(pmf: Pmf, about: Names, samples: Names, views: Views) -> float:
    """I(W; X) - I_s >= max_g I(W; X_g), Remark 2 eq. (8): what privacy withholds at least.

    For a view outside the samples the right side is I(W; X) - I(W; X | X_g), which may be negative and then says
    nothing.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    about : names
        The variables W.
    samples : names
        The observed samples X.
    views : sequence of names
        Groups of samples that are protected.

    Returns
    -------
    float
        In bits.

    >>> from dalenius.testing import example2
    >>> round(withheld_bound(example2().pmf, ["W"], ["X1", "X2"], [["X1"], ["X2"]]), 12)
    0.5
    """
    least = 0.0
    for view in views:
        if set(view) <= set(samples):
            least = max(least, mutual_information(pmf, about, view))
        else:
            least = max(least, mutual_information(pmf, about, samples) - view_bound(pmf, about, samples, view))
    return least


def efficiency_bound(pmf: Pmf, views: Views) -> float:
    """eta(X) <= 1 - max_g H(X_g) / H(X) for self-disclosure, Lemma 6; X is all variables of the pmf.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    views : sequence of names
        Groups of samples that are protected.

    Returns
    -------
    float

    >>> from dalenius.testing import self_disclosure
    >>> efficiency_bound(self_disclosure(["1/2", "1/2"], 4).pmf, [["X1"], ["X2"], ["X3"], ["X4"]])
    0.75
    """
    whole = entropy(pmf, list(pmf.variables))
    if not whole:
        raise InputError("the samples are constant: there is nothing to disclose about them")
    return 1.0 - max((entropy(pmf, view) for view in views), default=0.0) / whole


def surprisal_bound(pmf: Pmf, samples: Names, views: Views) -> float:
    """I_s <= H(X) - E[max_g log2(1 / p(X_g))], the Fréchet-surprisal bound.

    Not in the paper. A column v of S has v(x) <= min_g p(x_g), so H(X | Y=y) >= sum_x v(x) max_g log2(1 / p(x_g)), and
    the mean over y is an expectation under p. Never above Lemma 6, because E max >= max E.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    samples : names
        The observed samples X.
    views : sequence of names
        Groups of samples that are protected.

    Returns
    -------
    float
        In bits.

    >>> from dalenius.testing import self_disclosure
    >>> pmf = self_disclosure(["9/10", "1/10"], 4).pmf
    >>> round(surprisal_bound(pmf, list(pmf.variables), [["X1"], ["X2"], ["X3"], ["X4"]]), 3)
    0.634
    """
    _inside(samples, views)
    joint = pmf.marginal(samples)
    rarest = np.full(len(joint), float(joint.total))
    for view in views:
        counts = joint.counts(view)
        _, index = joint.grouped(view)
        rarest = np.minimum(rarest, counts[index].astype(np.float64))
    p = np.true_divide(joint.weights, joint.total).astype(np.float64)
    return entropy(joint, samples) - fsum(p * np.log2(float(joint.total) / rarest))


def disclosure_bounds(pmf: Pmf, about: Names, samples: Names, views: Views) -> UpperBounds:
    r"""All upper bounds on I_s(W, X) that need no solver.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    about : names
        The variables W.
    samples : names
        The observed samples X.
    views : sequence of names
        Groups of samples that are protected.

    Returns
    -------
    UpperBounds
        In bits.

    >>> from dalenius.testing import xor
    >>> disclosure_bounds(xor().pmf, ["W"], ["X1", "X2"], [["X1"], ["X2"]])
    UpperBounds(entropy_bits=1.0, view_bits=1.0, tightest_view=('X1',), surprisal_bits=1.0)
    """
    bits, tightest = min(
        ((view_bound(pmf, about, samples, view), tuple(view)) for view in views),
        default=(mutual_information(pmf, about, samples), ()),
        key=lambda found: found[0],
    )
    inside = all(set(view) <= set(samples) for view in views)
    return UpperBounds(entropy(pmf, about), bits, tightest, surprisal_bound(pmf, samples, views) if inside else inf)


@dataclass(frozen=True)
class Exposure:
    """What a mapping tells about one view: alone, and to someone who knows all the other views.

    The two flags are decided on integers: `independent` says that `leakage_bits` is exactly zero.

    Parameters
    ----------
    view : names
        One of them.
    leakage_bits : float
        I(X_g; Y).
    independent : bool
        Whether that is exactly 0.
    given_others_bits : float
        Given all other views.
    independent_given_others : bool
        Whether that is exactly 0.
    """

    view: tuple[str, ...]
    leakage_bits: float
    independent: bool
    given_others_bits: float
    independent_given_others: bool


def examine_mapping(pmf: Pmf, channel: Kernel, views: Views) -> tuple[Exposure, ...]:
    r"""I(X_g; Y) and I(X_g; Y | the other views) of a given mapping, of any form, for every view; Definition 1 eq. (1).

    The second figure is not in the paper: perfect sample privacy leaves it open, and it is often all of the first bit.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    channel : Kernel
        p(output | inputs).
    views : sequence of names
        Groups of samples that are protected.

    Returns
    -------
    tuple of Exposure
        One for each view.

    >>> from dalenius.testing import xor
    >>> from dalenius.core import Channel
    >>> bits = ("0", "1")
    >>> tell = Channel({"X1": bits, "X2": bits}, {"Y": bits}, ((1, 0), (0, 1), (0, 1), (1, 0)))
    >>> examine_mapping(xor().pmf, tell, [["X1"], ["X2"]])[0]
    Exposure(view=('X1',), leakage_bits=0.0, independent=True, given_others_bits=1.0, independent_given_others=False)
    """
    joint = channel.after(pmf)
    output = list(channel.output)
    everyone = list(dict.fromkeys(name for view in views for name in view))
    found = []
    for view in views:
        others = [name for name in everyone if name not in view]
        found.append(
            Exposure(
                tuple(view),
                mutual_information(joint, view, output),
                independent(joint, view, output),
                conditional_mutual_information(joint, view, output, others),
                independent(joint, view, output, others),
            )
        )
    return tuple(found)


def incidence(pmf: Pmf, samples: Names, views: Views) -> dict[str, Any]:
    """The hypergraph of Remark 1, ready for JSON: outcomes are edges, values of views are vertices.

    `edges[k]["vertices"]` are the rows of the 1s in column k of the matrix P of eq. (3), `vertices` names the rows. The
    paper's graph is n-partite; with views that share variables ours need not be.

    Parameters
    ----------
    pmf : Pmf
        The joint law.
    samples : names
        The observed samples X.
    views : sequence of names
        Groups of samples that are protected.

    Returns
    -------
    dict[str, Any]
        Vertices and edges.

    >>> from dalenius.testing import xor
    >>> graph = incidence(xor().pmf, ["X1", "X2"], [["X1"], ["X2"]])
    >>> graph["vertices"][2], graph["edges"][1]
    ({'X2': '0'}, {'outcome': {'X1': '0', 'X2': '1'}, 'p': '1/4', 'vertices': [0, 3]})
    """
    _inside(samples, views)
    joint = pmf.marginal(samples)
    vertices: list[dict[str, str]] = []
    ends: list[list[int]] = [[] for _ in range(len(joint))]
    for view in views:
        values, index = joint.grouped(view)
        for edge, value in zip(ends, index.tolist(), strict=True):
            edge.append(len(vertices) + value)
        vertices += [{n: joint.variables[n][c] for n, c in zip(view, value, strict=True)} for value in values]
    edges = [
        {
            "outcome": {sample: joint.variables[sample][entry] for sample, entry in zip(samples, row, strict=True)},
            "p": written(Fraction(int(weight), joint.total)),
            "vertices": edge,
        }
        for row, weight, edge in zip(joint.support.tolist(), joint.weights.tolist(), ends, strict=True)
    ]
    return {"vertices": vertices, "edges": edges}


def _inside(samples: Names, views: Views) -> None:
    for view in views:
        if hidden := [name for name in view if name not in samples]:
            raise MismatchError(
                f"the view {list(view)} has {hidden[0]!r}, which is not one of the samples {list(samples)}"
            )
