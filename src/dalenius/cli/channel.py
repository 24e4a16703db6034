"""`dalenius channel`"""

import json
from argparse import Namespace

from dalenius.api import load
from dalenius.core import Channel, channel_of
from dalenius.errors import InputError, Unsupported
from dalenius.tables import read_told


def run(arguments: Namespace) -> None:
    if arguments.reduce:
        from dalenius.papers.feasibility import reduced  # the solvers behind it take a second to import

        design = load(arguments.file)
        small = reduced(design.problem, Channel(design.channel.inputs, design.channel.output, design.channel.rows))
        print(json.dumps(small.to_json(), indent=1, ensure_ascii=False))
        return
    document = read_told(arguments.file, "recipe, design or card file")
    if isinstance(document, dict) and "channel" in document:
        document = document["channel"]
    try:
        channel = channel_of(document)
        if arguments.dense:
            channel = channel.dense()
    except (InputError, Unsupported) as e:
        raise e.within(str(arguments.file)) from None
    print(json.dumps(channel.to_json(), indent=1, ensure_ascii=False))
