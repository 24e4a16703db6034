"""Properties without a number of their own try 15 examples by default, and 100 in the long run."""

from hypothesis import settings

from tests.effort import effort

settings.register_profile("dalenius", deadline=None, max_examples=effort(15, 100))
settings.load_profile("dalenius")
