"""`check`: privacy, then the value of the channel, then the bound of the problem, then the claims against both."""

from dataclasses import dataclass
from fractions import Fraction

from dalenius.kernel.alike import read_alike, read_types
from dalenius.kernel.answers import ANSWER, proved_answer, read_answer
from dalenius.kernel.chained import bound_by_chain
from dalenius.kernel.channel import FORMS
from dalenius.kernel.composite import StrataRelease, WindowsRelease, read_strata, read_windows
from dalenius.kernel.document import Document, read_document
from dalenius.kernel.exchange import bound_by_orbits, bound_by_types
from dalenius.kernel.gauges import GAUGES
from dalenius.kernel.groups import read_independent, read_margins
from dalenius.kernel.levels import bound_by_levels
from dalenius.kernel.maps import beside_side_information, read_maps
from dalenius.kernel.markov import read_markov
from dalenius.kernel.noise import Noise
from dalenius.kernel.noise_bound import bound_of_noise, bound_on_grid
from dalenius.kernel.nouns import LAWS
from dalenius.kernel.numbers import down, require, up
from dalenius.kernel.objective import Objective
from dalenius.kernel.orbits import read_orbits
from dalenius.kernel.parts import bound_by_groups, bound_by_parts
from dalenius.kernel.privacy import Kept, check_privacy
from dalenius.kernel.promises import PROMISES
from dalenius.kernel.records import read_medians, read_records
from dalenius.kernel.release import Release
from dalenius.kernel.rules import RULES, proved_bound
from dalenius.kernel.short import read_even, read_listed, read_staircase
from dalenius.kernel.slope import bound_by_slope, bound_by_water
from dalenius.kernel.sums import read_sums
from dalenius.kernel.transports import bound_by_records, bound_by_transports
from dalenius.kernel.variance import total_variance
from dalenius.kernel.water import read_filled
from dalenius.kernel.withheld import read_withheld

LAWS |= {"alike": read_alike, "independent": read_independent, "margins": read_margins, "markov": read_markov}
FORMS |= {"listed": read_listed, "pram": read_even, "resample": read_even, "staircase": read_staircase}
FORMS |= {"maps": read_maps, "windows": read_windows, "strata": read_strata}
FORMS |= {"sums": read_sums, "blocks": read_sums}
FORMS |= {"types": read_types, "orbits": read_orbits, "noise": Noise, "filled": read_filled}
FORMS |= {"records": read_records, "medians": read_medians, "withheld": read_withheld}
PROMISES |= GAUGES

RULES |= {"alike": bound_by_types, "orbits": bound_by_orbits}
RULES |= {"chain": bound_by_chain, "levels": bound_by_levels}
RULES |= {"grid": bound_on_grid, "noise": bound_of_noise, "slope": bound_by_slope, "water": bound_by_water}
RULES |= {"parts": bound_by_parts, "groups": bound_by_groups}
RULES |= {"coarse": bound_by_records, "records": bound_by_records, "transports": bound_by_transports}


@dataclass(frozen=True)
class Verdict:
    """What was proved, and all that words about it may use.

    Parameters
    ----------
    kept : Kept
        The figures of the promises and the distortions of the limits.
    rule : str
        The rule of the bound; "privacy" where only the promises were asked for.
    maximised : bool
        Whether more is better.
    value, bound : Fraction or None
        The channel reaches at least `value` (minimised: at most), and no mechanism passes `bound`.
    rows : int or None
        The rows of the table that was counted; None: the law is only stated, or the file is a card. No file can prove
        how many rows there were.
    entropy_bits : Fraction or None
        The entropy of what is wanted, rounded up, where information is maximised.
    beside_bits : Fraction or None
        What the output tells about `about` of the objective together with side information that the mechanism ignores.
    digest : str
        SHA-256 of the text.
    work : int
        What the proof needed.
    """

    kept: Kept
    rule: str
    maximised: bool
    value: Fraction | None
    bound: Fraction | None
    rows: int | None
    entropy_bits: Fraction | None
    beside_bits: Fraction | None
    digest: str
    work: int


