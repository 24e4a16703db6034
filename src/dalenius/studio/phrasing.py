"""What is said of a flag on the command line, in the words that stand on the page."""

import re

__all__ = ["on_the_page"]

WORDS = (
    (r"Take (it|them) out of --keep and into --release", r"Choose “release” for \1 instead of “release as it is”"),
    (r"Leave (.+?) out of --keep", r"Choose another role for \1 than “release as it is”"),
    (r"Name other columns after --release", "Choose other columns to release"),
    (r"Leave out --person", "Choose “(none)” as the column that names persons"),
    (r"Leave out --no-groups, or release", "Release"),
    (r"Only --deny can", "Only “Every person can deny” can"),
    (r"--reveal ([\d./]*\d)", r"at most \1 bits"),
    (r"--guess-at-most ([\d./]*\d%?)", r"at most \1 right guesses"),
    (r"--deny ([\d./]*\d)", r"“Every person can deny” with \1"),
    (r"--times-at-most ([\d./]*\d)", r"an answer at most \1 times as likely"),
    (r"(by hand )?with --cut( or --group)?|by --group", "by hand"),
    (r"--cut releases it", "groups by hand release it"),
    (r"--group says", "groups by hand say"),
)
"""Whole phrases first: a flag alone is seldom the name of what stands on the page."""


def on_the_page(sentence: str) -> str:
    """A sentence that was written for the command line, for somebody who has a page before them.

    Parameters
    ----------
    sentence : str
        With flags.

    Returns
    -------
    str
        With the words of the page in their place.

    Examples
    --------
    >>> on_the_page("Take it out of --keep and into --release, or promise --reveal 0.028.")
    'Choose “release” for it instead of “release as it is”, or promise at most 0.028 bits.'
    """
    for flag, words in WORDS:
        sentence = re.sub(flag, words, sentence)
    return sentence
