"""`python -m dalenius` is the command line."""

import sys

from dalenius.cli import main

sys.exit(main())
