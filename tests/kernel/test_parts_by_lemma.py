"""Windows and sums of any length: the lemmas against going through all outcomes."""

from contextlib import suppress
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from dalenius.kernel import chained, composite
from dalenius.kernel.check import reached
from dalenius.kernel.numbers import Node, Refused
from dalenius.kernel.privacy import check_privacy
from dalenius.kernel.promises import Independent, LocalDP
from dalenius.kernel.rules import proved_bound
from tests.effort import effort
from tests.kernel.parts_documents import CLOSE, ORACLE, dense, design, honest, known, read, written_out


@pytest.fixture
def by_lemma(monkeypatch):
    """No outcome is gone through: the lemmas prove everything, also of tiny designs."""
    monkeypatch.setattr(composite, "GONE_THROUGH", 0)


# --- windows by the lemma ---------------------------------------------------------------------------------------------
def noisy_sum(random, sizes, width, noise):
    """Y = sum of the letters modulo their number, with the chance 1 - noise / 12 of being drawn evenly instead."""
    rows = []
    for x in product(*map(range, sizes)):
        row = [12 - noise] * width
        row[sum(x) % width] += noise * width
        rows.append(row)
    return dense(rows)


def uniform_windows(random, samples, windows, size=2):
    """Uniform samples and windows that tell a noisy sum of what they see, hence nothing of a part of it."""
    names = [f"X{k}" for k in range(samples)]
    groups = [known([name], [[a, "1"] for a in range(size)]) for name in names]
    channel = {
        "form": "windows",
        "windows": [
            {"reads": reads, "channel": noisy_sum(random, [size] * len(reads), size, random.randint(1, 12))}
            for reads in windows
        ],
    }
    return design(dict.fromkeys(names, size), {"law": "independent", "groups": groups}, {"observe": names}, channel)


def random_forest(random, samples):
    """Windows that share at most one sample with what was there before."""
    used, windows = [0], []
    left = list(range(1, samples))
    while left:
        own, left = left[: (many := random.randint(1, 2))], left[many:]
        start = [random.choice(used)] if random.random() < 0.8 else []
        windows.append(sorted(start + own) if start or len(own) > 1 else [random.choice(used), *own])
        windows[-1].sort()
        used += own
    return windows


@pytest.mark.parametrize("seed", range(12))
def test_what_the_lemma_hides_is_hidden_when_all_outcomes_are_gone_through(seed, by_lemma):
    random = Random(seed)
    document = uniform_windows(random, random.randint(3, 5), [], 2 + seed % 2)
    samples = len(document["mechanism"]["observe"])
    document = uniform_windows(random, samples, random_forest(random, samples), 2 + seed % 2)
    lemma, plain = read(document).release, read(written_out(document)).release
    assert lemma.by_lemma
    hidden = 0
    names = document["mechanism"]["observe"]
    for view in [(a,) for a in names] + [(a, b) for a in names for b in names if a < b]:
        try:
            lemma.independent(view)
        except Refused:
            continue
        hidden += 1
        plain.independent(view)
        ours, theirs = lemma.told(view), plain.told(view)
        assert (ours["guess_before"], ours["guess_after"]) == (theirs["guess_before"], theirs["guess_after"])
        assert ours["leakage_bits"] == theirs["leakage_bits"] == 0
        assert abs(ours["entropy_bits"] - theirs["entropy_bits"]) < CLOSE
    assert hidden >= samples  # each sample by itself, at least
    (low, high), (below, _) = lemma.information(names), plain.information(names)
    assert abs(low - below) < CLOSE
    assert low <= high
    for about in ([names[0]], names[:2]):
        assert lemma.information(about)[0] <= plain.information(about)[1] + CLOSE


@pytest.mark.parametrize("seed", range(4))
def test_what_one_more_column_tells_is_what_the_window_tells(seed, by_lemma):
    random = Random(seed)
    document = uniform_windows(random, 4, [[0, 1], [1, 2, 3]])
    lemma, plain = read(document).release, read(written_out(document)).release
    for view, more in ((("X0",), "X1"), (("X1",), "X0"), (("X2",), "X3"), (("X2", "X1"), "X3")):
        assert abs(lemma.information(view, (more,))[1] - plain.information(view, (more,))[1]) < CLOSE
    with pytest.raises(Refused, match="no window looks at all of X0, X2"):
        lemma.information(("X0",), ("X2",))


