"""Nouns as documents of the kernel: their law, mechanism, aim, promises, limits and channel, still to be proved.

Nothing here is trusted: the kernel proves what is written, or refuses it.
"""

from dalenius.core.drafting.channels import Axes, channel_document
from dalenius.core.drafting.documents import asked_document, drafted, release_of, with_other_law
from dalenius.core.drafting.laws import law_document
from dalenius.core.drafting.promises import evidence_document, promise_document

__all__ = [
    "Axes",
    "asked_document",
    "channel_document",
    "drafted",
    "evidence_document",
    "law_document",
    "promise_document",
    "release_of",
    "with_other_law",
]
