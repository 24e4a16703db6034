"""What the toy takes, and who designs it."""

from dalenius.core import LocalDP, MaximizeInformation
from dalenius.mechanisms import Condition, Mechanism, Promised

SPINNER = Mechanism(
    name="spinner",
    title="the spinner",
    designer="tests.mechanisms.toy.design:spinner",
    objectives=(MaximizeInformation,),
    promises=(Promised(LocalDP, without=("metric", "delta", "given")),),
    forms=("spinner",),
    letters="own",
    conditions=(Condition(lambda p: len(p.observe) == 1, "a spinner stands beside one column"),),
)
