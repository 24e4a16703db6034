"""The checker, to be read in one sitting. It knows whole numbers; no solver, no design, no measure."""

from dalenius.certify.checking import Verdict, check, proofs, prove, prove_privacy
from dalenius.certify.leakage import prove_limits

__all__ = ["Verdict", "check", "proofs", "prove", "prove_limits", "prove_privacy"]
