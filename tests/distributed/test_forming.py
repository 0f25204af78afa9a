"""Ranks meet: what a rank hears of those that have gone, or don't come."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from rushlight.distributed import pmi_server
from rushlight.distributed.errors import DistError, DistNetworkError, DistStoreError
from rushlight.distributed.pmi_server import Service
from rushlight.distributed.tcp_store import TCPStore
from rushlight.distributed.world import World, _announce


@contextlib.contextmanager
def service(size: int) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        served = Service(listener, size, 5.0)
        thread = threading.Thread(target=served.serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(10)
        assert not thread.is_alive()
        served.selector.close()


def announced(
    port: int, rank: int, size: int, seconds: float
) -> tuple[socket.socket, dict[str, str], bytes]:
    return _announce("127.0.0.1", port, rank, size, timedelta(seconds=seconds))


def test_a_rank_that_comes_late_hears_of_those_that_have_gone() -> None:
    with service(3) as port, socket.create_connection(("127.0.0.1", port)) as keeps:
        keeps.sendall(b"watch=2 who=third node=here\n")
        with socket.create_connection(("127.0.0.1", port)) as goes:
            goes.sendall(b"watch=1 who=second node=here\n")
        assert keeps.recv(100) == b"dead=1 who=second\n"
        with pytest.raises(DistError, match=r"rank 1 \(second\) has ended unexpectedly"):
            announced(port, 0, 3, 5.0)


def test_what_comes_with_the_word_that_all_are_there_is_read_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"all=2 nodes=1\ndead=1 who=other\n")
                connection.recv(1000)

        thread = threading.Thread(target=serve)
        thread.start()
        watch, words, received = announced(listener.getsockname()[1], 0, 2, 5.0)
        assert words == {"all": "2", "nodes": "1"}
        world = World(None, 0, 2, True, watch, received)  # type: ignore[arg-type]
        watch.sendall(b"bye=1\n")
        thread.join(10)
        world.look_for_the_gone()
        watch.close()
    assert world.gone == {1: "rank 1 (other) has ended unexpectedly"}


def test_a_rank_that_gave_up_is_told_of_with_its_reason() -> None:
    with service(3) as port, socket.create_connection(("127.0.0.1", port)) as keeps:
        keeps.sendall(b"watch=2 who=third node=here\n")
        late = (
            "Timed out after 1 seconds waiting for clients. 2/3 clients joined. rank 0 hasn't come"
        )
        with pytest.raises(DistStoreError, match=late):
            announced(port, 1, 3, 1.0)
        world = World(None, 2, 3, True, keeps)  # type: ignore[arg-type]
        while not world.gone:
            world.look_for_the_gone()
    assert world.gone[1].endswith(f"has ended unexpectedly: {late}")


def test_files_of_shared_memory_are_found_by_the_name_of_the_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = [
        tmp_path / f"mpich_{kind}_57307ff5_{node}" for kind in ("shm", "vci") for node in (0, 1)
    ]
    other = tmp_path / "mpich_shm_57307ff_5"
    for path in (*ours, other):
        path.touch()
    monkeypatch.setattr(pmi_server, "Path", lambda _: tmp_path)
    pmi_server.unlink_shared_memory("kvs_28022_1795886568077172788")
    assert list(tmp_path.iterdir()) == [other]


def test_ranks_that_do_not_come_or_fall_silent_are_named() -> None:
    with service(3) as port, socket.create_connection(("127.0.0.1", port)) as silent:
        silent.sendall(b"watch=2 who=third node=here\n")
        late = (
            r"Timed out after 3 seconds waiting for clients. 2/3 clients joined. "
            r"rank 1 hasn't come; rank 2 has come, and was stopped or hangs"
        )
        with pytest.raises(DistStoreError, match=late):
            announced(port, 0, 3, 3.0)


def test_a_store_that_hangs_is_waited_for_within_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as hangs:
        store = TCPStore("127.0.0.1", hangs.getsockname()[1], None, False, timedelta(seconds=1))
        with pytest.raises(DistNetworkError, match="doesn't answer: it hangs, was stopped"):
            store.add("key", 1)
