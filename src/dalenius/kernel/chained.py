"""Windows over a Markov chain, by the lemma of `markov`; and the bound of what they may tell."""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from dalenius.kernel.composite import GONE_THROUGH, LEMMAS, WindowsRelease
from dalenius.kernel.document import Limits, Promises
from dalenius.kernel.markov import Markov
from dalenius.kernel.nouns import Law, Setting
from dalenius.kernel.numbers import Node, Refused, require
from dalenius.kernel.objective import Objective
from dalenius.kernel.promises import Independent
from dalenius.kernel.release import Release


class ChainRelease(WindowsRelease):
    """One output for each run of neighbours of a chain."""

    @cached_property
    def chain(self) -> Markov:
        """The law of the samples."""
        law = self.setting.law
        assert isinstance(law, Markov)
        require(not self.setting.mechanism.beside, "a column leaves as it is, of which the lemma does not speak")
        return law

    @property
    def grounds(self) -> Law:
        return self.chain

    @cached_property
    def by_lemma(self) -> bool:
        return max(self.chain.size, self.setting.many * self.channel.width) > GONE_THROUGH

    @cached_property
    def runs(self) -> list[tuple[int, int]]:
        """The first and the last sample of each window; refused unless the lemma holds for them.

        Each output is proved to be independent of the ends beyond which there is another window.
        """
        found = [self.chain.run(part.setting.mechanism.observe) for part in self.parts]
        for k, ((first, last), part) in enumerate(zip(found, self.parts, strict=True)):
            own = part.setting.mechanism.observe
            # A gap would be a sample outside that the lemma takes to be free.
            require(last - first + 1 == len(own), f"window {k} is no run of neighbours")
            require(
                k == 0 or found[k - 1][1] < first, f"window {k} shares a sample with another one, or comes too late"
            )
        for k in range(len(found)):
            self._hide_ends(k, self._ends(k, found[k], len(found)))
        return found

    def _hide_ends(self, k: int, ends: set[int]) -> None:
        """Refuse unless the output of window k is independent, jointly, of these ends of it."""
        if ends:
            self.parts[k].independent([self.chain.variables[i].name for i in sorted(ends)])

    @staticmethod
    def _ends(k: int, run: tuple[int, int], many: int) -> set[int]:
        """The places of the ends of window k beyond which there is another one."""
        return ({run[0]} if k > 0 else set()) | ({run[1]} if k < many - 1 else set())

    def _looking(self, names: Sequence[str]) -> Release:
        """The window that has all of these samples."""
        places = [self.chain.places[name] for name in names]
        for part, (first, last) in zip(self.parts, self.runs, strict=True):
            if first <= min(places) and max(places) <= last:
                return part
        raise Refused(f"no window looks at all of {', '.join(names)}: the lemma is silent")

    @cached_property
    def free(self) -> set[int]:
        """The places of the ends that are hidden, and of all samples outside the windows."""
        inside = {i for first, last in self.runs for i in range(first, last + 1)}
        ends = (self._ends(place, run, len(self.runs)) for place, run in enumerate(self.runs))
        return {i for i in range(len(self.chain.variables)) if i not in inside}.union(*ends)

    def hide(self, secret: Sequence[str]) -> None:
        places = {self.chain.places[name] for name in secret}
        last = len(self.runs) - 1
        outer = defaultdict[int, set[int]](set)
        # Beyond the outermost windows samples hang together with an end that nothing else hides.
        if min(places) < self.runs[0][0]:
            outer[0].add(self.runs[0][0])
        if max(places) > self.runs[last][1]:
            outer[last].add(self.runs[last][1])
        for k, ends in outer.items():
            self._hide_ends(k, ends | self._ends(k, self.runs[k], len(self.runs)))
        if not places <= self.free:
            self._looking(secret).independent(secret)

    def reached(self, about: Sequence[str]) -> Fraction:
        wanted = set(about)
        require(bool(self.runs), "there is no window")  # the lemma is proved here, if no promise needed it
        known: dict[object, Fraction] = {}  # windows inside the chain are often alike
        found = Fraction(0)
        for part, channel in zip(self.parts, self.channel.channels, strict=True):
            own = part.setting.mechanism.observe
            key = (channel, tuple(name in wanted for name in own))
            self.work.spend(100)
            if key not in known:
                known[key] = part.information([name for name in own if name in wanted])[0]
            found += known[key]
        return found

    def most_told(self, about: Sequence[str], given: Sequence[str]) -> Fraction:
        return self._looking((*about, *given)).information(about, given)[1]


LEMMAS |= {Markov: ChainRelease}


def bound_by_chain(setting: Setting, promises: Promises, _: Limits, objective: Objective, proof: Node) -> Fraction:
    """`{"rule": "chain"}`: the least of H(X) and of H(X) - H(V) for each view V of neighbours, X all that is wanted."""
    proof.fields("rule")
    law = setting.law
    proof.require(isinstance(law, Markov), "a chain is bounded where the law is one")
    assert isinstance(law, Markov)
    names = [variable.name for variable in law.variables]
    alone = objective.maximise and not setting.mechanism.beside and set(objective.about) == set(names)
    proof.require(alone, "a chain is bounded for information about all of its samples, and where nothing leaves beside")
    found = law.entropy(names, setting.work)[1]
    longest = 0
    for promise in promises:
        if isinstance(promise, Independent):
            first, last = law.run(promise.secret)
            setting.work.spend(4 * len(promise.secret))
            # Other views count as one sample: less is taken off, so that the bound stays one.
            longest = max(longest, len(promise.secret) if last - first + 1 == len(promise.secret) else 1)
    return found - law.entropy(names[:longest], setting.work)[0]  # from below, as it is taken off
