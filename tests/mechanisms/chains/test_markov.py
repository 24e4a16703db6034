"""Windows over a Markov chain: the lemma against all outcomes, a thousand bits, and forgeries."""

import json
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import pytest

from dalenius import verify
from dalenius.core import Independent, MarkovChain, MaximizeInformation, Problem
from dalenius.core.forms.windows import chain as along
from dalenius.documents import canonical
from dalenius.errors import InvalidPmf, MismatchError, NotCertified, Unsupported
from dalenius.kernel.check import check
from dalenius.kernel.numbers import Refused
from dalenius.mechanisms import solve

F = Fraction
EVEN = (F(1, 2), F(1, 2))
LAZY = ((F(4, 5), F(1, 5)), (F(1, 5), F(4, 5)))
UNEVEN = ((F(9, 10), F(1, 10)), (F(3, 10), F(7, 10)))


def problem(n, *, size=3, steps=LAZY, start=EVEN, windows=None, views=None):
    chain = MarkovChain(("0", "1"), start, steps, n)
    names = tuple(chain.variables)
    return Problem(
        joint=chain,
        observe=names,
        output="Y",
        form="windows",
        windows=windows or along(names, size, 0),
        objective=MaximizeInformation(names),
        guarantees=tuple(Independent(view) for view in views or [(name,) for name in names]),
    )


def told_about(design, place):
    """p(x_place, y) - p(x_place) p(y) at worst, from all outcomes of the chain and of the letters."""
    law = design.problem.law.multiplied
    windows = design.channel.windows
    joint = {}
    for code, n in zip(law.support.tolist(), law.weights.tolist(), strict=True):
        rows = []
        for part in windows:
            at = 0
            for name in part.inputs:
                at = at * 2 + code[list(law.variables).index(name)]
            rows.append(part.rows[at])
        for letters in product(*(range(len(row)) for row in rows)):
            p = F(n, law.total)
            for row, y in zip(rows, letters, strict=True):
                p *= row[y]
            joint[code[place], letters] = joint.get((code[place], letters), 0) + p
    x, y = {}, {}
    for (a, b), p in joint.items():
        x[a], y[b] = x.get(a, 0) + p, y.get(b, 0) + p
    return max(abs(joint.get((a, b), 0) - x[a] * y[b]) for a in x for b in y)


@pytest.mark.long
@pytest.mark.parametrize("steps", [(LAZY, (F(1, 2), F(1, 2))), (UNEVEN, (F(3, 4), F(1, 4)))])
def test_every_sample_is_hidden_when_all_outcomes_are_gone_through(steps):
    design = solve(problem(6, steps=steps[0], start=steps[1]))
    assert float(design.value) > 0.5
    assert all(told_about(design, place) == 0 for place in range(6))


BEYOND = [
    ((("X2", "X3"),), [("X1",), ("X3",)]),
    ((("X2", "X3"), ("X5", "X6")), [("X7",), ("X1",), ("X3",), ("X5",)]),
    ((("X1", "X2", "X3"), ("X4", "X5")), [("X1",), ("X7",)]),
]


@pytest.mark.parametrize(("windows", "views"), BEYOND)
def test_samples_beyond_the_outermost_windows_are_hidden(windows, views):
    """They were promised to be, and hung together with an end of a window that told about it."""
    asked = {"windows": windows, "views": views, "steps": UNEVEN, "start": (F(3, 4), F(1, 4))}
    design = solve(problem(20, **asked))
    assert [figures["leakage_bits"] for figures in design.proved] == ["0"] * len(views)
    short = SimpleNamespace(problem=problem(7, **asked), channel=design.channel)  # few enough to go through
    assert [told_about(short, int(name[1:]) - 1) for (name,) in views] == [0] * len(views)


def test_windows_that_are_private_by_themselves_leak_together():
    """The ends are views for a reason: without them a design of each run by itself tells about its neighbours."""
    from dalenius.core import Certificate, Channel, Windows
    from dalenius.mechanisms.proving import proved

    chain = problem(9)
    alone = solve(problem(3)).channel.windows[0]
    names = list(chain.observe)
    parts = tuple(
        Channel(dict.fromkeys(names[k : k + 3], ("0", "1")), {f"Y{k}": alone.output["Y1"]}, alone.rows)
        for k in (0, 3, 6)
    )
    leaking = Windows(dict.fromkeys(names, ("0", "1")), parts)
    with pytest.raises(NotCertified):
        proved(chain, leaking, [Certificate({"rule": "chain"})], method="by hand", remarks=[])