def test_windows_that_close_a_cycle_or_tell_of_what_they_share_are_refused(by_lemma):
    ring = uniform_windows(Random(1), 3, [[0, 1], [1, 2], [0, 2]])
    with pytest.raises(Refused, match="window 2 closes a cycle"):
        read(ring).release.independent(("X0",))
    telling = uniform_windows(Random(1), 3, [[0, 1], [1, 2]])
    telling["channel"]["windows"][1]["channel"] = dense([[2, 1], [2, 1], [1, 2], [1, 2]])  # tells of X1
    with pytest.raises(Refused, match="not independent of X1"):
        read(telling).release.independent(("X0",))
    apart = uniform_windows(Random(1), 4, [[0, 1], [1, 2]])
    with pytest.raises(Refused, match="no window looks at all of X0, X2"):
        read(apart).release.independent(("X0", "X2"))
    read(apart).release.independent(("X3",))  # no window looks at it at all


def test_the_lemma_is_for_what_leaves_alone(by_lemma):
    document = uniform_windows(Random(1), 4, [[0, 1], [1, 2]])
    document["mechanism"]["observe"] = ["X0", "X1", "X2"]
    document["objective"]["about"] = ["X0"]
    document["mechanism"]["keep"] = ["X3"]
    with pytest.raises(Refused, match="a column leaves as it is"):
        read(document).release.independent(("X0",))


def test_variables_that_hang_together_are_one_group(by_lemma):
    """Two columns of one group: a window that tells of both jointly, though of neither alone, is seen."""
    pair = known(["A", "B"], [[0, 0, "2"], [0, 1, "1"], [1, 0, "1"], [1, 1, "2"]])
    other = known(["C"], [[0, "1"], [1, "1"]])
    names = ["A", "B", "C"]
    law = {"law": "independent", "groups": [pair, other]}
    both = [
        {"reads": [0, 2], "channel": noisy_sum(None, [2, 2], 2, 6)},
        {"reads": [1], "channel": dense([[1, 1], [1, 1]])},
    ]
    fine = design(dict.fromkeys(names, 2), law, {"observe": names}, {"form": "windows", "windows": both})
    read(fine).release.independent(("A", "B"))
    both[1]["channel"] = dense([[2, 1], [1, 2]])
    with pytest.raises(Refused, match="not independent of B"):
        read(fine).release.independent(("C",))


@pytest.mark.parametrize("name", ["windows_few", "windows_part", "sums_few"])
def test_small_designs_have_the_same_figures_by_the_lemma(name, by_lemma):
    document = honest(name)
    gone, lemma = ORACLE[name], read(document)
    kept = check_privacy(replace_claims(lemma, document))
    assert all(figures["leakage_bits"] == 0 for figures in kept.promises)
    value = reached(lemma, lemma.objective)
    assert 0 < value <= Fraction(gone["value"]) + CLOSE
    assert name != "windows_few" or abs(value - Fraction(gone["value"])) < CLOSE
    bound = proved_bound(lemma.setting, lemma.promises, (), lemma.objective, Node({"rule": "groups"}))
    assert abs(bound - Fraction(gone["bound"])) < CLOSE


def replace_claims(document, source):
    """The same document without claims given a column: the lemma may know less of them."""
    bare = source | {"claims": source["claims"] | {"promises": [[] for _ in source["promises"]]}}
    return read(bare)


# --- sums by the lemma ------------------------------------------------------------------------------------------------
def sums_of(terms, samples, modulus, rows, scale, prior=("1", "1")):
    names = [f"X{k}" for k in range(samples)]
    groups = [known([name], [[a, n] for a, n in enumerate(prior)]) for name in names]
    state = {"scale": str(scale), "rows": [[str(v) for v in row] for row in rows]}
    channel = {"form": "sums", "modulus": modulus, "states": [state] * samples, "sums": terms}
    return design(
        dict.fromkeys(names, len(prior)), {"law": "independent", "groups": groups}, {"observe": names}, channel
    )


