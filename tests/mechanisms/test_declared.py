"""What mechanisms declare: designers that exist, sentences for every aspect, nothing taken by silence."""

import subprocess
import sys
from dataclasses import fields, replace
from fractions import Fraction
from importlib import import_module

import pytest

from dalenius.core import Leakage, LocalDP, MaximizeInformation, Mismatch, Problem, TableSource, WorstCaseLeakage
from dalenius.errors import InputError, Unsupported
from dalenius.mechanisms import Condition, Mechanism, Promised, mechanisms, register, takers
from dalenius.mechanisms.declared import OPTIONAL
from dalenius.mechanisms.solving import nearest_reasons
from dalenius.testing import xor

TOY = Mechanism(
    name="toy",
    title="a toy",
    designer="dalenius.mechanisms.columns.disclosure.design:disclose",
    objectives=(MaximizeInformation,),
    promises=(Promised(LocalDP, without=("delta",), above_zero=True, most_nats=3), Promised(Leakage)),
    conditions=(Condition(lambda p: len(p.observe) < 3, lambda p: f"it observes two columns, not {len(p.observe)}"),),
)
ASKED = replace(xor(), guarantees=(LocalDP(1),), joint=None)


@pytest.mark.parametrize("mechanism", mechanisms(), ids=lambda m: m.name)
def test_the_designer_of_every_mechanism_exists(mechanism):
    module, _, function = mechanism.designer.partition(":")
    assert callable(getattr(import_module(module), function))


@pytest.mark.long
def test_declarations_import_no_solver():
    """The command line starts with the declarations; scipy and the solvers take a second."""
    heavy = (
        "scipy",
        "clarabel",
        "highspy",
        "pyarrow",
        "dalenius.solvers",
        "dalenius.mechanisms.columns.disclosure.design",
    )
    code = f"import sys, dalenius.mechanisms; print([m for m in {heavy} if m in sys.modules])"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert seen.strip() == "[]"


EVERYBODY_READS = {"observe", "objective", "guarantees", "output", "release", "form", "joint", "source", "columns"}
OF_A_FORM = {"windows", "modulus", "noise", "min_multiplicity", "towards"}
"""Keys that `Problem` itself refuses without their form."""
AFTERWARDS = {"order", "allow_inverted", "digest", "file", "lines"}
"""What the draw, the names of letters and errors read, whatever the mechanism."""


def test_a_new_key_of_the_problem_is_refused_until_it_is_declared():
    known = EVERYBODY_READS | OF_A_FORM | AFTERWARDS
    assert {field.name for field in fields(Problem)} == set(OPTIONAL) | known


def test_every_optional_key_is_one_of_a_problem():
    assert set(OPTIONAL) <= {field.name for field in fields(Problem)}
    known = {*OPTIONAL, "max_rows", "ball"}
    assert {key for mechanism in mechanisms() for key in (*mechanism.takes, *mechanism.needs)} <= known


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"guarantees": ()}, r"nothing is promised; add a \[\[guarantee\]\] with local_dp or leakage"),
        ({"guarantees": (LocalDP(4),)}, "epsilon is 4; more than 3 promises nothing"),
        ({"guarantees": (LocalDP(0),)}, "it promises local_dp without delta, above 0"),
        ({"guarantees": (LocalDP(1, delta="1/9"),)}, "it promises local_dp without delta, above 0"),
        ({"guarantees": (LocalDP(1), Leakage("W", 1))}, "it promises local_dp or leakage and nothing else"),
        ({"guarantees": (WorstCaseLeakage("W", 1),)}, "it promises local_dp and leakage, not worst_case_leakage"),
        ({"form": "pram"}, "it does not take form"),
        ({"output": None, "release": ("X1",)}, "it needs a fresh list of values"),
        ({"keep": ("W",)}, "it does not take keep"),
        ({"each": True}, "it makes one recipe for all columns, not one for each"),
        ({"robust": Mismatch("kl_bits", Fraction(1, 9))}, "it does not take robust"),
        ({"robust": Mismatch("kl_bits", Fraction(1, 9)), "guarantees": (Leakage("W", 1),)}, "the ball of"),
        ({"source": TableSource("a.csv", max_rows=2)}, "several rows of one person"),
        ({"observe": ("X1", "X2", "W")}, "it observes two columns, not 3"),
    ],
)
def test_each_aspect_has_its_sentence(change, reason):
    problem = replace(ASKED, **change)
    if reason is None:
        TOY.refuse(problem)
        assert TOY.distance(problem) == 0
        return
    with pytest.raises(Unsupported, match=f"a toy cannot solve this: .*{reason}"):
        TOY.refuse(problem)
    assert TOY.distance(problem) > 0


def test_conditions_on_the_data_are_asked_once_they_are_there():
    asked = replace(TOY, on_data=(Condition(lambda p: p.joint.total > 10**9, "it takes large tables"),))
    assert asked.why_not(ASKED) is None
    assert asked.why_not(replace(ASKED, joint=xor().joint)) == "it takes large tables"


def test_the_nearest_mechanism_is_named_first():
    near = nearest_reasons(replace(ASKED, guarantees=(LocalDP(1),), form="pram", output=None, release=("X1", "X2")))
    assert near.startswith('form = "pram": ')


def test_the_first_that_takes_a_problem_is_the_most_special():
    assert takers(xor())[0].name == "disclosure"


def test_a_name_is_registered_once():
    with pytest.raises(InputError, match="already"):
        register(mechanisms()[0])