@pytest.fixture(scope="module")
def long():
    return solve(problem(60))


def test_sixty_samples_by_the_lemma(long):
    verdict = verify(long)
    assert verdict.rule == "chain"
    assert 0 < verdict.value <= verdict.bound
    assert [figures["leakage_bits"] for figures in verdict.kept.promises] == [0] * 60


@pytest.mark.slow
def test_a_thousand_bits_in_windows_of_three_are_proved_private():
    design = solve(problem(1000))
    assert float(design.value) > 150
    verify(design)


def changed(design, **parts):
    document = json.loads(design.dumps())
    for path, value in parts.items():
        at = document
        *inner, last = path.split("__")
        for key in inner:
            at = at[int(key) if key.isdigit() else key]
        at[int(last) if last.isdigit() else last] = value
    return canonical(document)


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"law__steps__0": ["3", "2"]}, "stationary|out of one sum"),
        ({"law__steps__0": ["1", "4"]}, "stationary"),
        ({"law__steps": [["3", "2"], ["2", "3"]]}, "independent"),
        ({"law__start": ["0", "0"]}, "not one of its letters"),
        ({"law__start": ["1", "1", "1"]}, "not one of its letters"),
        ({"channel__windows__1__reads": [2, 3, 4]}, "shares a sample"),
        ({"channel__windows__1__reads": [3, 4, 6]}, "no run of neighbours"),
        ({"promises__0__secret": ["X1", "X9"]}, "the lemma is silent"),
        ({"claims__bound": "1"}, "bound"),
        ({"variables__3__letters": ["a", "b"]}, "different letters"),
    ],
)
def test_a_forged_chain_is_refused(long, parts, why):
    with pytest.raises(Refused, match=why):
        check(changed(long, **parts))


def test_without_promises_of_independence_nothing_is_taken_from_the_bound(long):
    document = json.loads(long.dumps())
    for k, promise in enumerate(document["promises"]):
        document["promises"][k] = {
            "promise": "leakage",
            "secret": promise["secret"],
            "at_most_bits": "0",
            "within": None,
        }
    with pytest.raises(Refused, match="the claimed bound is not proved"):
        check(canonical(document))


def test_one_window_has_no_ends_to_hide():
    design = solve(problem(40, windows=(("X1", "X2", "X3"),)))
    assert float(design.value) > 0.5


def test_views_of_neighbours_and_gaps_between_windows():
    windows = (("X1", "X2", "X3"), ("X5", "X6", "X7"), ("X9", "X10", "X11"))
    wide = problem(40, windows=windows, views=[("X1", "X2"), ("X5", "X7"), ("X4",), ("X20",), ("X6",)])
    design = solve(wide)
    assert verify(design).kept.promises[2]["leakage_bits"] == 0
    assert float(design.value) > 0


@pytest.mark.parametrize(
    ("windows", "views", "why"),
    [
        ((("X1", "X2", "X3"), ("X3", "X4", "X5")), None, "share no sample"),
        ((("X1", "X3"),), None, "run of neighbours"),
        (None, [("X3", "X4")], "spread over several windows"),
    ],
)
def test_windows_of_which_the_lemma_does_not_speak(windows, views, why):
    with pytest.raises(Unsupported, match=why):
        solve(problem(6, windows=windows, views=views))


def test_chains_that_are_none():
    for wrong, why in (
        ({"initial": (F(1, 3), F(2, 3))}, "not stationary"),
        ({"transition": ((F(1), F(0)),)}, "a row of 2"),
        ({"transition": ((F(1), F(1)), (F(0), F(1)))}, "sum to 1"),
        ({"n": 1}, "at least two samples"),
    ):
        good = {"letters": ("0", "1"), "initial": (F(1, 2), F(1, 2)), "transition": LAZY, "n": 5}
        with pytest.raises(InvalidPmf, match=why):
            MarkovChain(**(good | wrong))
    chain = MarkovChain(("0", "1"), (F(1, 2), F(1, 2)), LAZY, 30)
    assert MarkovChain.from_json(chain.to_json()) == chain
    with pytest.raises(MismatchError):
        chain.place("Z")
    with pytest.raises(Unsupported, match="outcomes"):
        _ = chain.multiplied
