"""The registry of forms: every form has a handler, and a form from outside is read, drawn, tested and audited."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

from dalenius import api
from dalenius.core import Kernel, channel_of
from dalenius.core.forms import FORMS, WITHHELD
from dalenius.errors import InputError, Unsupported
from dalenius.mechanisms import forms
from dalenius.mechanisms.form import Form
from dalenius.mechanisms.forms import draws_of, form_named, form_of, register_form
from dalenius.sampling import Key

LETTERS = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Halves(Kernel):
    """Whether a letter stands in the first half of the alphabet, with a lie of some probability."""

    inputs: dict[str, tuple[str, ...]]
    lie: Fraction
    form: ClassVar[str] = "halves"

    @property
    def output(self) -> dict[str, tuple[str, ...]]:
        return {"half": ("first", "second")}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "Halves":
        return cls({n: tuple(a) for n, a in document["inputs"].items()}, Fraction(document["lie"]))

    def to_json(self) -> dict[str, Any]:
        return {"form": self.form, "inputs": {n: list(a) for n, a in self.inputs.items()}, "lie": str(self.lie)}

    @property
    def drawn(self) -> tuple[tuple[Fraction, ...], ...]:
        return (1 - self.lie, self.lie), (self.lie, 1 - self.lie)

    @property
    def rows(self) -> tuple[tuple[Fraction, ...], ...]:
        return tuple(self.drawn[2 * k // len(LETTERS)] for k in range(len(LETTERS)))


class HalvesForm(Form[Halves]):
    """Two rows, whatever the number of letters."""

    def rows_of_outcomes(self, channel, outcomes):
        return 2 * outcomes.astype(np.int64) // len(LETTERS)


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(forms, "_HANDLERS", dict(forms._HANDLERS))
    monkeypatch.delitem(FORMS, "halves", raising=False)
    register_form(Halves, HalvesForm())
    yield
    FORMS.pop("halves", None)


def test_every_form_has_a_handler_and_every_handler_a_form():
    assert {None, WITHHELD, *FORMS} == set(forms._HANDLERS)
    for name in forms._HANDLERS:
        assert isinstance(form_named(name), Form)


def test_an_unknown_form_is_refused_by_name():
    with pytest.raises(Unsupported, match="there is no recipe of form 'round'; there are listed, noise"):
        form_named("round")


def test_a_name_is_taken_once(registered):
    with pytest.raises(InputError, match="a name of its own, not 'halves'"):
        register_form(Halves, HalvesForm())


@pytest.mark.long
def test_a_form_from_outside_is_read_drawn_tested_and_audited(registered):
    channel = channel_of({"form": "halves", "inputs": {"x": list(LETTERS)}, "lie": "1/4"})
    assert isinstance(form_of(channel), HalvesForm)
    (draw,) = draws_of(channel)
    assert draw.sampler.inputs == 2, "it is drawn from two rows"
    table = pa.table({"x": list(LETTERS) * 500})
    released, tests, audit = api.apply_channel(channel, table, key=Key.unsafe(7))
    assert set(released.inputs.tolist()) == {0, 1}
    assert not tests.contradicts
    assert audit.strong_dp_epsilon == pytest.approx(np.log(3))


@pytest.mark.long
def test_letters_of_another_law_contradict_it(registered):
    honest = Halves({"x": LETTERS}, Fraction(1, 4))
    liar = Halves({"x": LETTERS}, Fraction(2, 5))
    table = pa.table({"x": list(LETTERS) * 500})
    released, _, _ = api.apply_channel(liar, table, key=Key.unsafe(7))
    findings, _ = form_of(honest).tested(honest, "", [], released.inputs, released.letters, 1e-6)
    assert any(finding.contradicts for finding in findings)
