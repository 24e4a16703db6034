"""Between what the families find, laid out as version 1 of the formats, and the documents that the kernel proves.

Outside the kernel, and trusted by nobody: `proved_text` asks the kernel for every figure that it writes, and `told_*`
read a document back into the plain values that sentences and nouns are made of.
"""

from dalenius.convert.about import ABOUT, about_file, about_of, belongs
from dalenius.convert.asking import release_of
from dalenius.convert.checking import checked, differences
from dalenius.convert.filing import filed, told_of, unfiled
from dalenius.convert.proving import (
    ENOUGH,
    Proved,
    bounds_within,
    card_text,
    proved_elsewhere,
    proved_text,
    stated_figures,
)
from dalenius.convert.recognising import OLD, PROVABLE, recognised
from dalenius.convert.telling import kind_of, proved_of, told_card, told_design
from dalenius.convert.text import CannotConvert, canonical, digest
from dalenius.convert.version1 import converted

__all__ = [
    "ABOUT",
    "ENOUGH",
    "OLD",
    "PROVABLE",
    "CannotConvert",
    "Proved",
    "about_file",
    "about_of",
    "belongs",
    "bounds_within",
    "canonical",
    "card_text",
    "checked",
    "converted",
    "differences",
    "digest",
    "filed",
    "kind_of",
    "proved_elsewhere",
    "proved_of",
    "proved_text",
    "recognised",
    "release_of",
    "stated_figures",
    "told_card",
    "told_design",
    "told_of",
    "unfiled",
]
