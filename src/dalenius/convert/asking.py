"""Measures of any channel, asked of the kernel: with a law of the records, or under every law."""

from typing import Any

from dalenius.convert.text import canonical
from dalenius.convert.writing import channel_of, law_of, mechanism_of, objective_of, variables_of
from dalenius.kernel.document import read_document
from dalenius.kernel.release import Release

__all__ = ["release_of"]

Json = dict[str, Any]

ENOUGH = 10**12


def release_of(channel: Json, joint: Json | None = None, certificate: Json | None = None) -> Release:
    """What leaves by a channel, to be asked for its measures.

    Parameters
    ----------
    channel : dict
        In the format of channel.json.
    joint : dict, optional
        In the format of joint.json; without it only measures that hold under every law can be asked for.
    certificate : dict, optional
        What a form needs beside its numbers: `priors` and `variances` of the axes of noise.

    Returns
    -------
    Release
        Its refusals are those of the kernel.
    """
    names = list(channel["inputs"])
    same = all(channel["inputs"].get(name) == letters for name, letters in channel["output"].items())
    own = same or channel.get("form") == "noise"  # which releases further points of the grids
    mechanism: Json = {"observe": names, "form": channel.get("form")}
    mechanism |= {"release": list(channel["output"])} if own else {"output": next(iter(channel["output"]))}
    design: Json = {
        "mechanism": mechanism,
        "objective": {"minimize": {"leakage": names}},
        "guarantees": [],
        "channel": channel,
        "certificate": certificate or {},
    }
    said: Json = {
        "mechanism": mechanism_of(design),
        "promises": [],
        "channel": channel_of(design),
        "evidence": [],
        "claims": {"promises": []},
    }
    head: Json = {"work": str(ENOUGH), "variables": variables_of(channel["inputs"])}
    if joint is None:
        document = {"format": "dalenius-card/2", **head, **said}
    else:
        variables, law = law_of(design | {"joint": joint})
        document = {
            "format": "dalenius-design/2",
            **(head | {"variables": variables}),
            "law": law,
            "mechanism": said["mechanism"],
            "objective": objective_of(design),
            "promises": [],
            "limits": [],
            "channel": said["channel"],
            "evidence": [],
            "claims": {"promises": [], "limits": [], "value": "0", "bound": "0", "gap": "0"},
            "proof": {"rule": "closed"},
        }
    return read_document(canonical(document), ENOUGH).release
