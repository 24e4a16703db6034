"""Compositions of windows: the lemma against brute force, the overlap that leaks, and planted corruptions."""

import copy
import json
import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import pytest
from contract import assert_kept, information

from dalenius.convert import checked as check
from dalenius.certify.checking import prove
from dalenius.certify.composition import Composition
from dalenius.core import Certificate, Channel, Design, Independent, Pmf, ProductPmf, Windows
from dalenius.core.numbers import exact, up
from dalenius.designs import disclose, windows
from dalenius.errors import NotCertified, Unsupported
from dalenius.measures import entropy, examine_mapping, surprisal_bound
from dalenius.testing import disclosure, self_disclosure

HAIR = Fraction(1, 10**12)


def coins(*shares):
    """Independent samples X1, X2, ... with these pmfs."""
    groups = []
    for k, share in enumerate(shares, 1):
        letters = tuple(map(str, range(len(share))))
        groups.append(Pmf.from_records({f"X{k}": letters}, [((a,), p) for a, p in zip(letters, share, strict=True)]))
    return ProductPmf(tuple(groups))


def alike(q, n):
    return coins(*[[1 - Fraction(q), Fraction(q)]] * n)


def about_themselves(law, lists):
    names = tuple(law.variables)
    return replace(disclosure(law, names, names, [[n] for n in names]), form="windows", windows=lists)


def by_lemma(design):
    return replace(design, certificate=Certificate("composition"))


# --- the lemma against brute force -----------------------------------------------------------------------------------
def random_forest(draw, n, most):
    """A cover of n samples by windows without cycles: each window takes one old sample and some new ones, or none."""
    names, lists, used = [f"X{k}" for k in range(1, n + 1)], [], []
    draw.shuffle(names)
    while names:
        fresh = [names.pop() for _ in range(min(len(names), draw.randrange(1, most)))]
        window = [*fresh, draw.choice(used)] if used and draw.random() < 0.8 else fresh
        used += fresh
        draw.shuffle(window)
        lists.append(tuple(window))
    return tuple(lists)


@pytest.mark.parametrize("seed", [0, 1, 2, pytest.param(3, marks=pytest.mark.slow), 4, 5, 6, 7])
def test_a_forest_of_private_windows_is_private_by_brute_force(seed):
    draw = random.Random(seed)
    n = draw.choice([4, 5])
    shares = []
    for _ in range(n):
        counts = [draw.randrange(1, 6) for _ in range(draw.choice([2, 2, 3]))]
        shares.append([Fraction(c, sum(counts)) for c in counts])
    problem = about_themselves(coins(*shares), random_forest(draw, n, 3))
    design = windows(problem)
    for guarantee in problem.guarantees:
        assert_kept(design.problem, design.channel.rows, guarantee)
    verdict = prove(by_lemma(design).to_json())
    told = information(design.problem, design.channel.rows, problem.objective.names)
    assert float(verdict.value) == pytest.approx(told, abs=1e-12)
    listed = prove(replace(design, certificate=Certificate("universal")).to_json())
    assert told - 1e-12 <= verdict.bound <= float(listed.bound) + 1e-12
    for one, all_ in zip(verdict.figures, listed.figures, strict=True):
        assert one["guess_after"] == all_["guess_after"]
        for name, bits in one["with_one_more_bits"].items():  # each the same as counted over all outcomes
            assert float(bits) == pytest.approx(float(all_["with_one_more_bits"][name]), abs=1e-12)
        near = max((float(b) for b in one["with_one_more_bits"].values()), default=0.0)
        assert all(float(b) <= near + 1e-12 for b in all_["with_one_more_bits"].values())  # farther samples tell less


@pytest.mark.parametrize(
    "shares",
    [
        [["9/10", "1/10"]] * 4,
        [["99/100", "1/100"]] * 5,
        [["1/2", "1/3", "1/6"], ["4/5", "1/5"], ["7/10", "3/10"]],
    ],
)
def test_the_surprisal_bound_is_the_one_counted_over_all_outcomes(shares):
    law = coins(*([Fraction(p) for p in share] for share in shares))
    problem = about_themselves(law, tuple(pairwise(law.variables)))
    views = [list(v) for v in problem.views]
    composed = Composition(windows(problem).to_json())
    expected = surprisal_bound(law.multiplied, list(law.variables), views)
    assert float(composed.surprisal(views)) == pytest.approx(expected, abs=1e-12)
    some = views[:2]
    expected = surprisal_bound(law.multiplied, list(law.variables), some)
    assert float(composed.surprisal(some)) == pytest.approx(expected, abs=1e-12)
    assert composed.bound(list(law.variables), views) <= composed.surprisal(views)
    assert float(composed.surprisal([])) == pytest.approx(entropy(law.multiplied, list(law.variables)), abs=1e-12)


