"""Words that are written from right to left, kept apart so that they turn nothing around them on a page."""

import re

__all__ = ["isolated"]

_RIGHT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_WORDS = re.compile(f"[{_RIGHT}]+(?:[\\s\\d./'_-]*[{_RIGHT}]+)*")
# What is no text: scripts, styles and drawings as a whole, the title, which takes no tags, and every other tag.
_APART = re.compile(r"(<(?P<whole>script|style|title|svg)\b.*?</(?P=whole)>|<[^>]*>)", re.DOTALL)


def isolated(page: str) -> str:
    r"""A page whose words from right to left stand in `<bdi>`: numbers and names beside them keep their places.

    Parameters
    ----------
    page : str
        HTML, every text escaped.

    Returns
    -------
    str

    >>> isolated('<b title="\u05d0">\u05d0\u05d1 \u05d2, 12</b>').encode("ascii", "xmlcharrefreplace").count(b"bdi")
    2
    """
    if not _WORDS.search(page):
        return page
    done = []
    begin = 0
    for tag in _APART.finditer(page):
        done += [_WORDS.sub(r"<bdi>\g<0></bdi>", page[begin : tag.start()]), tag[0]]
        begin = tag.end()
    return "".join([*done, _WORDS.sub(r"<bdi>\g<0></bdi>", page[begin:])])
