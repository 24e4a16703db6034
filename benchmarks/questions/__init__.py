"""One question a file: `TITLE`, `SIZE` (what the size counts), `SIZES`, `WARM`, `SENSE`, `TOLERANCE` and `CONTENDERS`.

A contender is a function of the size that makes the instance (the same for everybody) and returns the work to be timed.
The work returns `{"value": ...}`, ours also `"low"` and `"high"`, between which the true value was proved to lie.
What a rival's answer lacks of what was asked for stands under `"lacks"`.
Rivals import what they need inside: their environment does not know Dalenius, and ours does not know them.
"""
