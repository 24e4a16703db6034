"""The checker's own walk against the solvers' walk, and the promise that it can be read in one sitting."""

import ast
import random
import sys
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import pytest

import dalenius.certify
from dalenius.certify.ball import prove_one
from dalenius.certify.capacity import from_rows
from dalenius.certify.checking import COMPACT, KINDS
from dalenius.certify.cone import Cone
from dalenius.certify.optimality import rays
from dalenius.certify.parts import parts
from dalenius.core import Channel, Pmf
from dalenius.core.pivoting import pivot, vertices
from dalenius.core.reading import Release
from dalenius.errors import NotCertified
from dalenius.solvers import walk

PROOFS = (
    KINDS
    | {kind: whole for kind, (whole, _) in COMPACT.items()}
    | {"rows": from_rows, "ball": prove_one, "parts": parts}
)
SITTING = 560  # lines behind one kind of proof, what compares the claims included
ROOM = Path(dalenius.certify.__file__).parent
ALLOWED = {
    "dalenius.core.numbers",
    "dalenius.core.arithmetic",
    "dalenius.core.distorting",
    "dalenius.core.expanding",
    "dalenius.core.letters",
    "dalenius.core.noisy",
    "dalenius.core.pivoting",
    "dalenius.core.reading",
    "dalenius.core.shifting",
    "dalenius.core.reading_types",
    "dalenius.core.rows",
    "dalenius.errors",
}


def shares(cone):
    """p(x) over the atoms of a cone."""
    return [Fraction(m, cone.total) for m in cone.mass]


def foreign_imports(source):
    """Imports of a module that are neither the standard library, nor exact arithmetic, nor this room."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [("." * node.level) + (node.module or "")]
        for name in names:
            ours = name in ALLOWED or name.startswith("dalenius.certify")
            if not ours and name.split(".")[0] not in sys.stdlib_module_names:
                found.append(name)
    return found


def modules_behind(kind):
    """The modules of the room that a reader of a proof of this kind reads."""
    todo, found = [PROOFS[kind].__module__.rsplit(".", 1)[1], "privacy"], {"__init__", "checking", "card"}
    while todo:
        module = todo.pop()
        if module not in found:
            found.add(module)
            tree = ast.parse((ROOM / f"{module}.py").read_text(encoding="utf-8"))
            names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
            todo += [name.rsplit(".", 1)[1] for name in names if name.startswith("dalenius.certify.")]
    return found


@pytest.mark.parametrize("kind", PROOFS)
def test_a_proof_of_any_kind_is_read_in_one_sitting(kind):
    assert (
        sum(len((ROOM / f"{m}.py").read_text(encoding="utf-8").splitlines()) for m in modules_behind(kind)) <= SITTING
    )


def test_every_module_of_the_room_stands_behind_some_proof():
    assert set().union(*map(modules_behind, PROOFS)) == {f.stem for f in ROOM.glob("*.py")}


@pytest.mark.parametrize("module", sorted(ROOM.glob("*.py")), ids=lambda f: f.name)
def test_the_room_imports_exact_arithmetic_and_nothing_else(module):
    assert foreign_imports(module.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "planted",
    [
        "import numpy",
        "from dalenius.solvers import walk",
        "from dalenius.core import Pmf",
        "from .. import solvers",
        "def f():\n    import dalenius.designs.disclose",
    ],
)
def test_a_planted_import_is_caught(planted):
    assert foreign_imports("from fractions import Fraction\n" + planted)


# --- the walk --------------------------------------------------------------------------------------------------------
def cone_of(sizes, counts, views, keep=()):
    """The checker's cone for a random joint of samples, a binary W and perhaps a kept K."""
    variables = {f"X{k}": tuple(map(str, range(m))) for k, m in enumerate(sizes, 1)}
    samples = list(variables)
    variables |= {"W": ("0", "1")} | dict.fromkeys(keep, ("0", "1"))
    joint = Pmf.from_records(variables, zip(product(*variables.values()), counts, strict=True))
    channel = Channel.constant(joint.alphabets(samples), "Y")
    mechanism = {"observe": samples, "keep": list(keep)}
    release = Release({"joint": joint.to_json(), "channel": channel.to_json(), "mechanism": mechanism})
    return Cone(release, ["W"], views(samples))