def check(text: str, allowed: int | None = None, privacy_only: bool = False) -> Verdict:
    """Prove every claim of a design, a card or an answer, or refuse it with a sentence.

    Parameters
    ----------
    text : str
        The whole file.
    allowed : int or None
        The work that the file may declare; None: about two seconds, and beyond a million
        characters two for each half million.
    privacy_only : bool
        Whether to leave out value and bound, and prove promises, limits and shapes alone.

    Returns
    -------
    Verdict
        What was proved.

    Raises
    ------
    Refused
        If a claim is not proved, or the file is not as the format says.
    """
    if text.startswith(f'{{"format":"{ANSWER}"'):
        answer = read_answer(text, allowed)
        proved = Kept(proved_answer(answer), (), (), {})
        return Verdict(proved, "privacy", False, None, None, None, None, None, answer.digest, answer.work.spent)
    document = read_document(text, allowed)
    # Privacy first, and without anything of the objective: a mistake further down costs no privacy.
    kept = check_privacy(document)
    setting = document.setting
    rows = setting.law.rows if setting.has_law else None
    if privacy_only or document.objective is None or document.proof is None:
        return Verdict(kept, "privacy", False, None, None, rows, None, None, document.digest, document.work.spent)
    objective = document.objective
    value = reached(document, objective)
    # The rule is given the problem and not the channel, so that no bound can lean on what it should bound.
    bound = proved_bound(setting, document.promises, document.limits, objective, document.proof)
    _compare(document, objective, value, bound)
    wanted = None
    if objective.maximise:
        # From above, as a share of it is said to be reached.
        wanted = sum((setting.law.entropy(names, document.work)[1] for names in objective.wanted), Fraction(0))
    rule = document.proof.tag(*RULES)
    beside = beside_side_information(document.release, objective.about)
    return Verdict(
        kept, rule, objective.maximise, value, bound, rows, wanted, beside, document.digest, document.work.spent
    )


def _compare(document: Document, objective: Objective, value: Fraction, bound: Fraction) -> None:
    """The claims against what was proved."""
    claims = document.claims
    more = 1 if objective.maximise else -1
    # A proved value beyond a proved bound would mean that one of the two proofs is wrong.
    require(
        more * (bound - value) >= 0,
        f"the value {down(value, 15)} passes the bound {up(bound, 15)}: one of them is false",
    )
    require(more * (value - claims.value) >= 0, f"the claimed value is not reached: it is {down(value, 15)}")
    require(more * (claims.bound - bound) >= 0, f"the claimed bound is not proved: it is {up(bound, 15)}")
    between = more * (claims.bound - claims.value)
    require(claims.gap >= between >= 0, "the claimed gap is smaller than value and bound leave")


def variance_of(release: Release) -> Fraction:
    """The variance of what is estimated of all inputs together, from above.

    Strata are counted by their shares: a share of a value is the mean of those in the strata, and so many rows of n are
    in each. Columns with a matrix each are estimated one by one, and their variances added up.
    """
    setting = release.setting
    if isinstance(release, StrataRelease):
        parts = [(many, part) for many, part in release.parts if many]
        return sum((Fraction(many, setting.total) * variance_of(part) for many, part in parts), Fraction(0))
    if isinstance(release, WindowsRelease) and setting.mechanism.each is not None:
        return sum(map(variance_of, release.columns()), Fraction(0))
    alone = not setting.mechanism.beside and setting.mechanism.each is None
    require(alone, "a variance beside other columns is that of strata, or of columns with a matrix each")
    counts = [setting.mass.get(x, 0) for x in range(setting.many)]
    return total_variance(*release.dense, counts, setting.work)


def reached(document: Document, objective: Objective) -> Fraction:
    """The objective of the channel, rounded against it."""
    release = document.release
    if objective.distortion is not None:
        return release.cost(objective.distortion)
    if objective.reach is not None:
        return release.added_capacity(objective.reach)
    if objective.each:
        return release.information_of_each()[0]
    if objective.aim == "variance":
        return variance_of(release)
    if objective.maximise:
        return release.information(objective.about)[0]  # maximised: from below
    value = Fraction(0)
    if objective.theta:
        value += objective.theta * release.information(objective.about)[1]  # minimised: from above
    if objective.theta < 1:
        mechanism = document.setting.mechanism
        given = (mechanism.side,) if mechanism.side and mechanism.encoder != "uninformed" else ()
        value += (1 - objective.theta) * release.information(mechanism.observe, given)[1]
    return value
