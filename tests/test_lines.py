"""Lines are counted by kind: `python scripts/lines.py` prints the table of docs/decisions/041."""

from tests.test_site import script

MODULE = '''"""What it is.

More of it.
"""

LIMIT = 3  # beside code it is code


def first(value):
    """One line."""
    # Why.
    text = """not
    a docstring"""
    return value, text
'''


def test_every_line_is_code_docstring_comment_or_blank():
    found = script("lines").counted(MODULE)
    assert found == (14, 5, 5, 1)
    assert found.every - found.code - found.docstrings - found.comments == 3


def test_rooms_add_up(tmp_path):
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "one.py").write_text(MODULE, "utf-8")
    (tmp_path / "two.py").write_text("x = 1\n", "utf-8")
    rooms = script("lines").by_room(tmp_path)
    assert rooms["all"].every == rooms["room"].every + rooms["beside the rooms"].every == 15
