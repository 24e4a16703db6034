"""Errors planted into the checker of samples that are alike, noise and filled columns: each changes a kept verdict."""

import json

import pytest

from tests.effort import effort
from tests.kernel.golden import CORPUS, texts_of, verdict_of
from tests.kernel.one_file import loaded, source

FOLDER = CORPUS / "alike"

PLANTED = {
    "types: letters need not rise": ("        if place <= last:\n", "        if place < -1:\n"),
    "types: a row need not sum to its scale": (
        'node.require(sum(row) == one, "the row',
        'node.require(sum(row) > 0, "the row',
    ),
    "types: the channel has other samples than the law": (
        "many.require(samples == law.samples,",
        "many.require(samples > 0,",
    ),
    "alike: kernel rows of different sums": (
        "unit > 0 and all(sum(row) == unit for row in rows)",
        "unit > 0",
    ),
    "alike: a second sample drawn with the first put back": (
        "            yield (a, b), k * (m - (a == b))\n",
        "            yield (a, b), k * m\n",
    ),
    "alike: orders of a type are not counted": (
        "        times = orders(t)\n",
        "        times = 1\n",
    ),
    "alike: not every column needs to be independent": (
        "proof.require(all((name,) in alone for name in reads),",
        "proof.require(True or all((name,) in alone for name in reads),",
    ),
    "noise: what moves every record is no error": (
        "return self.plain and alike and all(0 <= axis.move < axis.one for axis in self.axes)",
        "return self.plain and alike",
    ),
    "orbits: the columns are not compared with the law": (
        'require(mixed[of] == orders(of) * t, "the columns',
        'require(mixed[of] > 0, "the columns',
    ),
    "orbits: the first place stands for all": (
        "require(at_places(masses, (i,)) == own,",
        "require(at_places(masses, (0,)) == own,",
    ),
    "orbits: what is left is rounded the wrong way and forgotten": (
        "left += weight * entropy_units(masses, 1 - end, self.work)",
        "left += weight * entropy_units(masses, 1 - end, self.work) // 2",
    ),
    "orbits: a box forgets what its cells have left": (
        "top = min(most, bottom + min(map(left, cells)))  # Frechet: at most what its cells have left",
        "top = min(most, bottom)",
    ),
    "orbits: one multiplier for all views of a class": (
        "paid = sum(count * v * t for count, v, t in zip(orbits.often, multipliers, orbits.mass, strict=True))",
        "paid = sum(v * t for v, t in zip(multipliers, orbits.mass, strict=True))",
    ),
    "orbits: an orbit counts once": ("found += size * min(least, other)", "found += min(least, other)"),
    "orbits: the named atom is not told apart": (
        "return [(colours, low, below), (finer, low | {x: max(at, low.get(x, 0))}, above)]",
        "return [(colours, low, below), (colours, low | {x: max(at, low.get(x, 0))}, high)]",
    ),
    "noise: nothing is collected below": (
        "return self._at_most(self.low - c), self.total - self._at_most(self.high - 1 - c)",
        "return self._at_most(self.low - c - 1), self.total - self._at_most(self.high - 1 - c)",
    ),
    "noise: the ends are told apart best whatever the noise": (
        "        if self.log_concave:\n            ends =",
        "        if True:\n            ends =",
    ),
    "noise: the group is dropped": ("return max(group, rows) * self._capacity\n", "return rows * self._capacity\n"),
    "noise: the bound forgets the group": ("promise.at_most / promise.group)", "promise.at_most * promise.group)"),
    "noise: a prior may leave out values": (
        'require(len(known) == len(line), "the prior',
        'require(len(line) > 0, "the prior',
    ),
    "noise: the variance is believed": (
        "require(self._variance(axis) <= axis.variance,",
        "require(axis.variance >= 0,",
    ),
    "noise: half a step of rounding is forgotten": ("return (size + HALF) ** 2\n", "return size**2\n"),
    "noise: the axes do not add": (
        "            own += all_of_it\n",
        "            own = all_of_it / 2\n",
    ),
    "noise: delta for all of epsilon on each axis, rounded up": (
        "much = exp(epsilon / len(self.axes))[0]",
        "much = 2 * exp(epsilon / len(self.axes))[1]",
    ),
    "noise: a norm without its root": (
        "size = two_to(bits(log2(*size.as_integer_ratio())[1]) / p)[1] if size else size",
        "size = size / 2",
    ),
    "noise: noise of any reach competes with less": (
        'weights.require(len(half) > reach, "noise',
        'weights.require(len(half) > 0, "noise',
    ),
    "noise: the channel may reach further": (
        'require(within, "the noise reaches further',
        'require(True, "the noise reaches further',
    ),
    "noise: a line without the entropy of the records": (
        "return self.setting.law.entropy(self.grids.names, work)[1] - rate, slope / self.grids.steps[0] ** 2",
        "return -rate, slope / self.grids.steps[0] ** 2",
    ),
    "noise: no blur of the grid": (
        "self.blur = sum((step**2 for step in grids.steps), NOTHING) / 12",
        "self.blur = NOTHING",
    ),
    "noise: letters need not be a grid": ("even = step > 0 and all(", "even = True or all("),
    "filled: one letter too many above": (
        "self.wrong = Fraction(sum(self.below), setting.total) + (len(self.above) - 1) * self.height",
        "self.wrong = Fraction(sum(self.below), setting.total) + len(self.above) * self.height",
    ),
    "filled: the most frequent letter tells most": ("rarest = self.above[0]\n", "rarest = self.above[-1]\n"),
    "water: the largest sum forgets its own letter": (
        "most = lower + level * len(above) + (slope - 1) * largest",
        "most = lower + level * len(above)",
    ),
    "water: any distortion is taken for one that counts changes": (
        'plain = part.kind == "hamming" and not part.classes and',
        'plain = part.kind == "hamming" and',
    ),
}


@pytest.fixture(scope="module")
def kept():
    return json.loads((FOLDER / "verdicts.json").read_text(encoding="utf-8"))


def seen(module, kept):
    """The first text of the corpus of which another verdict is given."""
    for name, text in texts_of(FOLDER).items():
        try:
            found = verdict_of(text, False, checker=module.check, refusal=module.Refused)
        except Exception as error:  # an error that is no refusal is seen, too
            return f"{name}: {type(error).__name__}"
        if found != kept[name]["all"]:
            return name
    return None


CHOSEN = sorted(PLANTED)[:: effort(10, 1)]  # a few of each kind by default, all of them in the long run


@pytest.mark.long
@pytest.mark.parametrize("name", CHOSEN)
def test_a_planted_error_is_seen(name, kept):
    right, wrong = PLANTED[name]
    assert seen(loaded(source().replace(right, wrong)), kept) is not None


def test_every_planted_error_has_its_place():
    assert len(PLANTED) >= 30
    assert [name for name, (right, _) in PLANTED.items() if source().count(right) != 1] == []


@pytest.mark.long
def test_nothing_is_seen_without_an_error(kept):
    assert seen(loaded(source()), kept) is None
