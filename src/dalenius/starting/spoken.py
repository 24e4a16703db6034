"""`Spoken`: what can be said about a release, as it is called where it is said: in a command, in Python, on a page.

A draft is refused with something to do instead. On a page there are no flags, and in Python there are keywords.
"""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["COMMAND", "PYTHON", "Spoken"]


@dataclass(frozen=True)
class Spoken:
    """The words of one place in which a release is asked for; `{}` stands for what a sentence puts in.

    Parameters
    ----------
    promises : mapping
        For each promise how it is said with its level.
    deny : str
        The promise that every person can deny.
    apart : str
        What an exchange of whole records does not go with.
    columns : str
        To choose other columns to release.
    changed : str
        To release a column with changes and not as it is.
    not_kept : str
        Not to release a column as it is.
    no_person, no_form : str
        Not to say which column names persons, or which form the recipe takes.
    grouped : str
        To group values after all.
    by_hand, by_group : str
        To group values, or to group them by their names.
    ranges, together : str
        What releases a column in ranges, and what says which of its values belong together.
    """

    promises: Mapping[str, str]
    deny: str
    apart: str
    columns: str
    changed: str
    not_kept: str
    no_person: str
    no_form: str
    grouped: str
    by_hand: str
    by_group: str
    ranges: str
    together: str

    def promise(self, kind: str, level: str) -> str:
        """A promise and its level.

        >>> COMMAND.promise("reveal", "0.01"), PYTHON.promise("reveal", "0.01")
        ('--reveal 0.01', 'reveal_at_most="0.01"')
        """
        return self.promises[kind].format(level)


COMMAND = Spoken(
    promises={"reveal": "--reveal {}", "deny": "--deny {}"},
    deny="--deny",
    apart="--deny, --keep or --person",
    columns="Name other columns after --release.",
    changed="Take {} out of --keep and into --release",
    not_kept="Leave {} out of --keep",
    no_person="Leave out --person",
    no_form="leave out --form",
    grouped="Leave out --no-groups, or release fewer columns.",
    by_hand="by hand with --cut or --group",
    by_group="by --group",
    ranges="--cut releases it in ranges all the same",
    together="--group says which belong together",
)
"""Flags of `dalenius init`."""

PYTHON = Spoken(
    promises={"reveal": 'reveal_at_most="{}"', "deny": "deny={}"},
    deny="deny",
    apart="deny, keep or person",
    columns="Name other columns in release.",
    changed="Take {} out of keep and into release",
    not_kept="Leave {} out of keep",
    no_person="Leave out person",
    no_form="leave out form",
    grouped="Release fewer columns.",
    by_hand="by hand with groups",
    by_group="by names in groups",
    ranges="groups releases it in ranges all the same",
    together="groups says which belong together",
)
"""Keywords of `dalenius.protect`."""
