"""Designs for partly known statistics: the contract, reference values, what is refused, and false claims."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from contract import DesignContract, solved

from dalenius.core import Contraction, Distortion, Independent, MinimizeDistortion, Pmf, Problem
from dalenius.core.numbers import exact
from dalenius.documents import canonical
from dalenius.documents import checked as check
from dalenius.errors import Infeasible, InputError, InvalidPmf, NotCertified, Unsupported
from dalenius.measures.correlation import eta_kl, maximal_correlation, s_star
from dalenius.mechanisms import solve
from dalenius.mechanisms.columns.contraction import contract, least_passing, reconstructed
from dalenius.testing import contracted_bit
from tests.effort import effort

HAMMING = [[int(x != y) for y in range(3)] for x in range(3)]


def categories(n: int, at_most: str, limits: tuple[Distortion, ...] = (), absent: int = 0) -> Problem:
    letters = tuple(f"c{k}" for k in range(n + absent))
    return Problem(
        observe=("X",),
        release=("X",),
        objective=MinimizeDistortion(Distortion("hamming", ("X",))),
        guarantees=(Contraction(Fraction(at_most)),),
        limits=limits,
        joint=Pmf.from_records({"X": letters}, [((x,), k + 1) for k, x in enumerate(letters[:n])]),
    )


def matrix(n: int) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(Fraction(abs(x - y)) for y in range(n)) for x in range(n))


class TestContract(DesignContract):
    def problems(self):
        letters = effort(2, 3)  # one problem of three by default: a second each time that it is solved
        return {
            "bit": contracted_bit("9/25"),
            "limit": categories(letters, "1/4", (Distortion(matrix(letters), ("X",), Fraction(4, 5)),)),
            "three": categories(3, "1/5"),
            "impossible input": categories(letters, "0.4", absent=1),
        }

    def infeasible(self):
        return {"limits": categories(3, "1/100", (Distortion(matrix(3), ("X",), Fraction(1, 10)),))}


def test_the_coefficient_of_a_design_is_proved_and_reached() -> None:
    design = solved(categories(effort(3, 4), "1/5"))
    assert design.gap <= Fraction(1, 10**8)
    assert 0.199 < float(exact(design.proved[0]["eta_kl"])) <= 0.2
    assert eta_kl(design.channel)[1] <= 0.2 + 1e-12


@pytest.mark.parametrize("changed", [{"forbid": (("c0", "c2"),)}, {"freeze": ("c0",)}])
def test_what_must_not_change_stays_and_costs_more(
    changed: dict[str, tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dalenius.mechanisms.columns.contraction.FEW", 0)  # the cone program alone: its gap is enough
    free = categories(3, "1/5")
    design = contract(replace(free, **changed))
    assert design.channel.rows[0][2] == 0
    assert design.gap <= Fraction(1, 10**4)
    assert design.bound > contract(free).value


def test_refusals_say_why() -> None:
    both = Pmf.from_records({"X": ("0", "1"), "K": ("0", "1")}, [(("0", "0"), 1), (("1", "1"), 1)])
    kept = replace(contracted_bit("1/2"), keep=("K",), joint=both)
    with pytest.raises(Unsupported, match="kept column or side information"):
        solve(kept)
    mixed = replace(contracted_bit("1/2"), guarantees=(Contraction(Fraction(1, 2)), Independent("X")))
    with pytest.raises(Unsupported, match="promises contraction and nothing else"):
        contract(mixed)
    assert solve(mixed).gap >= 0  # the program of all promises takes both


def test_without_a_prior_only_every_input_makes_sense() -> None:
    with pytest.raises(InputError, match="every_input"):
        least_passing(None, HAMMING, "1/5")
    with pytest.raises(InputError, match="there are 'capacity'"):
        least_passing(fair(3), HAMMING, "1/5", least="variance")
    with pytest.raises(Infeasible, match="no recipe keeps limit"):
        least_passing(fair(2), [[1, 1], [1, 1]], "1/2")


def fair(n: int) -> Pmf:
    letters = tuple(map(str, range(n)))
    return Pmf.from_records({"X": letters}, [((x,), 1) for x in letters])


@pytest.mark.parametrize(
    ("least", "wide"),
    [("eta_kl", 1e-4), ("correlation", 1e-4), pytest.param("s_star", 2e-3, marks=pytest.mark.slow), ("capacity", 1e-4)],
)
def test_each_coefficient_has_two_ends_and_keeps_the_limit(least: str, wide: float) -> None:
    prior = Pmf.from_records({"X": ("0", "1", "2")}, [(("0",), 5), (("1",), 3), (("2",), 2)])
    distortion = [[abs(x - y) for y in range(3)] for x in range(3)]
    found = least_passing(prior, distortion, "9/20", least=least, gap=1e-4)
    assert found.bound <= found.value
    assert found.gap <= wide
    cost = sum(
        Fraction(w, 10) * found.channel.rows[x][y] * distortion[x][y] for x, w in enumerate((5, 3, 2)) for y in range(3)
    )
    assert cost <= Fraction(9, 20)


@pytest.mark.slow
def test_the_coefficients_of_the_best_channels_stand_in_their_order() -> None:
    prior = Pmf.from_records({"X": ("0", "1", "2")}, [(("0",), 5), (("1",), 3), (("2",), 2)])
    found = {least: least_passing(prior, HAMMING, "1/5", least=least) for least in ("correlation", "s_star", "eta_kl")}
    assert found["correlation"].bound <= found["s_star"].value + 1e-9
    assert found["s_star"].bound <= found["eta_kl"].value + 1e-9
    channel = found["eta_kl"].channel
    assert maximal_correlation(prior, channel)[0] ** 2 <= s_star(prior, channel)[1] <= found["eta_kl"].value + 1e-9


def test_theorem_2_with_its_conditions() -> None:
    rng = np.random.default_rng(3)
    p, w = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4), 3)
    out = p @ w
    law, rows = reconstructed(np.sqrt(p)[:, None] * w / np.sqrt(out), p)
    assert np.allclose(law, out)
    assert np.allclose(rows, w)
    with pytest.raises(InvalidPmf, match="positive everywhere"):  # errata: a zero in P_X and uniqueness is lost
        reconstructed([[0.8, 0.2, 0], [0.2, 0.8, 0], [0, 0, 1]], [0.5, 0.5, 0])
    with pytest.raises(InputError, match="does not keep"):
        reconstructed([[0.8, 0.1], [0.2, 0.8]], [0.5, 0.5])


def test_a_card_alone_proves_the_contraction() -> None:
    text = solve(contracted_bit("9/25")).card_text()
    assert check(text).kept.promises[0] is not None
    card = json.loads(text)
    card["promises"][0]["at_most"] = "0.35"
    with pytest.raises(NotCertified, match="more than the promised"):
        check(canonical(card))
