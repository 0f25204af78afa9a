"""`python -m tests.compare.operators`: see runner.py."""

from tests.compare.operators.runner import main

if __name__ == "__main__":
    main()
