"""The rules of optimality. Each returns a bound that no mechanism passes which keeps the promises and the limits.

No rule sees the channel: a bound speaks of the problem alone.
"""

import re
from collections.abc import Callable
from fractions import Fraction

from dalenius.kernel.closed import bound_in_closed_form
from dalenius.kernel.components import bound_by_components
from dalenius.kernel.corners import bound_by_corners
from dalenius.kernel.document import Limits, Promises
from dalenius.kernel.invariant import bound_with_margins
from dalenius.kernel.lines import bound_by_lines
from dalenius.kernel.marginals import bound_by_marginals
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, canonical
from dalenius.kernel.objective import Objective
from dalenius.kernel.subsets import bound_by_blocks, bound_by_subsets
from dalenius.kernel.variance import bound_of_variance

# Sums over many cases and inputs count their operations as those of short numbers.
TOO_LONG = re.compile(r'"[^",]{401}')

Rule = Callable[[Setting, Promises, Limits, Objective, Node], Fraction]

RULES: dict[str, Rule] = {
    "blocks": bound_by_blocks,
    "closed": bound_in_closed_form,
    "components": bound_by_components,
    "corners": bound_by_corners,
    "invariant": bound_with_margins,
    "lines": bound_by_lines,
    "marginals": bound_by_marginals,
    "subsets": bound_by_subsets,
    "variance": bound_of_variance,
}


def proved_bound(setting: Setting, promises: Promises, limits: Limits, objective: Objective, proof: Node) -> Fraction:
    """What no mechanism passes that keeps the promises, the limits and the shape."""
    rule = proof.tag(*RULES)
    # Before any rule reads it: rules count their operations as those of short numbers.
    proof.require(not TOO_LONG.search(canonical(proof.value)), "a number of a proof has more than 400 digits")
    # With a matrix for each column the mechanisms that compete are products, and what they tell is added up.
    proof.require(setting.mechanism.each is None or rule == "parts", "columns with a matrix each are bounded by parts")
    return RULES[rule](setting, promises, limits, objective, proof)
