"""Where the output of started processes goes."""

from __future__ import annotations

import os
import re
from enum import IntFlag
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...annotations import Given

__all__ = ["DefaultLogsSpecs", "Std"]

_ONE, _EACH = r"^[0123]$", r"^(\d:[0123],)*(\d:[0123])$"


class Std(IntFlag):
    """A process's output, its errors, both or neither.

    Example:
        >>> from rushlight.distributed.elastic.multiprocessing import Std
        >>> Std.from_str("3") == Std.ALL, Std.from_str("0:1,1:2")[1] == Std.ERR
        (True, True)
    """

    NONE = 0
    OUT = 1
    ERR = 2
    ALL = OUT | ERR

    @classmethod
    def from_str(cls, vm: str) -> Std | dict[int, Std]:
        """What a number says, or pairs of a local rank and a number.

        Raises:
            ValueError: for anything else.
        """
        if re.match(_ONE, vm):
            return cls(int(vm))
        if re.match(_EACH, vm):
            pairs = [pair.split(":") for pair in vm.split(",")]
            return {int(rank): cls(int(what)) for rank, what in pairs}
        raise ValueError(f"{vm} does not match: <{_ONE}> or <{_EACH}>")


class DefaultLogsSpecs:
    """Where the output of each process goes: LOG_DIR/RUN/attempt_N/LOCAL_RANK/stdout.log.

    Parameters:
        log_dir: the folder, made where it must be; without it one of the system's.
        redirects: what goes to files alone, for all processes or by local rank.
        tee: what goes to files and to this program's output.
        local_ranks_filter: the local ranks whose output is shown.
    Raises: NotADirectoryError: for a file.
    Example:
        >>> from rushlight.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std
        >>> DefaultLogsSpecs(tee=Std.ALL).tee == Std.ALL
        True
    """

    def __init__(
        self,
        log_dir: str | None = None,
        redirects: Given = Std.NONE,
        tee: Given = Std.NONE,
        local_ranks_filter: set[int] | None = None,
    ) -> None:
        if log_dir and os.path.isfile(log_dir):
            raise NotADirectoryError(f"log_dir: {log_dir} is a file")
        if log_dir and log_dir != os.devnull:
            os.makedirs(log_dir, exist_ok=True)
        self.root_log_dir = "" if log_dir == os.devnull else log_dir or ""
        self.redirects, self.tee = redirects, tee
        self.local_ranks_filter = local_ranks_filter

    @staticmethod
    def words(which: Given) -> str:
        """What is redirected, as the launcher's options say it.

        Parameters:
            which: one for all processes, or by local rank.
        Returns: the words.
        """
        if isinstance(which, dict):
            return ",".join(f"{rank}:{int(what)}" for rank, what in which.items()) or "0"
        return str(int(which))
