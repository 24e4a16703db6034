"""Designs of form "records": which way a problem goes, and the proof of what it found."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dalenius.core import Independent, Leakage, Problem
from dalenius.errors import NotCertified, Unsupported
from dalenius.kernel import Refused, Verdict
from dalenius.mechanisms.records.bits import Curve
from dalenius.mechanisms.records.form import Wide
from dalenius.mechanisms.records.listed import MOST_ENTRIES, listed
from dalenius.mechanisms.records.proof import document, proved
from dalenius.mechanisms.records.rows import Rows
from dalenius.mechanisms.records.zero import Found, least_change, preserving, towards

__all__ = ["RecordsDesign", "design", "tradeoff"]

GAP = 1e-9
SECONDS = 600.0

Progress = Callable[[str], None] | None


@dataclass(frozen=True, eq=False)
class RecordsDesign:
    """A channel of form "records" with what the kernel proved about it.

    Parameters
    ----------
    wide : Wide
        The problem and its arrays.
    rows : Rows
        The channel.
    text : str
        The design file, proved.
    verdict : Verdict
        What the kernel proved.
    method : str
        How it was found.
    remarks : tuple of str
        What a reader should know.
    """

    wide: Wide
    rows: Rows
    text: str
    verdict: Verdict
    method: str
    remarks: tuple[str, ...]

    @property
    def problem(self) -> Problem:
        """What was asked for."""
        return self.wide.problem

    @property
    def value(self) -> Fraction:
        """The expected distortion."""
        assert self.verdict.value is not None
        return self.verdict.value

    @property
    def bound(self) -> Fraction:
        """No mechanism that keeps the promises has a smaller one."""
        assert self.verdict.bound is not None
        return self.verdict.bound

    @property
    def gap(self) -> Fraction:
        """What may lie between the value and the optimum."""
        return self.value - self.bound


def design(
    problem: Problem,
    *,
    share: Fraction | None = None,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Progress = None,
) -> RecordsDesign:
    """Change the records as little as the promises allow, and prove it.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    share : Fraction, optional
        Towards which law between the two classes the records go: 0 for least change, 1/2 so that both classes move
        equally often.
    gap : float
        Stop when value and bound are this far apart.
    seconds : float
        When a search over a listed matrix stops.

    Returns
    -------
    RecordsDesign
        With its file and the kernel's verdict.

    Raises
    ------
    Unsupported
        If the form does not take the problem, with the reason and the way out.
    """
    wide = Wide.of(problem)
    return _proved(wide, _found(wide, share, gap, seconds, on_progress, None))


def tradeoff(
    problem: Problem, at_most_bits: Sequence[Fraction], *, on_progress: Progress = None
) -> Iterator[RecordsDesign]:
    """One design for each of several limits of the leakage; each helps to find the next.

    Parameters
    ----------
    problem : Problem
        Bound to its data, with one promise of leakage whose limit is replaced.
    at_most_bits : sequence of Fraction
        The limits.

    Yields
    ------
    RecordsDesign
        In the order of the limits.
    """
    curve: Curve | None = None
    for most in at_most_bits:
        secret = problem.guarantees[0].secret
        promise = Leakage(secret, most) if most else Independent(secret)
        wide = Wide.of(replace(problem, guarantees=(promise,)))
        if curve is None and wide.seen:
            curve = Curve(wide, on_progress)
        yield _proved(wide, _found(wide, None, GAP, SECONDS, on_progress, curve))


def _proved(wide: Wide, found: Found) -> RecordsDesign:
    try:
        text, verdict = proved(document(wide, found.rows, found.proof))
    except Refused as e:
        raise NotCertified(f"the checker refuses the design of form records: {e}") from None
    return RecordsDesign(wide, found.rows, text, verdict, found.method, found.remarks)


def _found(
    wide: Wide, share: Fraction | None, gap: float, seconds: float, on_progress: Progress, curve: Curve | None
) -> Found:
    """The channel by the way that fits the promises and the size."""
    guarantees = wide.problem.guarantees
    independent = len(guarantees) == 1 and isinstance(guarantees[0], Independent)
    if share is not None and not (independent and wide.seen and len(wide.classes) == 2):
        raise Unsupported("towards is for an independent release, with one observed secret of two values")
    if wide.problem.preserve_marginals:
        if not independent or not wide.seen:
            raise Unsupported(
                "form records preserves the law of the table where one observed secret is promised to be independent; "
                "observe the secret, or leave out preserve_marginals"
            )
        return preserving(wide, 0.0, on_progress)
    if independent and wide.seen and _decided(wide):
        return least_change(wide, 0.0, on_progress) if share is None else towards(wide, share, 0.0, on_progress)
    few = len(wide.counts) * len(wide.records) <= MOST_ENTRIES
    if independent and wide.seen:
        matched = least_change(wide, 0.0, on_progress)
        return _better(matched, listed(wide, gap, seconds, on_progress)) if few else matched
    if few:
        return listed(wide, gap, seconds, on_progress)
    if len(guarantees) == 1 and type(guarantees[0]) is Leakage and wide.seen:
        return (curve or Curve(wide, on_progress)).found(guarantees[0].at_most_bits)
    raise Unsupported(
        f"with {len(wide.records):,} different records form records promises independent or leakage, about one secret "
        "that is observed: promise one of these and observe it, or group letters until there are fewer records"
    )


def _better(matched: Found, whole: Found) -> Found:
    """The channel of the second, which is the best among records, with the proof that says more."""
    proof = matched.proof if matched.bound >= whole.bound else whole.proof
    return replace(whole, proof=proof, remarks=matched.remarks)


def _decided(wide: Wide) -> bool:
    """Whether transports to one class are known to be the optimum."""
    sizes = wide.by_record.sum(axis=0)
    return len(sizes) <= 2 or 2 * int(sizes.max()) >= wide.total
