"""Regressions on the columns behind a released table: what the original table gives, and intervals that cover."""

import numpy as np
import pytest

from dalenius.errors import InputError, MismatchError, Unsupported
from dalenius.measures.inversion import Factor, Seen, as_it_is
from dalenius.measures.moments import Moments
from dalenius.measures.regression import regressed
from tests.effort import effort

LETTERS = {"ill": ("no", "yes"), "age": ("20", "40", "60"), "sex": ("f", "m")}
SHAPE = (2, 3, 2)
ROWS = 8000


def stays(name, share):
    """Keep the letter with this probability, else draw one of the others."""
    k = len(LETTERS[name])
    matrix = np.full((k, k), (1 - share) / (k - 1))
    np.fill_diagonal(matrix, share)
    return Factor({name: LETTERS[name]}, {name: LETTERS[name]}, dense=matrix)


def people(rng, rows=ROWS):
    """Log odds of illness: -1 + 0.02 age - 0.5 for men."""
    age, sex = rng.choice(3, rows, p=[0.5, 0.3, 0.2]), rng.integers(0, 2, rows)
    log_odds = -1 + 0.02 * (20 + 20 * age) - 0.5 * sex
    return np.stack([rng.random(rows) < 1 / (1 + np.exp(-log_odds)), age, sex], axis=1).astype(int)


def law():
    """The law that `people` draws from."""
    log_odds = -1 + 0.02 * (20 + 20 * np.arange(3))[:, None] - 0.5 * np.arange(2)
    ill = 1 / (1 + np.exp(-log_odds))
    return np.stack([1 - ill, ill]) * np.array([0.5, 0.3, 0.2])[:, None] / 2


def counts(rows):
    return np.bincount(np.ravel_multi_index(tuple(rows.T), SHAPE), minlength=12).reshape(SHAPE)


def drawn(rng, rows, factors):
    """Each column drawn by itself, row by row."""
    columns = [
        (rng.random(len(rows))[:, None] > np.cumsum(factor.forward(np.eye(factor.letters)), axis=1)[column]).sum(axis=1)
        for factor, column in zip(factors, rows.T, strict=True)
    ]
    return np.stack(columns, axis=1)


def fits(told):
    yield regressed(told, "ill", ["age", "sex"], value="yes", numbers=["age"])
    yield regressed(told, "age", ["ill", "sex"])


@pytest.mark.long
@pytest.mark.parametrize("target", ["table", "population"])
@pytest.mark.parametrize("kept", [False, True])
def test_point_17_intervals_of_the_coefficients_cover(target, kept):
    rng = np.random.default_rng(5)
    factors = [stays("ill", 0.85), stays("age", 0.8), as_it_is("sex", LETTERS["sex"]) if kept else stays("sex", 0.8)]
    table, rounds = people(rng), effort(40, 100)
    plain = [as_it_is(name, letters) for name, letters in LETTERS.items()]
    source = counts(table) if target == "table" else 1e9 * law()
    truth = [fit.estimate for fit in fits(Moments(plain, Seen.of(source)))]
    inside = [np.zeros(len(t)) for t in truth]
    for _ in range(rounds):
        rows = table if target == "table" else people(rng)
        told = Moments(factors, Seen.of(counts(drawn(rng, rows, factors))), target=target)
        for k, fit in enumerate(fits(told)):
            figures = list(fit.coefficients.values())
            inside[k] += [f.low <= t <= f.high for f, t in zip(figures, truth[k], strict=True)]
    for hits in inside:
        assert hits.min() >= 0.88 * rounds


def test_nothing_drawn_is_the_regression_of_the_table():
    """Against the normal equations and the score of the rows themselves."""
    table = people(np.random.default_rng(7), 2000)
    told = Moments([as_it_is(n, a) for n, a in LETTERS.items()], Seen.of(counts(table)))
    logistic, linear = fits(told)
    X = np.stack([np.ones(len(table)), 20 + 20 * table[:, 1], table[:, 2]])
    assert np.abs(X @ (table[:, 0] - 1 / (1 + np.exp(-logistic.estimate @ X)))).max() < 1e-5
    X = np.stack([np.ones(len(table)), table[:, 0], table[:, 2]])
    assert linear.estimate == pytest.approx(np.linalg.lstsq(X.T, 20 + 20 * table[:, 1], rcond=None)[0])
    assert np.abs(linear.covariance).max() < 1e-12  # of the table itself there is nothing left to know
    assert linear.names == ("(intercept)", "ill = yes", "sex = m")


def test_weights_count_rows_and_their_squares_the_error():
    """Rows that weigh two are two rows for the estimate, and not for its error."""
    once = counts(people(np.random.default_rng(8), 3000))
    factors = [stays("ill", 0.85), stays("age", 0.8), stays("sex", 0.9)]
    plain = Moments(factors, Seen.of(once), target="population")
    twice = Moments(factors, Seen(2.0 * once, 4.0 * once, 3000), target="population")
    for one, two in zip(fits(plain), fits(twice), strict=True):
        assert two.estimate == pytest.approx(one.estimate)
        assert two.covariance == pytest.approx(one.covariance)


@pytest.mark.parametrize(
    ("letters", "way"),
    [(("20", "40", "60"), "let c enter as a number, or leave c out"), (("a", "b", "z"), "leave c out")],
)
def test_a_rare_value_enters_as_a_number_only_where_it_is_one(letters, way):
    """ "Let MaritalStatus enter as a number" was no way out."""
    matrix = np.full((3, 3), 0.2) + 0.4 * np.eye(3)
    factors = [stays("ill", 0.9), Factor({"c": letters}, {"c": letters}, dense=matrix)]
    seen = np.array([[352, 288, 161], [176, 144, 80]])  # about 60, 40 and 0 % before the changes
    with pytest.raises(Unsupported, match=rf"c = {letters[2]} is too rare in the release for a coefficient; {way}"):
        regressed(Moments(factors, Seen.of(seen)), "ill", ["c"], value="yes")


def test_what_the_noise_hides_is_not_told():
    rng = np.random.default_rng(9)
    factors = [stays("ill", 0.52), stays("age", 0.36), stays("sex", 0.52)]
    told = Moments(factors, Seen.of(counts(drawn(rng, people(rng, 500), factors))))
    with pytest.raises(Unsupported, match=r"too rare|not determined"):
        regressed(told, "ill", ["age", "sex"], value="yes")


def test_a_model_that_cannot_be_is_refused():
    told = Moments([as_it_is(n, a) for n, a in LETTERS.items()], Seen.of(counts(people(np.random.default_rng(1)))))
    with pytest.raises(MismatchError, match="no column 'job'"):
        regressed(told, "ill", ["job"], value="yes")
    with pytest.raises(MismatchError, match="not all numbers"):
        regressed(told, "ill", ["sex"])
    with pytest.raises(InputError, match="regressed on other columns"):
        regressed(told, "ill", ["ill"], value="yes")
    separated = np.zeros(SHAPE)
    separated[0, :, 0] = separated[1, :, 1] = 50
    told = Moments([as_it_is(n, a) for n, a in LETTERS.items()], Seen.of(separated))
    with pytest.raises(Unsupported, match="not determined"):
        regressed(told, "ill", ["sex"], value="yes")
