"""A helper process through which processes that were started one by one become one MPI world.

    python pmi_server.py SIZE SECONDS        prints the port that it listens on

It speaks PMI-1 (lines of text), by which MPICH finds its peers, and keeps a line to each rank on
which it says when all are there and which of them has ended. It runs on its own, without any other
module of the package: in a rank's own process it would wait for the lock that `MPI_Init` holds.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import sys
import time
from pathlib import Path

__all__ = ["PULSE", "Service", "unlink_shared_memory"]

PULSE = 0.7  # seconds between the words of a rank that waits for others to come


class _Line:
    """A connection: what has come of the next line, and whose it is."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.received = b""
        self.rank: int | None = None
        self.who = ""
        self.why = ""  # it gave up, if it has said so
        self.leaving = False
        self.heard = time.monotonic()

    def say(self, text: str) -> None:
        """Sends a line; a connection that is gone is found out when it is read."""
        with contextlib.suppress(OSError):
            self.connection.sendall(text.encode() + b"\n")


def _end_if_unreachable(connection: socket.socket) -> None:
    """Has the kernel end a connection to a host that hasn't been reached for 30 seconds."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 4)):
        if hasattr(socket, option):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def unlink_shared_memory(name: str) -> None:
    """Takes MPICH's files of shared memory, of the world of a key-value space, out of the folder.

    Done once all ranks have them open, nothing is left behind however the processes end, and
    `MPI_Finalize`, which waits for all, isn't needed then. MPICH puts the FNV-1a hash of the name
    into the names of the files.
    """
    world = 2166136261
    for byte in name.encode():
        world = (world ^ byte) * 16777619 & 0xFFFFFFFF
    for path in Path("/dev/shm").glob(f"mpich_*_{world:x}_*"):
        with contextlib.suppress(OSError):
            path.unlink()


def mapping_of(nodes: list[str]) -> str:
    """Which ranks share a node, as PMI writes it: blocks of (node, nodes, ranks on each)."""
    numbers: dict[str, int] = {}
    blocks: list[list[int]] = []
    for node in nodes:
        number = numbers.setdefault(node, len(numbers))
        if blocks and blocks[-1][0] == number:
            blocks[-1][2] += 1
        else:
            blocks.append([number, 1, 1])
    joined: list[list[int]] = []
    for number, _, count in blocks:
        last = joined[-1] if joined else None
        if last is not None and last[2] == count and last[0] + last[1] == number:
            last[1] += 1
        else:
            joined.append([number, 1, count])
    return "(vector,{})".format(",".join(f"({a},{b},{c})" for a, b, c in joined))


class Service:
    """The key-value service of one world, and the lines on which ranks are watched."""

    def __init__(self, listener: socket.socket, size: int, seconds: float) -> None:
        self.size = size
        self.name = f"kvs_{os.getpid()}_{time.time_ns()}"
        self.values: dict[str, str] = {}
        self.watched: dict[int, _Line] = {}
        self.nodes: dict[int, str] = {}
        self.waiting: list[_Line] = []
        self.gone: list[str] = []
        self.open = 0
        self.deadline = time.monotonic() + seconds
        self.selector = selectors.DefaultSelector()
        self.listener = listener
        self.selector.register(listener, selectors.EVENT_READ)

    def serve(self) -> None:
        """Answers until all ranks have gone, or until the time is over and none has come."""
        while self.open or not self.watched:
            ready = self.selector.select(1.0)
            for key, _ in ready:
                if key.fileobj is self.listener:
                    connection, _ = self.listener.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    _end_if_unreachable(connection)
                    self.selector.register(connection, selectors.EVENT_READ, _Line(connection))
                else:
                    self._read(key.data)
            if not ready and not self.open and time.monotonic() > self.deadline:
                return

    def _read(self, line: _Line) -> None:
        try:
            data = line.connection.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            self._lose(line)
            return
        line.received += data
        line.heard = time.monotonic()
        while b"\n" in line.received:
            text, _, line.received = line.received.partition(b"\n")
            words = dict(word.split("=", 1) for word in text.decode().split() if "=" in word)
            if "watch" in words:
                self._watch(line, words)
            elif "bye" in words:
                line.leaving = True
            elif "why" in words:
                line.why = words["why"]
            elif "waits" in words:
                self._tell_others(line, text.decode())
            elif "here" in words:
                pass
            elif "missing" in words:
                line.say(f"missing={self._away()} silent={self._silent()}")
            else:
                self._answer(line, words)

    def _lose(self, line: _Line) -> None:
        self.selector.unregister(line.connection)
        line.connection.close()
        if line.rank is None:
            if line in self.waiting:
                self.waiting.remove(line)
            return
        self.open -= 1
        said = "left" if line.leaving else "dead"
        why = f" why={line.why}" if line.why else ""
        self.gone.append(f"{said}={line.rank} who={line.who}{why}")
        self._tell_others(line, self.gone[-1])

    def _tell_others(self, line: _Line, text: str) -> None:
        for other in self.watched.values():
            if other is not line:
                other.say(text)

    def _watch(self, line: _Line, words: dict[str, str]) -> None:
        line.rank, line.who = int(words["watch"]), words["who"]
        self.watched[line.rank] = line
        self.nodes[line.rank] = words["node"]
        self.open += 1
        for text in self.gone:
            line.say(text)
        if len(self.watched) == self.size:
            nodes = [self.nodes[rank] for rank in range(self.size)]
            self.values["PMI_process_mapping"] = mapping_of(nodes)
            for other in self.watched.values():
                other.say(f"all={self.size} nodes={len(set(nodes))} name={self.name}")

    def _away(self) -> str:
        return ",".join(str(rank) for rank in range(self.size) if rank not in self.watched)

    def _silent(self) -> str:
        """Ranks that have come and, while others still say so each second, wait no more."""
        before = time.monotonic() - 3 * PULSE
        return ",".join(str(rank) for rank, one in self.watched.items() if one.heard < before)

    def _answer(self, line: _Line, words: dict[str, str]) -> None:
        cmd = words.get("cmd")
        if cmd == "initack":
            line.say("cmd=initack rc=0")
            line.say(f"cmd=set size={self.size}")
            line.say(f"cmd=set rank={words['pmiid']}")
            line.say("cmd=set debug=0")
        elif cmd == "init":
            line.say("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0")
        elif cmd == "get_maxes":
            line.say("cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0")
        elif cmd == "get_appnum":
            line.say("cmd=appnum appnum=0 rc=0")
        elif cmd == "get_my_kvsname":
            line.say(f"cmd=my_kvsname kvsname={self.name} rc=0")
        elif cmd == "get_universe_size":
            line.say(f"cmd=universe_size size={self.size} rc=0")
        elif cmd == "put":
            self.values[words["key"]] = words["value"]
            line.say("cmd=put_result rc=0 msg=success")
        elif cmd == "get":
            found = self.values.get(words["key"])
            if found is None:
                line.say("cmd=get_result rc=-1 msg=key_not_found value=unknown")
            else:
                line.say(f"cmd=get_result rc=0 msg=success value={found}")
        elif cmd == "barrier_in":
            self.waiting.append(line)
            if len(self.waiting) == self.size:
                waiting, self.waiting = self.waiting, []
                for other in waiting:
                    other.say("cmd=barrier_out rc=0")
        elif cmd == "finalize":
            line.say("cmd=finalize_ack rc=0")


def _open_as_many_as_allowed() -> None:
    """Raises the limit of open files: each rank has two connections."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def main() -> None:
    """Listens on a free port, says which, and serves."""
    _open_as_many_as_allowed()
    listener = socket.create_server(("", 0), backlog=1024)
    print(listener.getsockname()[1], flush=True)
    # Whoever reads what the ranks print isn't kept waiting by a service that outlives them.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    service = Service(listener, int(sys.argv[1]), float(sys.argv[2]))
    service.serve()
    unlink_shared_memory(service.name)  # of ranks that were killed while they opened it


if __name__ == "__main__":
    main()
