"""`python -m dalenius.kernel FILE`: the checker alone."""

import sys

from dalenius.kernel.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