STATES = {
    2: ([[1, 0], [0, 1]], 1, ("1", "1")),
    3: ([[1, 1, 0], [0, 0, 2]], 2, ("2", "1")),
    4: ([[2, 1, 1, 0], [0, 1, 1, 2]], 4, ("1", "1")),
}


@pytest.mark.parametrize("modulus", STATES)
@pytest.mark.parametrize("seed", range(4))
def test_what_sums_are_proved_to_hide_is_hidden_when_all_outcomes_are_gone_through(seed, modulus, by_lemma):
    random = Random(seed)
    samples = 4 if modulus < 4 else 3
    terms = [sorted(random.sample(range(samples), random.randint(2, samples))) for _ in range(random.randint(1, 2))]
    rows, scale, prior = STATES[modulus]
    document = sums_of(terms, samples, modulus, rows, scale, prior)
    lemma, plain = read(document).release, read(written_out(document)).release
    names = document["mechanism"]["observe"]
    if len({tuple(t) for t in terms}) < len(terms):
        with pytest.raises(Refused, match="the sums are not independent of each other"):
            lemma.independent(names[:1])
        return
    hidden = 0
    for view in [(a,) for a in names] + [(a, b) for a in names for b in names if a < b]:
        try:
            lemma.independent(view)
        except Refused:
            continue
        hidden += 1
        plain.independent(view)
        assert lemma.told(view)["guess_after"] == plain.told(view)["guess_after"]
        for more in names:
            assert lemma.information(view, (more,))[1] >= plain.information(view, (more,))[1] - CLOSE
    assert hidden
    value = lemma.information(names)[0]
    assert 0 <= value <= plain.information(names)[0] + CLOSE


def test_a_chain_of_sums_of_fair_bits_tells_all_but_one_bit(by_lemma):
    document = sums_of([[0, 1], [1, 2]], 3, 2, *STATES[2])
    assert read(document).release.information(["X0", "X1", "X2"])[0] == 2
    assert read(document).release.information(["X0"], ["X1"]) == (0, 1)
    assert read(document).release.information(["X0"], ["X0"]) == (0, 0)


def test_sums_refuse_what_the_lemma_does_not_say(by_lemma):
    document = sums_of([[0, 1], [1, 2]], 3, 2, *STATES[2])
    with pytest.raises(Refused, match="not proved to hide X0, X1"):
        read(document).release.independent(("X0", "X1"))
    with pytest.raises(Refused, match="tell of all samples together"):
        read(document).release.information(["X0"])
    document["law"]["groups"][0]["outcomes"] = [[0, "2"], [1, "1"]]
    with pytest.raises(Refused, match="the state of X0 is not uniform"):
        read(document).release.independent(("X1",))
    pair = known(["X0", "X1"], [[0, 0, "1"], [0, 1, "1"], [1, 0, "1"], [1, 1, "1"]])
    document["law"]["groups"][:2] = [pair]
    with pytest.raises(Refused, match="X0 is not independent of every other variable"):
        read(document).release.independent(("X2",))


def test_many_entropies_are_replaced_by_their_mean_which_only_lowers_the_value(monkeypatch, by_lemma):
    import dalenius.kernel.sums as module

    document = sums_of([[0, 1], [1, 2], [2, 3]], 4, 3, *STATES[3])
    names = document["mechanism"]["observe"]
    monkeypatch.setattr(module, "CONVOLVED", 0)
    exact = read(document).release.information(names)[0]
    monkeypatch.setattr(module, "ADDED", 1)
    mean = read(document).release.information(names)[0]
    assert 0 <= mean < exact
    monkeypatch.setattr(module, "CONVOLVED", 1 << 12)
    assert read(document).release.information(names)[0] >= mean
    assert exact <= read(written_out(document)).release.information(names)[0]


# --- chains by the lemma ----------------------------------------------------------------------------------------------
STEPS = ([["4", "1"], ["1", "4"]], [["9", "1"], ["3", "7"]])


