"""Channels that a card does not show: what depends on them is refused."""

from dataclasses import dataclass

from dalenius.kernel.channel import Channel, Rows
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, Refused, Work


@dataclass(frozen=True)
class Unread(Channel):
    """Of a card that does not show its channel, or not what its inputs are."""

    form: str
    why: str
    width: int = 0

    def rows(self, work: Work) -> Rows:
        raise Refused(self.why)


def read_withheld(node: Node, setting: Setting) -> Channel:
    """`withheld`: for cards alone."""
    node.fields("form")
    # A design could else prove nothing and be shown as one that does.
    node.require(not setting.has_law, "a design shows its channel")
    return Unread("withheld", "this card does not show its channel: it proves nothing that depends on it")