def singles(samples):
    return [[s] for s in samples]


def pairs(samples):
    return [[a, b] for a, b in pairwise(samples)]


@pytest.mark.parametrize(
    ("sizes", "views", "keep", "zeros"),
    [
        ((2, 2), singles, (), 0.0),
        ((2, 2), singles, (), 0.3),
        ((2, 3), singles, (), 0.0),
        ((3, 3), singles, (), 0.4),
        ((2, 2, 2), singles, (), 0.0),
        ((2, 2, 2), singles, (), 0.4),
        ((2, 2, 2), pairs, (), 0.0),
        ((2, 2, 3), singles, (), 0.2),
        ((2, 2), singles, ("K",), 0.5),
        ((3, 4), singles, (), 0.0),
    ],
)
def test_the_checker_meets_the_same_vertices_as_the_solver(sizes, views, keep, zeros):
    draw = random.Random(str((sizes, zeros, keep)))
    for trial in range(6):
        cells = 2 ** (1 + len(keep))
        for size in sizes:
            cells *= size
        counts = [0 if draw.random() < zeros else draw.randrange(1, 4 if trial % 2 else 1000) for _ in range(cells)]
        if not any(counts):
            continue
        cone = cone_of(sizes, counts, views, keep)
        p, rows = shares(cone), list(cone.rows())
        equations = [[Fraction(1)] * len(p), *rows]
        if keep:  # a kept column that depends on a view leaves no mechanism; take the equations of p_X alone
            right = [sum(a * b for a, b in zip(row, p, strict=True)) for row in rows]
            if any(right):
                continue
        found = walk(equations, [1] + [0] * len(rows))
        ours = [
            tuple(v.get(x, Fraction(0)) for x in range(len(p)))
            for v in vertices(len(cone.mass), cone.rows(), found.basis)
        ]
        assert len(ours) == len(set(ours)) == len(found.vertices)
        assert set(ours) == set(found.vertices)


def test_the_walk_does_not_depend_on_where_it_starts():
    draw = random.Random(7)
    cone = cone_of((2, 2, 2), [draw.randrange(1, 50) for _ in range(16)], singles)
    sets, starts = [], 0
    for _ in range(200):
        basis = sorted(draw.sample(range(8), 4))
        try:
            sets.append({frozenset(v.items()) for v in vertices(len(cone.mass), cone.rows(), basis)})
        except NotCertified:
            continue
        starts += 1
    assert starts > 3
    assert all(s == sets[0] for s in sets)


def test_a_ray_proof_returns_what_it_proves_whatever_z_is():
    """sum z + max over vertices of (phi - z.v) is a bound for every z, never below the one of the best z."""
    draw = random.Random(3)
    cone = cone_of((2, 2), [draw.randrange(1, 20) for _ in range(8)], singles)
    rows = list(cone.rows())
    basis = walk([[Fraction(1)] * 4, *rows], [1] + [0] * len(rows)).basis
    nothing = rays(cone, {"z": ["0"] * 4, "basis": basis})
    assert nothing == max(cone.phi(cone.joint(v)) for v in vertices(len(cone.mass), cone.rows(), basis))
    for _ in range(20):
        z = [str(Fraction(draw.randrange(-100, 100), 1000)) for _ in range(4)]
        shifted = [str(Fraction(v) + p) for v, p in zip(z, shares(cone), strict=True)]
        assert rays(cone, {"z": z, "basis": basis}) == rays(cone, {"z": shifted, "basis": basis})
        assert rays(cone, {"z": z, "basis": basis}) >= 0


def test_a_pivot_keeps_integers_and_a_positive_determinant():
    tableau, d = pivot([[-2, 4, 6], [3, 5, 7]], 0, 0, 1)
    assert (tableau, d) == ([[2, -4, -6], [0, 22, 32]], 2)
    tableau, d = pivot(tableau, 1, 1, d)
    assert (tableau, d) == ([[22, 0, -2], [0, 22, 32]], 22)
