"""Files of shared memory that MPI makes for processes, and leaves where these end while it starts.

Once a world is formed its ranks have taken the files' names away; until then whoever ends leaves
them. The launcher looks which files its own processes have mapped, and removes those in the end.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

__all__ = ["SharedMemory"]

_FOLDER = "/dev/shm"
_START = "mpich_shm_"


class SharedMemory:
    """The files that a launcher's processes have been seen with."""

    def __init__(self) -> None:
        self.own: set[str] = set()

    def look(self, pids: Iterable[int]) -> None:
        """Notes which files these processes have mapped; costs a listing where there is none."""
        with contextlib.suppress(OSError):
            new = {name for name in os.listdir(_FOLDER) if name.startswith(_START)} - self.own
            if not new:
                return
            for pid in pids:
                with contextlib.suppress(OSError), open(f"/proc/{pid}/maps") as maps:
                    mapped = maps.read()
                    self.own |= {name for name in new if f"{_FOLDER}/{name}" in mapped}

    def remove(self) -> None:
        """Removes them: their processes have ended."""
        for name in self.own:
            with contextlib.suppress(OSError):
                os.unlink(f"{_FOLDER}/{name}")
        self.own.clear()
