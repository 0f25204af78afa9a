"""`monitored_barrier`: through the store, so that it can say which ranks haven't come."""

from __future__ import annotations

import time
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from .stores import deadline_of

if TYPE_CHECKING:
    from .process_group import ProcessGroup
    from .stores import Store

__all__ = ["wait_for_all"]

#: How often each group has been here.
_rounds: Final[Counter[int]] = Counter()


def _come(store: Store, key: str, timeout: timedelta) -> bool:
    try:
        store.wait([key], timeout)
    except RuntimeError:
        return False
    return True


def wait_for_all(group: ProcessGroup, timeout: timedelta, wait_all_ranks: bool) -> None:
    """Rank 0 waits for all others, who wait for its word.

    Raises:
        RuntimeError: where one doesn't come; on rank 0 it names the first, or all.
    """
    store: Any = group.store
    turn = _rounds[id(store)]
    _rounds[id(store)] += 1
    place = f"monitored_barrier/{turn}"
    milliseconds = int(timeout.total_seconds() * 1000)
    me = group.rank()
    if me != 0:
        store.set(f"{place}/{me}", b"here")
        if not _come(store, f"{place}/all", timeout * 2):
            raise RuntimeError(
                f"Rank {group.ranks[me]} successfully reached monitoredBarrier, but received "
                "errors while waiting for send/recv from rank 0. Please check rank 0 logs for "
                "faulty rank."
            )
        return
    end = deadline_of(timeout)
    away = []
    for rank in range(1, group.size()):
        left = timedelta(seconds=max(0.001, end - time.monotonic()))
        if not _come(store, f"{place}/{rank}", left):
            away.append(group.ranks[rank])
            if not wait_all_ranks:
                break
    if not away:
        store.set(f"{place}/all", b"here")
        return
    named = f"Ranks {', '.join(map(str, away))}" if wait_all_ranks else f"Rank {away[0]}"
    raise RuntimeError(f"[Rank 0]: {named} failed to pass monitoredBarrier in {milliseconds} ms")
