"""Documents of the kernel as texts and plain values: proved, filed, recognised, told, and what travels beside them.

Outside the kernel, and trusted by nobody: `proved_text` asks the kernel for every figure that it writes, and `told_*`
read a document back into the plain values that sentences and nouns are made of. What nouns say in documents is
written by `core.drafting`.
"""

from dalenius.documents.about import ABOUT, about_file, about_of, belongs, shape_in
from dalenius.documents.cards import card_text
from dalenius.documents.checking import checked, differences
from dalenius.documents.filing import filed, told_of, unfiled
from dalenius.documents.proving import (
    ENOUGH,
    Proved,
    bounds_within,
    proved_again,
    proved_text,
    stated_figures,
)
from dalenius.documents.recognising import OLD, PROVABLE, recognised
from dalenius.documents.telling import kind_of, proved_of, told_card, told_design
from dalenius.documents.text import canonical, digest

__all__ = [
    "ABOUT",
    "ENOUGH",
    "OLD",
    "PROVABLE",
    "Proved",
    "about_file",
    "about_of",
    "belongs",
    "bounds_within",
    "canonical",
    "card_text",
    "checked",
    "differences",
    "digest",
    "filed",
    "kind_of",
    "proved_again",
    "proved_of",
    "proved_text",
    "recognised",
    "shape_in",
    "stated_figures",
    "told_card",
    "told_design",
    "told_of",
    "unfiled",
]
