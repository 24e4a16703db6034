"""Evidence from released tables; it does not trust the design."""

from dalenius.evidence.examining import Audit, Finding, examine, examine_shuffled

__all__ = ["Audit", "Finding", "examine", "examine_shuffled"]
