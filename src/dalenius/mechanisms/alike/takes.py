"""What is taken of samples that are alike given what they tell about (paper 000)."""

from dalenius.core import Independent, MaximizeInformation, Problem, Samples
from dalenius.core.source import ConditionallyIid
from dalenius.mechanisms.declared import Condition, Mechanism, Promised

__all__ = ["ALIKE"]


def _no_samples(problem: Problem) -> str:
    if isinstance(problem.source, ConditionallyIid):
        return 'it needs observe = ["X"], X being the output of the kernel, which stands for all samples'
    return "its source is conditionally_iid"


def _samples(problem: Problem) -> Samples:
    assert isinstance(problem.joint, Samples)
    return problem.joint


ALIKE = Mechanism(
    name="alike",
    title="samples that are alike",
    designer="dalenius.mechanisms.alike.types:disclose_types",
    lists_outcomes=False,
    objectives=(MaximizeInformation,),
    promises=(Promised(Independent),),
    count=(1, None),
    law=(Condition(lambda p: isinstance(p.joint, Samples), _no_samples),),
    conditions=(
        Condition(
            lambda p: p.objective.names == (_samples(p).hidden,),
            lambda p: f'its objective is maximize = {{ information = ["{_samples(p).hidden}"] }}',
        ),
        Condition(
            lambda p: p.observe == (_samples(p).sample,),
            lambda p: (
                f'it observes the samples alone, observe = ["{_samples(p).sample}"], and {", ".join(p.observe)} is '
                "asked for"
            ),
        ),
        Condition(
            lambda p: all(promise.secret == (_samples(p).sample,) for promise in p.guarantees),
            lambda p: f'it protects each single sample, independent = ["{_samples(p).sample}"], and nothing else',
        ),
    ),
)
