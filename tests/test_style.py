"""What the style of the package was measured to be gets no worse; `python scripts/style.py` prints the figures."""

import pytest

from tests.test_site import script

PLAIN = '''
def shares(counts: list[int]) -> list[float]:
    """What part of all each count is.

    Parameters
    ----------
    counts : list of int
        How often each value occurs.

    Returns
    -------
    list of float
    """
    total = sum(counts)
    # Rounded to nearest: nobody is promised these.
    return [count / total for count in counts]
'''
DENSE = '''
def shares(counts: list[int]) -> list[float]:
    """What part of all each count is."""
    t, u = sum(counts), 1
    return [u * x / t for x in counts]
'''


@pytest.fixture(scope="module")
def style():
    return script("style")


def test_what_is_measured_tells_plain_from_dense(style):
    plain, dense = (style.Style().add(source) for source in (PLAIN, DENSE))
    assert (plain.single_letters, plain.comments, plain.tuples, plain.told_share) == (0, 1, 0, 1)
    assert (dense.single_letters, dense.comments, dense.tuples, dense.told_share) == (1, 0, 1, 0)
    assert plain.mean_length == 5
    assert dense.mean_length == 1
    assert style.Style().add("def first():\n" + "    pass\n" * 50).long_share == 1


def test_what_no_room_lists_is_no_door(style):
    assert style.Style(doors=frozenset({"shares"})).add(DENSE).public == 1
    assert style.Style(doors=frozenset({"others"})).add(DENSE).public == 0


def test_a_docstring_makes_no_function_longer(style):
    told = '    """What.\n' + "    Told.\n" * 60 + '    """\n'
    assert style.Style().add("def first():\n" + told + "    pass\n" * 49).long_share == 0
    assert style.Style().add("def first():\n" + told + "    pass\n" * 50).long_share == 1


def test_a_comment_is_told_from_a_string_and_from_a_mark(style):
    assert style.Style().add('sign = "# none"\nname = f"é{sign}#"  # one\n').comments == 1
    assert style.Style().add('"""\n# none\n"""\nimport os  # noqa: F401\n').comments == 0


@pytest.mark.long
def test_the_style_of_the_package_gets_no_worse(style):
    house = style.measured()
    assert house.mean_length >= 4.8
    assert house.single_letters <= 0.115
    assert house.comment_share >= 0.0225
    assert house.long_share <= 0.012
    assert house.told_share >= 0.8
    assert house.tuples <= 640
