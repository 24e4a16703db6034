"""Says what was promised, what was proved and what was seen; computes nothing.

Nothing is imported here: a command that prints a few sentences (`words`) does not open what writes whole pages
(`statement`).
"""

__all__: list[str] = []
