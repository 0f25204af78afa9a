"""`python -m tests.compare.operators`: see runner.py."""

import sys

from tests.compare.operators.runner import main

if __name__ == "__main__":
    sys.exit(main())
