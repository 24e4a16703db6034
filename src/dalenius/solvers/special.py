"""The special functions that figures of evidence are computed with: those of `scipy.special`, without its package."""

from typing import Any

from dalenius.solvers.compiled import compiled

__all__ = ["betainc", "betaincinv", "hyp1f1", "hyp2f1"]

_ASKED_FOR = ("_special_ufuncs", "_gufuncs", "_ellip_harm_2", "_ufuncs_cxx")  # by the file of the functions
_functions: Any = compiled("scipy.special", *_ASKED_FOR, "_ufuncs")
betainc = _functions.betainc
betaincinv = _functions.betaincinv
hyp1f1 = _functions.hyp1f1
hyp2f1 = _functions.hyp2f1
