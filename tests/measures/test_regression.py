"""Regressions on the columns behind a released table: what the original table gives, and intervals that cover."""

from contextlib import suppress

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
    with pytest.raises(InputError, match="is named twice"):
        regressed(told, "ill", ["sex", "sex"], value="yes")
    with pytest.raises(InputError, match="regressed on other columns"):
        regressed(told, "ill", ["ill"], value="yes")
    separated = np.zeros(SHAPE)
    separated[0, :, 0] = separated[1, :, 1] = 50
    told = Moments([as_it_is(n, a) for n, a in LETTERS.items()], Seen.of(separated))
    with pytest.raises(Unsupported, match="not determined"):
        regressed(told, "ill", ["sex"], value="yes")


STRONG = {"x": ("0", "1"), "y": ("0", "1")}
SHARES = np.array([[360, 40], [40, 360]])  # of x = 0 and x = 1 with y = 0 and y = 1


def logistic_held(rounds, believed=0.6):
    """How often both coefficients of y on a column that hardly stays hold the truth, of the releases that tell them."""
    rng, drawn_by = np.random.default_rng(5), np.array([[0.6, 0.4], [0.4, 0.6]])
    matrix = np.array([[believed, 1 - believed], [1 - believed, believed]])
    factors = [Factor({"x": STRONG["x"]}, {"x": STRONG["x"]}, dense=matrix), as_it_is("y", STRONG["y"])]
    truth, held, told = np.array([-np.log(9), 2 * np.log(9)]), np.zeros(2), 0
    for _ in range(rounds):
        seen = sum(np.outer(rng.multinomial(n, drawn_by[x]), np.eye(2)[y]) for (x, y), n in np.ndenumerate(SHARES))
        with suppress(Unsupported):
            fit = regressed(Moments(factors, Seen.of(seen)), "y", ["x"], value="1")
            told += 1
            held += [f.low <= t <= f.high for f, t in zip(fit.coefficients.values(), truth, strict=True)]
            assert all(f.low <= f.estimate <= f.high for f in fit.coefficients.values())
    return held / told, told / rounds


def test_log_odds_cover_where_a_share_may_be_none():
    """By a variance at the estimate the intercept held the truth in 85 % of the releases that told it."""
    rounds = effort(100, 1000)
    held, told = logistic_held(rounds)
    assert told > 0.5
    assert held.min() >= 0.93 - 2 * (0.05 * 0.95 / told / rounds) ** 0.5


def test_log_odds_by_another_recipe_do_not_cover():
    """The other half of the pair: the card says that a tenth more stays than does."""
    held, _ = logistic_held(40, believed=0.7)
    assert held[1] < 0.5


def test_what_has_no_bound_has_no_end():
    """A share that may be 0 has log odds without a lower end, in the words of JSON none."""
    stay = np.array([[0.6, 0.4], [0.4, 0.6]])
    factors = [Factor({"x": STRONG["x"]}, {"x": STRONG["x"]}, dense=stay), as_it_is("y", STRONG["y"])]
    fit = regressed(Moments(factors, Seen.of([[230, 180], [170, 220]])), "y", ["x"], value="1")
    assert np.isfinite(fit.coefficients["(intercept)"].low)
    fit = regressed(Moments(factors, Seen.of([[232, 168], [168, 232]])), "y", ["x"], value="1")
    intercept = fit.coefficients["(intercept)"]
    assert intercept.low == -np.inf < intercept.estimate < intercept.high < 0
    assert fit.to_json()["coefficients"]["(intercept)"]["low"] is None


def test_one_regressor_has_the_interval_of_fieller():
    """At each end of the slope of y on x the score, cleared of the constant, is z standard errors away from 0."""
    rng = np.random.default_rng(3)
    stay = np.full((4, 4), 0.2) + 0.2 * np.eye(4)
    letters = {"x": tuple("0123"), "y": tuple("0123")}
    factors = [Factor({n: a}, {n: a}, dense=stay) for n, a in letters.items()]
    seen = np.array([[90, 60, 40, 30], [60, 80, 50, 40], [40, 50, 80, 60], [30, 40, 60, 90]]) + rng.integers(
        0, 9, (4, 4)
    )
    told = Moments(factors, Seen.of(seen))
    fit = regressed(told, "y", ["x"], numbers=["x"])
    figure = fit.coefficients["x"]
    x, y = (np.array([float(k[j]) for k in np.ndindex(4, 4)]) for j in (0, 1))
    centre = x - told.law @ x  # the constant is moved along with the slope
    for end in (figure.low, figure.high):
        constant = fit.estimate[0] + fit.covariance[0, 1] / fit.covariance[1, 1] * (end - figure.estimate)
        score, variance = told.means((centre * (y - constant - end * x))[None, :])
        assert abs(score[0]) == pytest.approx(1.959964 * variance[0, 0] ** 0.5, rel=1e-6)
