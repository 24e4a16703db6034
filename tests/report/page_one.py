"""The first page of a statement, for those who sign it: short sentences, numbers that mean something."""

import html
import re

__all__ = ["faults", "first_page"]

MOST_WORDS = 25
MOST_WORDS_OF_PROMISE = 40
"""A promise and a limit are one thought each, and may take a longer breath."""
LEAST_EASE = 55.0
NEAR = 60

MEANING = re.compile(
    r"\b(rows?|bits?|guess\w*|times|entr(?:y|ies)|digits|tests?|columns?|values?|combinations?|answers?|persons?|people|"
    r"records?|groups?|of 1,000|in 1,000|million|once|chance|seconds|minutes|UTC|January|February|March|April|May|"
    r"June|July|August|September|October|November|December|Dalenius|statement|error|limit|change\w*|likely|likelier|before|after|"
    r"questions?|quantity|average|amount|distortion|noise|sum|mean|level|count\w*)\b|%|→"
)
NUMBER = re.compile(r"(?<![\w.])\d[\d,.]*\d|(?<![\w.])\d(?![\w.]*\w)")
QUOTED_VALUE = re.compile(r"“[^”]*”")
QUOTED = re.compile(r"“[^”]*”|\([^)]*\)")
"""Values of the table, and figures in brackets: neither is ours to shorten."""
BLOCKS = re.compile(r"</(?:p|li|h\d|dd|dt|td|th|tr|figcaption|div|small|summary|caption|label|b|ul|dl|table)>|<br>")
APART = re.compile(r"(?s)<(details|script|style|svg|pre|table|code)\b.*?</\1>")


def first_page(page: str) -> list[str]:
    """The texts of a statement before its details, one for each element that ends a line."""
    body = page[page.index("<header") : page.index('id="h-details"') if 'id="h-details"' in page else len(page)]
    body = APART.sub("\n", body)
    kept = BLOCKS.sub("\n", re.sub(r"</b>(?=[^<])", " ", body))
    lines = html.unescape(re.sub(r"<[^>]+>", "", kept)).split("\n")
    return [" ".join(line.split()) for line in lines if line.strip()]


def faults(page: str) -> dict[str, list[str]]:
    """What is wrong with the first page; empty lists where nothing is."""
    lines = first_page(page)
    sentences = [s for line in lines for s in re.split(r"(?<=[.!?])\s+", line)]
    promise = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", _part(page, "promise"))).split())
    limits = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", _part(page, "limits"))).split())
    long = [
        s
        for s in sentences
        if len(QUOTED.sub("value", s).split()) > (MOST_WORDS_OF_PROMISE if s in promise or s in limits else MOST_WORDS)
    ]
    text = QUOTED_VALUE.sub("“value”", " \n ".join(lines))
    bare = [
        text[max(0, found.start() - NEAR) : found.end() + NEAR]
        for found in NUMBER.finditer(text)
        if not MEANING.search(text[max(0, found.start() - NEAR) : found.end() + NEAR])
    ]
    return {"long": long, "bare": bare, "bits": _unexplained(text), "hard": _hard(sentences)}


def _part(page: str, name: str) -> str:
    found = re.search(rf'(?s)<(section|div|ul)[^>]* id="{name}".*?</\1>', page)
    return found[0] if found else ""


def _unexplained(text: str) -> list[str]:
    """Uses of "bits" where none of the first two comes with what a bit is."""
    uses = [found.start() for found in re.finditer(r"\bbits?\b", text)]
    explained = text.find("One bit is the answer to one fair yes-or-no question")
    return [] if len(uses) < 2 or -1 < explained <= uses[1] + NEAR * 5 else [text[uses[0] : uses[0] + NEAR]]


def _hard(sentences: list[str]) -> list[str]:
    """The reading ease of Flesch, where it is too low: 206.835 - 1.015 words a sentence - 84.6 syllables a word."""
    whole = [re.findall(r"[A-Za-z]+", s) for s in sentences if s.endswith((".", "!", "?"))]
    words = [word for s in whole for word in s]
    if not words:
        return []
    syllables = sum(_syllables(word) for word in words)
    ease = 206.835 - 1.015 * len(words) / len(whole) - 84.6 * syllables / len(words)
    return [] if ease >= LEAST_EASE else [f"reading ease {ease:.0f}"]


def _syllables(word: str) -> int:
    """Groups of vowels, without a silent e.

    >>> [_syllables(word) for word in ("row", "release", "table", "education")]
    [1, 2, 2, 4]
    """
    word = word.lower()
    found = len(re.findall(r"[aeiouy]+", word))
    return max(1, found - (word.endswith("e") and not word.endswith("le")))
