"""What a process runs that `elastic_launch` has started: a function, whose result it leaves.

python -m rushlight.distributed.launcher.worker FOLDER
"""

from __future__ import annotations

import os
import pickle
import sys
from multiprocessing.spawn import prepare

from ..elastic.multiprocessing.errors import record

__all__ = ["main"]


@record
def main() -> None:
    """Calls the function that lies in a folder, and leaves its result there, by rank."""
    folder = sys.argv[1]
    with open(os.path.join(folder, "call"), "rb") as file:
        prepare(pickle.load(file))  # as `multiprocessing` does, so that `__main__` is found
        function, args = pickle.load(file)
    result = function(*args)
    with open(os.path.join(folder, os.environ["RANK"]), "wb") as file:
        pickle.dump(result, file)


if __name__ == "__main__":
    main()
