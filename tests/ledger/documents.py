"""Small designs written by hand, proved by the kernel, as a ledger keeps them."""

import json
from fractions import Fraction

from dalenius.convert import converted
from dalenius.core import Design
from dalenius.documents import about_of, filed, unfiled


def document(joint, channel, promises=(), *, keep=(), output="Y", table="t.csv", beside=(), **source):
    """A design file. joint: {outcome tuple: p} with names first under the key None; channel: (observed names, rows).

    `beside` are further sections as version 1 writes them.
    """
    names = joint[None]
    atoms = [(x, Fraction(p)) for x, p in joint.items() if x is not None]
    variables = {n: sorted({x[k] for x, _ in atoms}) for k, n in enumerate(names)}
    observe, rows = channel
    out = {
        "confidential": True,
        "format": "dalenius-design/1",
        "unit": "bits",
        "source": {"table": table, "unit": "row", **source},
        "mechanism": {"observe": list(observe), "output": output, **({"keep": list(keep)} if keep else {})},
        "objective": {"maximize": {"information": list(observe)}},
        "guarantees": [{"promised": p, "proved": {}} for p in promises],
        "joint": {"variables": variables, "pmf": [dict(zip(names, x, strict=True)) | {"p": str(p)} for x, p in atoms]},
        "channel": {
            "inputs": {n: variables[n] for n in observe},
            "output": {output: [str(y) for y in range(len(rows[0]))]},
            "rows": [[str(Fraction(v)) for v in row] for row in rows],
        },
        "certificate": {"kind": "universal"},
        "entropy_bits": "99",
        "method": "by hand",
        "remarks": [],
        "problem_digest": "",
        "versions": {},
    }
    text, about = converted(out | dict(beside))
    return filed(text, json.loads(about))


def card(text):
    """The public part of a document."""
    design = Design.from_text(*unfiled(text))
    return filed(design.card_text(), about_of(design.card(), design.card_text()))


def flip(p):
    """Binary symmetric channel."""
    p = Fraction(p)
    return [[1 - p, p], [p, 1 - p]]


def fair(*names):
    """Independent fair bits."""
    cells = [()]
    for _ in names:
        cells = [(*c, b) for c in cells for b in "01"]
    return {None: names} | {c: Fraction(1, len(cells)) for c in cells}


def coin(p=Fraction(1, 4), output="Y", **more):
    """A fair bit X through a binary symmetric channel, with its level of local_dp promised."""
    rows = more.get("max_rows", 1)  # of a person, whom the level is about
    level = {"local_dp": str(2 * rows)} | ({"rows": rows} if rows > 1 else {})
    return document(fair("X"), (("X",), flip(p)), [level], output=output, **more)
