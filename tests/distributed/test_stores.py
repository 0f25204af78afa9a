"""Stores: the same keys for threads, processes behind a port, and those that share a file."""

import multiprocessing
import socket
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

import rushlight.distributed as dist

Make = Callable[[], dist.Store]
SHORT = timedelta(seconds=0.1)


@pytest.fixture(params=["hash", "file", "tcp", "prefix", "prefix of tcp"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> dist.Store:
    makers: dict[str, Make] = {
        "hash": dist.HashStore,
        "file": lambda: dist.FileStore(str(tmp_path / "store"), 1),
        "tcp": lambda: dist.TCPStore("127.0.0.1", 0, 1, True),
        "prefix": lambda: dist.PrefixStore("run", dist.HashStore()),
        "prefix of tcp": lambda: dist.PrefixStore("a", dist.TCPStore("127.0.0.1", 0, 1, True)),
    }
    return makers[request.param]()


def test_keys_keep_bytes(store: dist.Store) -> None:
    store.set("key", "value")
    store.set("raw", b"\x00\xff")
    assert (store.get("key"), store.get("raw")) == (b"value", b"\x00\xff")
    with pytest.raises(TypeError, match=r"set\(\): incompatible function arguments"):
        store.set("key", 3)
    assert store.check(["key", "raw"]) and store.check([]) and not store.check(["key", "none"])
    assert store.delete_key("key") and not store.delete_key("key")
    store.append("raw", "more")
    assert store.get("raw") == b"\x00\xffmore"
    store.multi_set(["x", "y"], ["1", "2"])
    assert store.multi_get(["y", "x"]) == [b"2", b"1"]
    assert sorted(store.list_keys()) == ["raw", "x", "y"]


def test_numbers_are_added_up(store: dist.Store) -> None:
    assert (store.add("n", 5), store.add("n", -2), store.get("n")) == (5, 3, b"3")
    store.set("text", "a")
    with pytest.raises(ValueError, match="stoll"):
        store.add("text", 1)
    assert store.add("n", 1) == 4  # the store still answers


def test_a_key_is_set_where_it_has_the_value_that_is_expected(store: dist.Store) -> None:
    assert store.compare_set("k", "", "v") == b"v"
    assert store.compare_set("k", "other", "w") == b"v"
    assert store.compare_set("k", "v", "w") == b"w"
    assert store.compare_set("none", "expected", "w") == b"expected"
    assert not store.check(["none"])


def test_waiting_ends_at_the_timeout(store: dist.Store) -> None:
    store.set_timeout(SHORT)
    assert store.timeout == SHORT
    for wait in (lambda: store.get("none"), lambda: store.wait(["none"]),
                 lambda: store.wait(["none"], timedelta(seconds=0.05))):  # fmt: skip
        with pytest.raises(RuntimeError, match=r"(?i)timeout"):
            wait()
    store.set("there", "1")
    store.wait(["there"])


def test_a_thread_waits_for_another(store: dist.Store) -> None:
    other = store.clone()
    late = threading.Timer(0.05, lambda: other.set("late", "now"))
    late.start()
    assert store.get("late") == b"now"
    late.join()


def test_queues_give_what_was_put_first() -> None:
    for store in (dist.HashStore(), dist.TCPStore("127.0.0.1", 0, 1, True)):
        store.queue_push("q", "1")
        store.queue_push("q", "2")
        assert (store.queue_len("q"), store.queue_pop("q"), store.queue_pop("q")) == (2, b"1", b"2")
        with pytest.raises(dist.QueueEmptyError, match="queue is empty"):
            store.queue_pop("q", False)


def test_the_texts_are_those_of_pytorch(tmp_path: Path) -> None:
    tcp = dist.TCPStore("127.0.0.1", 0, 1, True, timeout=SHORT)
    with pytest.raises(dist.DistStoreError, match=r"wait timeout after 100ms, keys: /zz, /a"):
        tcp.wait(["zz", "a"])
    with pytest.raises(dist.DistStoreError, match=r"^Wait timeout$"):
        dist.HashStore().wait(["a"], SHORT)
    file = dist.FileStore(str(tmp_path / "f"))
    file.set_timeout(SHORT)
    with pytest.raises(RuntimeError, match="Timeout waiting for key: a after 100 ms"):
        file.get("a")
    with pytest.raises(dist.DistNetworkError, match="code: -98, name: EADDRINUSE"):
        dist.TCPStore("127.0.0.1", tcp.port, 1, True, SHORT)
    with pytest.raises(dist.DistStoreError, match=r"after 1 seconds waiting for clients. 1/2"):
        dist.TCPStore("127.0.0.1", 0, 2, True, timedelta(seconds=0.6))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(dist.DistNetworkError, match="timed out after 300ms while trying"):
        dist.TCPStore("127.0.0.1", port, 2, False, timedelta(seconds=0.3))


def _count(port: int, rounds: int) -> None:
    store = dist.TCPStore("127.0.0.1", port, 3, False)
    for _ in range(rounds):
        store.add("total", 1)
    store.wait(["go"])
    store.add("ended", 1)


def test_processes_share_a_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_count, args=(port, 50)) for _ in range(2)]
    for process in processes:
        process.start()
    store = dist.TCPStore("127.0.0.1", port, 3, True, timedelta(seconds=20))
    store.set("go", "1")
    for process in processes:
        process.join(20)
        assert process.exitcode == 0
    assert store.get("total") == b"100"
    assert store.get("ended") == b"2"


def _write(path: str, name: str) -> None:
    store = dist.FileStore(path, 2)
    for i in range(20):
        store.add("total", 1)
        store.set(f"{name}/{i}", name)


def test_processes_share_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "store")
    store = dist.FileStore(path, 2)
    process = multiprocessing.get_context("fork").Process(target=_write, args=(path, "other"))
    process.start()
    _write(path, "this")
    process.join(20)
    assert store.get("total") == b"40"
    assert store.check([f"{name}/{i}" for name in ("this", "other") for i in range(20)])


def test_a_barrier_lets_all_go_at_once() -> None:
    store = dist.HashStore()
    passed: list[float] = []

    def come(after: float) -> None:
        time.sleep(after)
        store.barrier("here", 2)
        passed.append(time.monotonic())

    threads = [threading.Thread(target=come, args=(after,)) for after in (0, 0.1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert len(passed) == 2 and abs(passed[0] - passed[1]) < 0.09


def test_a_server_that_ends_is_noticed() -> None:
    master = dist.TCPStore("127.0.0.1", 0, None, True)
    client = dist.TCPStore("127.0.0.1", master.port, None, False)
    client.set("a", "1")
    del master
    time.sleep(0.1)
    with pytest.raises(dist.DistNetworkError):
        for _ in range(3):
            client.get("a")
