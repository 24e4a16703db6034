"""The contract stands one folder up, where the tests of every family find it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
pytest.register_assert_rewrite("contract")
