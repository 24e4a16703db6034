"""docs/architecture.md: its paths exist, its rooms are those of the house, its floors those of the test."""

import re
from pathlib import Path

import dalenius
from tests.test_rooms import FLOORS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def paths(page):
    return [name for name in re.findall(r"`([^`\s*]+)`", page) if re.match(r"(src|tests|docs)/|[A-Z]+\.md$", name)]


def missing(page):
    return [name for name in paths(page) if not (ROOT / name).exists()]


def test_every_path_exists():
    assert len(paths(PAGE)) >= 20
    assert missing(PAGE) == []


def test_a_path_that_does_not_exist_is_seen():
    assert missing(PAGE + "`src/dalenius/nowhere.py`") == ["src/dalenius/nowhere.py"]


def test_ten_questions_are_answered_with_a_path():
    rows = [line for line in PAGE.splitlines() if line.startswith("|") and "?" in line]
    assert len(rows) >= 10
    assert all(paths(row) for row in rows)


def floors_of(page):
    """The floor of each room in the picture."""
    found, floor = {}, None
    for line in page[page.index("floor 8") :].splitlines():
        if line.startswith("```"):
            break
        if number := re.match(r"(?:floor)?\s*(-?\d)  ", line):
            floor = int(number.group(1))
            names = re.split(r"\s{4,}", line[number.end() :].strip())[0]
            found |= {name.strip("/").removesuffix(".py"): floor for name in names.split()}
    return found


def test_the_picture_shows_the_floors_of_the_house():
    shown = floors_of(PAGE)
    there = {
        p.stem for p in Path(dalenius.__file__).parent.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()
    }
    assert shown == {room: int(floor) for room, floor in FLOORS.items() if room in shown}
    assert there - set(shown) <= {"__init__", "__main__", "errors", "testing"}