def chain_of(random, samples, start, steps):
    """Runs of one to three neighbours with gaps, at either end too; each tells the parity of some of its samples."""
    names = [f"X{k}" for k in range(samples)]
    windows, at = [], random.randint(0, 2)
    while at < samples and len(windows) < 3:
        reads = list(range(at, min(at + random.randint(1, 3), samples)))
        of = [k for k in range(len(reads)) if random.random() < 0.6]
        parity = [sum(x[k] for k in of) % 2 for x in product(range(2), repeat=len(reads))]
        windows.append({"reads": reads, "channel": dense([[int(y == p) for y in range(2)] for p in parity])})
        at = reads[-1] + random.randint(1, 3)
    law = {"law": "markov", "start": start, "steps": steps}
    return design(dict.fromkeys(names, 2), law, {"observe": names}, {"form": "windows", "windows": windows})


@pytest.mark.parametrize("seed", range(effort(40, 400)))
def test_what_windows_over_a_chain_hide_is_hidden_when_all_outcomes_are_gone_through(seed, monkeypatch):
    """Samples beyond the outermost windows were said to be hidden whatever these windows tell."""
    monkeypatch.setattr(chained, "GONE_THROUGH", 0)
    random = Random(seed)
    document = chain_of(random, 5, ["1", "1"], STEPS[0]) if seed % 2 else chain_of(random, 5, ["3", "1"], STEPS[1])
    lemma, plain = read(document).release, read(written_out(document)).release
    assert lemma.by_lemma
    names = document["mechanism"]["observe"]
    for view in [(a,) for a in names] + [(a, b) for a in names for b in names if a < b]:
        try:
            lemma.independent(view)
        except Refused:
            continue
        plain.independent(view)
        with suppress(Refused):
            assert lemma.information(view, names[:1])[1] >= plain.information(view, names[:1])[1] - CLOSE
    with suppress(Refused):
        assert lemma.information(names)[0] <= plain.information(names)[1] + CLOSE


def test_a_chain_without_views_is_bounded_by_all_that_it_holds():
    found = read(chain_of(Random(1), 5, ["1", "1"], STEPS[0]))
    level = LocalDP(Fraction(1), None, Fraction(0), (), 1)
    bound = proved_bound(found.setting, (level,), (), found.objective, Node({"rule": "chain"}))
    assert bound == found.setting.law.entropy(found.objective.about, found.work)[1]


# --- groups of several columns, some of them not observed -------------------------------------------------------------
def groups_of(random):
    """Two or three groups of columns that hang together, and windows that tell parities of what they see."""
    groups, observed, sizes = [], [], {}
    for b in range(random.randint(2, 3)):
        own = [f"V{b}{k}" for k in range(random.randint(1, 2))]
        outcomes = [[*x, str(1 + 2 * (sum(x) % 2) * (b % 2))] for x in product(range(2), repeat=len(own))]
        groups.append(known(own, outcomes))
        sizes |= dict.fromkeys(own, 2)
        observed += random.sample(own, random.randint(1, len(own)))
    windows = []
    for _ in range(random.randint(1, 3)):
        reads = sorted(random.sample(range(len(observed)), min(len(observed), random.randint(1, 3))))
        of = [k for k in range(len(reads)) if random.random() < 0.75]
        parity = [sum(x[k] for k in of) % 2 for x in product(range(2), repeat=len(reads))]
        windows.append({"reads": reads, "channel": dense([[int(y == p) for y in range(2)] for p in parity])})
    law = {"law": "independent", "groups": groups}
    return design(sizes, law, {"observe": observed}, {"form": "windows", "windows": windows})


@pytest.mark.parametrize("seed", range(effort(30, 400)))
def test_what_windows_over_groups_hide_is_hidden_and_their_bound_is_not_passed(seed, by_lemma):
    document = groups_of(Random(seed))
    names = [variable["name"] for variable in document["variables"]]
    lemma, plain = read(document), read(written_out(document)).release
    hidden = []
    for view in [(a,) for a in names] + [(a, b) for a in names for b in names if a < b]:
        with suppress(Refused):
            lemma.release.independent(view)
            hidden.append(view)
    for view in hidden:
        plain.independent(view)
    promises = tuple(map(Independent, hidden))
    bound = proved_bound(lemma.setting, promises, (), lemma.objective, Node({"rule": "groups"}))
    assert bound >= plain.information(lemma.objective.about)[0] - CLOSE
