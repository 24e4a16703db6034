"""From a release of records that was found to the design of it, with every figure that the kernel proves."""

from dataclasses import replace
from math import inf

from dalenius import stopping
from dalenius.core import Certificate, Design, Records
from dalenius.core.kept_rows import with_kept_rows
from dalenius.mechanisms.proving import proved
from dalenius.mechanisms.records.proof import PROVED, Found, affordable
from dalenius.mechanisms.records.wide import Wide
from dalenius.mechanisms.records.words import remarks

__all__ = ["certified"]


def certified(wide: Wide, found: Found, seconds: float = inf) -> Design:
    """The design of a channel that was found, with every figure that the kernel proves.

    Parameters
    ----------
    wide : Wide
        The problem.
    found : Found
        A channel, and proofs of what nobody passes.
    seconds : float
        For everything; dear proofs are made coarser.

    Returns
    -------
    Design

    Raises
    ------
    NotCertified
        If the kernel does not prove a promise.
    """
    observed, released = (wide.law.alphabets(names) for names in (wide.problem.observe, wide.problem.release))
    read, _ = wide.law.grouped(wide.problem.observe)
    lines = tuple((tuple(places), tuple(weights)) for places, weights in map(found.rows.row, range(len(found.rows))))
    outputs = [*wide.records.tolist(), *([] if found.outputs is None else found.outputs.tolist())]
    channel = Records(observed, released, tuple(read), tuple(map(tuple, outputs)), lines)
    # When the time is over, or somebody asks for what there is, the promise is proved with the bound that costs least.
    late = stopping.over()
    proofs = (found.proof,) if late else (found.proof, *found.others)
    spare = 0.0 if late else PROVED * seconds / len(proofs)
    certificates = [Certificate(affordable(wide, proof, spare)) for proof in proofs]
    asked = with_kept_rows(wide.problem)
    design = proved(asked, channel, certificates, method=found.method, remarks=found.remarks)
    return replace(design, remarks=(*design.remarks, *remarks(design)))
