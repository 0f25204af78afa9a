"""`python -m tests.compare.fuzz --generator NAME --programs N --seed S`: see runner.py."""

import sys

from tests.compare.fuzz.runner import main

if __name__ == "__main__":
    sys.exit(main())