def test_independent_groups_with_a_hidden_target_each():
    """Two groups (W, A, B) with A, B noisy views of W; one window for each; private and additive."""
    records = [
        (
            (w, a, b),
            Fraction(1, 2)
            * (Fraction(2, 3) if a == w else Fraction(1, 3))
            * (Fraction(3, 4) if b == w else Fraction(1, 4)),
        )
        for w, a, b in product("01", repeat=3)
    ]
    groups = [Pmf.from_records(dict.fromkeys((f"W{k}", f"A{k}", f"B{k}"), ("0", "1")), records) for k in (1, 2)]
    samples = ("A1", "B1", "A2", "B2")
    problem = replace(
        disclosure(ProductPmf(tuple(groups)), samples, ["W1", "W2"], [[n] for n in samples]),
        form="windows",
        windows=(("A1", "B1"), ("A2", "B2")),
    )
    design = windows(problem)
    assert design.channel.form == "product"
    alone = disclose(disclosure(groups[0], ["A1", "B1"], ["W1"], [["A1"], ["B1"]]))
    assert float(design.value) == pytest.approx(2 * float(alone.value), abs=1e-15)
    verdict = prove(by_lemma(design).to_json())
    assert abs(verdict.value - design.value) < HAIR
    for guarantee in problem.guarantees:
        assert_kept(design.problem, design.channel.rows, guarantee)


@pytest.mark.parametrize(
    "lists",
    [
        (("X1", "A"), ("B", "X2")),
        (("X1", "A", "B"), ("B", "X2")),
        (("X1", "A"), ("A", "X2"), ("B", "X3")),
    ],
)
def test_windows_that_meet_in_a_group_of_dependent_variables(lists):
    """What each window sees of the shared group is hidden jointly, so nothing of the group is told at all."""
    counts = zip(product("01", repeat=2), [4, 1, 2, 3], strict=True)
    pair = Pmf.from_records({"A": ("0", "1"), "B": ("0", "1")}, counts)
    law = ProductPmf((*alike("2/5", 3).groups, pair))
    names = tuple(law.variables)
    problem = replace(disclosure(law, names, names, [[n] for n in names] + [["A", "B"]]), form="windows", windows=lists)
    design = windows(problem)
    assert design.value > 0
    verdict = prove(by_lemma(design).to_json())
    assert float(verdict.value) == pytest.approx(information(design.problem, design.channel.rows, names), abs=1e-12)
    for guarantee in problem.guarantees:
        assert_kept(design.problem, design.channel.rows, guarantee)


def test_two_windows_that_look_at_the_same_two_groups_close_a_cycle():
    pair = Pmf.from_records({"A": ("0", "1"), "B": ("0", "1")}, zip(product("01", repeat=2), [4, 1, 2, 3], strict=True))
    law = ProductPmf((*alike("2/5", 1).groups, pair))
    names = tuple(law.variables)
    problem = disclosure(law, names, names, [[n] for n in names])
    with pytest.raises(Unsupported, match="shares X1, B with window 1"):
        windows(replace(problem, form="windows", windows=(("X1", "A"), ("X1", "B"))))


def test_a_joint_view_inside_one_window_is_proved_and_one_across_windows_is_not():
    law = alike("2/5", 5)
    views = [["X1", "X2"], ["X3"], ["X4"], ["X5"]]
    problem = disclosure(law, tuple(law.variables), tuple(law.variables), views)
    design = windows(replace(problem, form="windows", windows=(("X1", "X2", "X3"), ("X3", "X4", "X5"))))
    assert prove(by_lemma(design).to_json()).figures[0]["leakage_bits"] == "0"
    assert_kept(design.problem, design.channel.rows, Independent(("X1", "X2")))
    document = by_lemma(design).to_json()
    document["guarantees"][0]["promised"] = {"independent": ["X1", "X4"]}
    with pytest.raises(NotCertified, match="no window has all of X1, X4"):
        prove(document)


# --- errata E1: what leaks -------------------------------------------------------------------------------------------
def overlapping(q):
    """The paper's windows of three with two samples in common, each with the best private mapping of three samples."""
    law = alike(q, 4)
    best = disclose(self_disclosure([1 - Fraction(q), Fraction(q)], 3)).channel
    parts = [
        Channel(law.alphabets(names), {f"Y{k}": next(iter(best.output.values()))}, best.rows)
        for k, names in enumerate([("X1", "X2", "X3"), ("X2", "X3", "X4")], 1)
    ]
    return law, Windows(law.variables, tuple(parts))


