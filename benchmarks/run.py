"""`python benchmarks/run.py …` is `python -m benchmarks …` for those who stand somewhere else."""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    # A script's own folder comes first on the path; the package that it belongs to is above.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    runpy.run_module("benchmarks", run_name="__main__")
