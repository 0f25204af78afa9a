"""Clocks of dictionaries: each change moves them, and what can't be told has none."""

import gc
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from rushlight._native.cpython import dict_clocks, dict_watch, object_layout as layout
from rushlight._native.cpython.memory import word

if dict_clocks.unknown() is not None:
    pytest.skip("dictionaries have no clocks here", allow_module_level=True)
HERE: dict[str, Any] = globals()
COUNTED = 0


class Thing:
    def __init__(self) -> None:
        self.a = 1
        self.b = 2


def now(table: Any) -> int:
    place = dict_clocks.address(table)
    assert place
    return word(place)


def fresh() -> dict[Any, Any]:
    return {"a": 1, "b": 2, "c": 3}


CHANGES: dict[str, Callable[[dict[Any, Any]], Any]] = {
    "assignment": lambda d: d.__setitem__("a", object()),
    "new key": lambda d: d.__setitem__("new", 1),
    "not a text": lambda d: d.__setitem__(7, 1),
    "deletion": lambda d: d.__delitem__("b"),
    "pop": lambda d: d.pop("a"),
    "popitem": lambda d: d.popitem(),
    "setdefault": lambda d: d.setdefault("x", 1),
    "update": lambda d: d.update({"a": 9}),
    "keywords": lambda d: d.update(a=9),
    "pairs": lambda d: d.update([("a", 9)]),
    "union": lambda d: d.__ior__({"y": 1}),
    "clear": lambda d: d.clear(),
    "many": lambda d: d.update(dict.fromkeys(range(100))),
    "again": lambda d: d.__init__(z=1),  # type: ignore[misc]
    "from C": lambda d: exec("a = 5", {}, d),
    "as globals": lambda d: exec("a = 5", d),
    "del in globals": lambda d: exec("del a", d),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_each_change_moves_the_clock(name: str, kind: Any) -> None:
    table = kind(fresh())
    table |= {} if name not in ("as globals", "del in globals") else {"__builtins__": {}}
    before = now(table)
    CHANGES[name](table)
    assert now(table) != before


def test_looking_does_not_move_it() -> None:
    table = fresh()
    before = now(table)
    _ = table["a"], table.get("z"), len(table), list(table.items()), dict(table), table | {"q": 1}
    assert now(table) == before


def test_globals_move_it_quickened_too() -> None:
    seen = set()

    def count() -> None:
        global COUNTED
        COUNTED += 1

    for _ in range(300):
        count()
        seen.add(now(HERE))
    assert len(seen) == 300


def test_attributes_of_an_object_move_it_or_have_none() -> None:
    def store(x: Any, n: int) -> None:
        x.a = n

    large = Thing()
    for k in range(60):
        setattr(large, f"name {k}", k)
    given = Thing()
    given.__dict__ = {"a": 1, "b": 2}
    for x in (Thing(), large, given):
        space: Any = x.__dict__
        if not dict_clocks.address(space):
            assert layout.is_split(space)
            continue
        changes: list[Callable[[], Any]] = [partial(store, x, n + 10) for n in range(40)]
        changes += [
            partial(delattr, x, "b"),
            partial(object.__setattr__, x, "b", 3),
            partial(space.update, a=0),
        ]
        for change in changes:
            before = now(space)
            change()
            assert now(space) != before


def test_what_is_at_the_address_of_another_is_told_anew() -> None:
    for _ in range(2000):
        table = {"a": 1}
        before = now(table)
        table["a"] = 2
        assert now(table) != before
        del table
    gc.collect()


def test_threads_lose_no_change() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    wrong = []

    def work() -> None:
        mine = [fresh() for _ in range(200)]
        for _ in range(5):
            for table in mine:
                old = now(table)
                table["a"] = object()
                if now(table) == old:
                    wrong.append(table)

    threads = [threading.Thread(target=work) for _ in range(4)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong


def test_watched_dictionaries_are_found_among_thousands() -> None:
    if not dict_watch.ready():
        pytest.skip("no watchers before 3.12")
    tables = [{"a": k} for k in range(5000)]
    places = [dict_watch.clock(table) for table in tables]
    assert len(set(places)) == len(tables)
    told = [word(place) for place in places]
    for k, table in enumerate(tables):
        if k % 3 == 0:
            table["a"] = -1
    assert [word(p) - n for p, n in zip(places, told)] == [int(k % 3 == 0) for k in range(5000)]
