"""Channels that draw maps from the side information of the user, which they do not read, to released letters.

The user has Z and the drawn letter u, and takes the letter that the map u says for Z. Promises speak of (u, Z), that
is, of all that the user has. What is released for a record is that of a channel of (x, z), so distortions and forbidden
letters are those of that channel.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from dalenius.kernel.channel import ENTRIES, Channel, Dense, Rows, read_matrix
from dalenius.kernel.distortion import Distortion
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, Work, require
from dalenius.kernel.release import RELEASES, Release
from dalenius.kernel.short import Short, ShortRelease


def informed(setting: Setting) -> Setting:
    """The same problem for a mechanism that reads the side information, as its last input."""
    return _with_encoder(setting, "informed")


def _with_encoder(setting: Setting, encoder: str) -> Setting:
    """The same problem for a mechanism that does something else about the side information."""
    require(type(setting) is Setting, "side information is for columns that are read as they are")
    mechanism = replace(setting.mechanism, encoder=encoder)
    return Setting(setting.variables, setting.law if setting.has_law else None, mechanism, setting.work)


@dataclass(frozen=True)
class Maps(Channel):
    """A matrix whose letters are maps: for each of them the released letter under each value of Z."""

    drawn: Dense
    decoder: tuple[tuple[int, ...], ...]
    width: int
    form = "maps"

    def rows(self, work: Work) -> Rows:
        return self.drawn.rows(work)


class ReleasedMaps(Release):
    """Measures of (u, Z), and distortions of what is released for (x, z)."""

    channel: Maps

    @cached_property
    def decoded(self) -> Release:
        """The release of a mechanism that reads Z, as its last input, and releases the letter itself."""
        setting, maps = informed(self.setting), self.channel
        width = setting.width or 0
        worlds = setting.sizes[-1]
        rows: list[tuple[int, ...]] = []
        self.work.spend(4 * setting.many * maps.width, maps.drawn.scale.bit_length())
        for place in range(setting.many):
            x, z = divmod(place, worlds)
            row = [0] * width
            for value, letters in zip(maps.drawn.table[x], maps.decoder, strict=True):
                row[letters[z]] += value  # maps that give one letter for z add up
            rows.append(tuple(row))
        return Release(setting, Dense(maps.drawn.scale, tuple(rows), width))

    def cost(self, distortion: Distortion) -> Fraction:
        return self.decoded.cost(distortion)

    def keep_shape(self) -> None:
        self.decoded.keep_shape()


RELEASES |= {Maps: ReleasedMaps}


def read_maps(node: Node, setting: Setting) -> Channel:
    """`maps`: a matrix as in form dense, whose letters are maps; each names a released letter for each value of Z."""
    _, letters, scale, rows, decoder = node.fields("form", "letters", "scale", "rows", "decoder")
    side, width = setting.mechanism.side, letters.place(ENTRIES, 1)
    if side is None or setting.mechanism.encoder != "statistically-informed" or setting.width is None:
        raise node.refuse(
            "maps are for side information that the mechanism does not see, and for letters that are known"
        )
    worlds = len(setting.alphabets[side])
    setting.work.spend(4 * width * worlds)
    # Every value of Z has a letter in every map: else the user would draw one that is not proved.
    maps = tuple(tuple(item.places(setting.width)) for item in decoder.pair(width))
    decoder.require(all(len(found) == worlds for found in maps), "a map has not a letter for each value")
    return Maps(read_matrix(rows, setting.many, scale.whole(1), width, setting.work), maps, width)


def beside_side_information(release: Release, about: Sequence[str]) -> Fraction | None:
    """I(about; all that leaves, Z) in bits, rounded up, for side information Z that the mechanism ignores; or None."""
    setting = release.setting
    if setting.mechanism.encoder != "uninformed" or not about:
        return None
    held = _with_encoder(setting, "statistically-informed")  # Z stands beside what leaves, and is not read
    kind = ShortRelease if isinstance(release.channel, Short) else Release
    return kind(held, release.channel).information(about)[1]