@pytest.mark.parametrize(
    ("q", "outer", "inner"),
    [("2/5", 0.1524, 0.0979), ("3/10", 0.1119, 0.1535), ("1/5", 0.0387, 0.1067), ("1/10", 0.0060, 0.0397)],
)
def test_windows_that_share_two_samples_leak_as_in_errata_e1(q, outer, inner):
    law, channel = overlapping(q)
    shown = examine_mapping(law.multiplied, channel, [[n] for n in law.variables])
    assert [round(s.leakage_bits, 4) for s in shown] == [outer, inner, inner, outer]
    assert not any(s.independent for s in shown)


def test_one_pair_of_letters_gives_the_last_sample_away():
    """q = 2/5: two letters of probability 18/625 together after which X4 is certainly 1."""
    law, channel = overlapping("2/5")
    joint = channel.after(law.multiplied)
    sure = [
        p
        for y1, y2 in product(channel.output["Y1"], channel.output["Y2"])
        if (p := joint.probability(Y1=y1, Y2=y2)) and joint.probability(X4="1", Y1=y1, Y2=y2) == p
    ]
    assert Fraction(18, 625) in sure


@pytest.mark.parametrize(
    ("kind", "reason"), [("composition", "closes a cycle"), ("universal", "differs from the product")]
)
def test_the_checker_refuses_what_leaks_by_lemma_and_by_counting(kind, reason):
    law, channel = overlapping("2/5")
    problem = about_themselves(law, (("X1", "X2", "X3"), ("X2", "X3", "X4")))
    design = Design(problem, channel, Fraction(0), Fraction(10), Certificate(kind), "by hand")
    with pytest.raises(NotCertified, match=reason):
        prove(design.to_json())


def test_a_ring_of_pairs_leaks_though_pairs_share_one_sample_each():
    law, bits = alike("1/2", 3), ("0", "1")
    parity = ((1, 0), (0, 1), (0, 1), (1, 0))
    pairs = [("X1", "X2"), ("X2", "X3"), ("X3", "X1")]
    biased = alike("2/5", 3)
    best = disclose(self_disclosure(["3/5", "2/5"], 2)).channel
    ring = Windows(
        biased.variables,
        tuple(Channel(biased.alphabets(e), {f"Y{k}": bits}, best.rows) for k, e in enumerate(pairs)),
    )
    assert not examine_mapping(biased.multiplied, ring, [["X1"]])[0].independent
    tell = Windows(
        law.variables, tuple(Channel(law.alphabets(e), {f"Y{k}": bits}, parity) for k, e in enumerate(pairs))
    )
    assert examine_mapping(law.multiplied, tell, [["X1"]])[0].independent  # a cycle need not leak; it may
    design = Design(
        about_themselves(biased, tuple(pairs)), ring, Fraction(0), Fraction(9), Certificate("composition"), ""
    )
    with pytest.raises(NotCertified, match="closes a cycle"):
        prove(design.to_json())


def test_independence_given_a_hidden_cause_is_not_enough_for_disjoint_windows():
    """P(X = 1 | W) = 1/10 or 1/2: a pair tells about W in private, so two pairs tell about each sample."""
    ones = {"0": Fraction(1, 10), "1": Fraction(1, 2)}
    records = [
        ((w, *x), Fraction(1, 2) * ones[w] ** x.count("1") * (1 - ones[w]) ** x.count("0"))
        for w in "01"
        for x in product("01", repeat=4)
    ]
    names = ("X1", "X2", "X3", "X4")
    joint = Pmf.from_records(dict.fromkeys(("W", *names), ("0", "1")), records)
    small = disclosure(joint.marginal(["W", "X1", "X2"]), ["X1", "X2"], ["X1", "X2"], [["X1"], ["X2"]])
    best = disclose(small).channel
    letters = next(iter(best.output.values()))
    pair = Windows(
        joint.alphabets(names),
        tuple(Channel(joint.alphabets(e), {f"Y{k}": letters}, best.rows) for k, e in enumerate([names[:2], names[2:]])),
    )
    alone = examine_mapping(joint.marginal(["X1", "X2"]), pair.windows[0], [["X1"]])[0]
    together = examine_mapping(joint.marginal(names), pair, [["X1"]])[0]
    assert alone.independent
    assert not together.independent
    assert together.leakage_bits == pytest.approx(0.0011002058920738, abs=1e-12)


# --- planted corruptions ---------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def honest():
    law = alike("3/10", 40)
    return json.loads(windows(about_themselves(law, tuple(pairwise(law.variables)))).dumps())


