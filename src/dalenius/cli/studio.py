"""`dalenius studio`: choose what to release in a browser."""

import sys
from argparse import Namespace

from dalenius.cli.terminal import say
from dalenius.errors import InputError


def run(arguments: Namespace) -> None:
    """Serve the studio of a table until the terminal ends it.

    The link is printed and never handed to another program: arguments of programs are visible to everybody on the
    computer, and whoever has the link first is let in.
    """
    try:
        from dalenius.studio import open_studio
    except ModuleNotFoundError as e:
        if (e.name or "").split(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise InputError("The studio needs two more packages. Install them: pip install 'dalenius[studio]'") from None
    studio = open_studio(arguments.table, folder=arguments.folder, port=arguments.port)
    lines = [
        "Open this link in a browser on this computer. It works once:",
        "",
        f"  {studio.address}",
        "",
        "Ctrl-C ends the studio. It ends by itself after 30 minutes without use.",
    ]
    say(arguments, lines, {"address": studio.address, "port": studio.port})
    sys.stdout.flush()
    studio.run()
