"""`Protector` keeps the manners of scikit-learn, with named exceptions, and the promise of Dalenius."""

import pickle
import random

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from dalenius import Key, Protector, verify
from dalenius.errors import InputError, NotCertified
from dalenius.frames.protector import FewRows, PromiseNotProved

EXCEPTIONS = {
    "check_dtype_object": "ten columns of random numbers have too many combinations for one recipe",
    "check_estimators_pickle": "it subtracts results, which are names of groups",
    "check_fit_idempotent": "draws are fresh each time by design",
    "check_transformer_preserve_dtypes": "results are names of groups, not numbers",
}
"""Checks of scikit-learn that Protector does not pass, and why."""


def people(rows=2000, seed=3):
    rng = random.Random(seed)
    age = [rng.randint(18, 80) for _ in range(rows)]
    plan = [rng.choice(["free", "paid"]) for _ in range(rows)]
    health = ["poor" if rng.random() < a / 160 else "good" for a in age]
    return pd.DataFrame({"age": age, "plan": plan}), np.array(health)


X, Y = people()


@pytest.fixture(scope="module")
def fitted():
    return Protector(reveal_at_most="0.005").fit(X, Y)


def test_rows_keep_their_order_and_the_promise_is_proved(fitted):
    out = fitted.transform(X)
    assert out.shape == X.shape
    assert (out[:, 1] == X["plan"]).mean() > 0.7
    verify(fitted.design_)
    assert set(fitted.groups_) == {"age", "plan"}


@pytest.mark.long
def test_frames_come_out_with_set_output(fitted):
    out = clone(fitted).set_output(transform="pandas").fit_transform(X, Y)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == ["age", "plan"]
    assert list(fitted.get_feature_names_out()) == ["age", "plan"]
    with pytest.raises(ValueError, match="feature_names_in_"):
        fitted.get_feature_names_out(["a", "b"])


def test_other_rows_are_drawn_with_a_warning(fitted):
    with pytest.warns(PromiseNotProved, match="fitted table alone"):
        assert fitted.transform(X[:10]).shape == (10, 2)


def test_a_secret_apart_from_what_a_model_learns():
    visits = np.arange(len(X)) % 3
    apart = Protector(reveal_at_most="0.005").fit(X, visits, secret=Y)
    assert apart.design_.problem.law == Protector(reveal_at_most="0.005").fit(X, Y).design_.problem.law


def test_other_rows_with_their_secret_are_proved_or_refused(fitted, recwarn):
    assert fitted.transform(X[::-1], secret=Y[::-1]).shape == (2000, 2)
    assert not [w for w in recwarn if w.category is PromiseNotProved]
    with pytest.raises(NotCertified, match="does not hold for this table"):
        fitted.transform(X, secret=np.where(X["age"] > 50, "poor", "good"))


def test_a_value_that_was_not_fitted_is_refused(fitted):
    other = X[:3].assign(plan=["free", "paid", "gold"])
    with pytest.raises(InputError, match="gold"), pytest.warns(PromiseNotProved):
        fitted.transform(other)


def test_a_key_repeats_the_draw_also_after_pickling(tmp_path):
    Key.write_new(tmp_path / "release.key")
    keyed = clone(Protector(reveal_nothing=True, reveal_at_most=None, key=str(tmp_path / "release.key"))).fit(X, Y)
    again = pickle.loads(pickle.dumps(keyed))
    assert (keyed.transform(X) == again.transform(X)).all()
    assert (keyed.transform(X) != keyed.set_params(key=None).transform(X)).any()


@pytest.mark.long
def test_it_works_inside_other_estimators():
    from sklearn.compose import ColumnTransformer

    columns = ColumnTransformer([("protected", Protector(), ["plan"])], remainder="drop")
    assert columns.fit_transform(X, Y).shape == (len(X), 1)


@pytest.mark.long
def test_gaps_stay_gaps():
    table = X.assign(plan=[None if k % 5 == 0 else v for k, v in enumerate(X["plan"])])
    out = Protector().fit_transform(table, Y)
    assert (pd.isna(out[:, 1])).any()


@pytest.mark.long
def test_small_tables_are_fitted_with_a_warning():
    """The recipe stays in the estimator, and the promise is proved; a public card would be another matter."""
    with pytest.warns(FewRows, match="every combination 10 rows; the smallest has"):
        few = Protector().fit(X[:30], Y[:30])
    verify(few.design_)


def test_no_promise_is_refused():
    with pytest.raises(InputError, match="reveal_nothing"):
        Protector(reveal_at_most=None).fit(X, Y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_it_keeps_the_manners_of_scikit_learn():
    from sklearn.utils.estimator_checks import check_estimator  # opens much that no other test needs

    results = check_estimator(Protector(), expected_failed_checks=EXCEPTIONS, on_fail=None, on_skip=None)
    failed = {result["check_name"]: repr(result["exception"]) for result in results if result["status"] == "failed"}
    assert failed == {}
    stale = set(EXCEPTIONS) - {result["check_name"] for result in results if result["status"] == "xfail"}
    assert stale == set()