def test_forty_samples_are_accepted(honest):
    verdict = check(json.dumps(honest))
    assert verdict.kind == honest["certificate"]["kind"] == "composition"
    assert exact(honest["value"]) <= verdict.value <= verdict.bound <= exact(honest["bound"])


def move(holder, key, by):
    holder[key] = str(exact(holder[key]) + Fraction(by))


def entry(d):
    rows = d["channel"]["channels"][7]["rows"]
    move(rows[1], 0, "1e-15")
    move(rows[1], 1, "-1e-15")


def negative(d):
    d["channel"]["channels"][7]["rows"][1] = ["-1/3", "4/3"]


def heavier(d):
    d["joint"]["independent"][3]["pmf"][0]["p"] = "8/10"


def other_coin(d):
    group = d["joint"]["independent"][3]["pmf"]
    group[0]["p"], group[1]["p"] = "3/5", "2/5"


def ring(d):
    first, last = d["channel"]["channels"][0], d["channel"]["channels"][-1]
    last["inputs"] = [first["inputs"][0], last["inputs"][0]]


def smuggled(d):
    for record in d["joint"]["independent"][4]["pmf"]:
        record["X4"] = "0"


def twice(d):
    d["joint"]["independent"][3]["pmf"] = [{"X4": "0", "p": "7/20"}, {"X4": "0", "p": "7/20"}, {"X4": "1", "p": "3/10"}]


def another_word(d):
    d["channel"]["channels"][3]["output"] = "Y9"


def same_name(d):
    d["joint"]["independent"][3] = copy.deepcopy(d["joint"]["independent"][4])


def dependent(d):
    d["joint"] = {"variables": {"X1": ["0", "1"]}, "pmf": [{"X1": "0", "p": "1"}]}


def value_above(d):
    d["value"] = str(exact(d["value"]) + HAIR)


def bound_below(d):
    d["bound"] = up(exact(d["bound"]) - HAIR)
    d["gap"] = str(exact(d["bound"]) - exact(d["value"]))


def false_bound(d):
    d["bound"] = d["value"]
    d["gap"] = "0"


def small_gap(d):
    d["gap"] = str(exact(d["gap"]) - HAIR)


def small_entropy(d):
    d["entropy_bits"] = str(exact(d["entropy_bits"]) - HAIR)


def better_guess(d):
    d["guarantees"][2]["proved"]["guess_after"] = "0.6"


def better_neighbour(d):
    d["guarantees"][2]["proved"]["with_one_more_bits"]["X2"] = "0"


def hidden_neighbour(d):
    del d["guarantees"][2]["proved"]["with_one_more_bits"]["X2"]


def wider_view(d):
    d["guarantees"][0]["promised"] = {"independent": ["X1", "X2"]}


def other_promise(d):
    d["guarantees"][0]["promised"] = {"leakage": ["X1"], "at_most_bits": "0"}


def keeps(d):
    d["mechanism"]["keep"] = ["X1"]


def limited(d):
    d["limit"] = [{"distortion": "hamming", "of": ["X1"], "at_most": "1/2"}]


def other_letters(d):
    d["channel"]["inputs"]["X9"] = ["1", "0"]


def counted(d):
    d["certificate"]["kind"] = "universal"


@pytest.mark.parametrize(
    ("corrupt", "reason"),
    [
        (entry, "differs from the product"),
        (negative, "not a pmf"),
        (heavier, "does not sum to one"),
        (other_coin, "differs from the product"),
        (ring, "closes a cycle"),
        (same_name, "not disjoint"),
        (smuggled, "other variables"),
        (twice, "stands twice"),
        (another_word, "one channel for each output"),
        (dependent, "not a product of independent groups"),
        (value_above, "value .* not reached"),
        (bound_below, "bound .* not proved"),
        (false_bound, "bound .* not proved"),
        (small_gap, "gap is smaller"),
        (small_entropy, "entropy is too small"),
        (better_guess, "guarantee 3 is not proved"),
        (better_neighbour, "guarantee 3 is not proved"),
        (hidden_neighbour, "guarantee 3 is not proved"),
        (wider_view, "differs from the product"),
        (other_promise, "nothing else"),
        (keeps, "keeps no column"),
        (limited, "limits and side information"),
        (other_letters, "another alphabet"),
        (counted, "too large to be written out"),
    ],
    ids=lambda f: f.__name__ if callable(f) else "",
)
def test_a_planted_corruption_is_refused_for_its_reason(honest, corrupt, reason):
    document = copy.deepcopy(honest)
    corrupt(document)
    with pytest.raises(NotCertified, match=reason):
        check(json.dumps(document))
