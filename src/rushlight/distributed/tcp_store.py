"""`TCPStore`: keys that the master process serves to all others.

A message is a number of fields, each with its length before it. The first field of a question is
the name of what is to be done, the first of an answer says how it went.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import struct
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from .._base.fork_locks import long_lock
from .errors import DistNetworkError, DistStoreError, QueueEmptyError
from .stored_keys import StoredKeys
from .stores import DEFAULT_TIMEOUT, Store, as_bytes, as_keys, deadline_of

if TYPE_CHECKING:
    from .annotations import StoreValue

__all__ = ["TCPStore"]

_NUMBER: Final = struct.Struct("<I")
_ANSWER: Final = 5.0  # seconds that an answer may take beyond what it waits for
_JOINED: Final = "init/"
_DONE, _LATE, _EMPTY, _WRONG = b"done", b"late", b"empty", b"wrong"


def _pack(fields: Sequence[bytes]) -> bytes:
    parts = [_NUMBER.pack(len(fields))]
    for field in fields:
        parts += (_NUMBER.pack(len(field)), field)
    body = b"".join(parts)
    return _NUMBER.pack(len(body)) + body


def _unpack(body: bytes | memoryview) -> list[bytes]:
    (count,) = _NUMBER.unpack_from(body)
    at, fields = _NUMBER.size, []
    for _ in range(count):
        (length,) = _NUMBER.unpack_from(body, at)
        at += _NUMBER.size
        fields.append(bytes(body[at : at + length]))
        at += length
    return fields


class _Client:
    """A connection as the server sees it: bytes that have come, and what it waits for."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.received = bytearray()
        self.keys: list[str] | None = None
        self.question: list[bytes] = []
        self.deadline = 0.0

    def questions(self) -> Iterator[list[bytes]]:
        """The whole questions among the bytes that have come, until one has to wait."""
        while self.keys is None and len(self.received) >= _NUMBER.size:
            (length,) = _NUMBER.unpack_from(self.received)
            end = _NUMBER.size + length
            if len(self.received) < end:
                return
            question = _unpack(bytes(self.received[_NUMBER.size : end]))
            del self.received[:end]
            yield question

    def answer(self, status: bytes, *fields: bytes) -> None:
        """Sends an answer; a connection that is gone is found out when it is read."""
        with contextlib.suppress(OSError):
            self.connection.setblocking(True)
            self.connection.sendall(_pack((status, *fields)))
            self.connection.setblocking(False)


class _Server:
    """Answers all clients in one thread; who waits for a key is answered when it is set."""

    def __init__(self, listener: socket.socket) -> None:
        self.port: int = listener.getsockname()[1]
        self.owner = os.getpid()
        self._listener = listener
        self._keys = StoredKeys()
        self._clients: set[_Client] = set()
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = socket.socketpair()
        for ear in (listener, self._woken):
            ear.setblocking(False)
            self._selector.register(ear, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, name="TCPStore", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the thread and all connections."""
        if self.owner == os.getpid():
            with contextlib.suppress(OSError):
                self._wake.send(b"x")

    def _serve(self) -> None:
        while True:
            ends = [client.deadline for client in self._clients if client.keys is not None]
            pause = max(0.0, min(ends) - time.monotonic()) if ends else None
            for key, _ in self._selector.select(pause):
                if key.fileobj is self._woken:
                    self._end()
                    return
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._read(key.data)
            self._answer_waiting()

    def _end(self) -> None:
        for client in self._clients:
            client.connection.close()
        self._selector.close()
        for ear in (self._listener, self._wake, self._woken):
            ear.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            connection, _ = self._listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.setblocking(False)
            client = _Client(connection)
            self._clients.add(client)
            self._selector.register(connection, selectors.EVENT_READ, client)

    def _read(self, client: _Client) -> None:
        try:
            data = client.connection.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._selector.unregister(client.connection)
            client.connection.close()
            self._clients.discard(client)
            return
        client.received += data
        self._answer_all(client)

    def _answer_all(self, client: _Client) -> None:
        for question in client.questions():
            try:
                self._answer(client, question)
            except Exception as error:
                client.answer(_WRONG, str(error).encode())

    def _answer(self, client: _Client, question: list[bytes]) -> None:
        what, fields = question[0].decode(), question[1:]
        if what in ("wait", "get", "pop"):
            client.keys = [field.decode() for field in fields[1:]]
            client.question = question
            client.deadline = time.monotonic() + float(fields[0])
            self._answer_if_there(client)
        else:
            client.answer(_DONE, *self._do(what, fields))

    def _answer_if_there(self, client: _Client) -> None:
        keys = client.keys
        if keys is None:
            return
        if self._keys.has(keys):
            what = client.question[0]
            values = []
            if what == b"get":
                values = [self._keys.held[key] for key in keys]
            elif what == b"pop":
                values = [self._keys.pop(keys[0]) or b""]
            client.keys = None
            client.answer(_DONE, *values)
        elif time.monotonic() >= client.deadline:
            client.keys = None
            client.answer(_LATE)

    def _answer_waiting(self) -> None:
        for client in [client for client in self._clients if client.keys is not None]:
            self._answer_if_there(client)
            self._answer_all(client)

    def _do(self, what: str, fields: list[bytes]) -> list[bytes]:
        keys = self._keys
        key = fields[0].decode() if fields else ""
        if what == "set":
            for name, value in zip(fields[::2], fields[1::2]):
                keys.held[name.decode()] = value
        elif what == "add":
            return [str(keys.add(key, int(fields[1]))).encode()]
        elif what == "append":
            keys.append(key, fields[1])
        elif what == "check":
            return [b"1" if keys.has([field.decode() for field in fields]) else b"0"]
        elif what == "compare_set":
            return [keys.compare_set(key, fields[1], fields[2])]
        elif what == "delete":
            return [b"0" if keys.held.pop(key, None) is None else b"1"]
        elif what == "list":
            return [name.encode() for name in keys.held]
        elif what == "push":
            keys.push(key, fields[1])
        elif what == "pop_now":
            first = keys.pop(key)
            return [] if first is None else [first]
        elif what == "length":
            return [str(keys.length(key)).encode()]
        return []


#: The servers of this process by port, and how many stores use each; the last one ends it.
_servers: dict[int, _Server] = {}
_users: dict[_Server, int] = {}


def _release(server: _Server | None, connection: socket.socket) -> None:
    connection.close()
    if server is None:
        return
    _users[server] -= 1
    if _users[server] == 0:
        del _users[server], _servers[server.port]
        server.close()


def _listen(port: int, descriptor: int | None) -> socket.socket:
    if descriptor is not None:
        listener = socket.socket(fileno=descriptor)
        listener.listen(1024)
        return listener
    try:
        if socket.has_dualstack_ipv6():
            return socket.create_server(
                ("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024
            )
    except OSError as error:
        if error.errno == 98:
            raise _not_listening(port, error) from None
    try:
        return socket.create_server(("", port), backlog=1024)
    except OSError as error:
        raise _not_listening(port, error) from None


def _not_listening(port: int, error: OSError) -> DistNetworkError:
    import errno

    number = error.errno or 0
    return DistNetworkError(
        "The server socket has failed to listen on any local network address. "
        f"port: {port}, useIpv6: false, code: -{number}, name: {errno.errorcode.get(number, '')}, "
        f"message: {os.strerror(number).lower()}"
    )


def _connect(host: str, port: int, timeout: timedelta) -> socket.socket:
    end, pause = deadline_of(timeout), 0.01
    while True:
        try:
            left = max(0.01, end - time.monotonic())
            connection = socket.create_connection((host, port), timeout=left)
        except OSError:
            if time.monotonic() + pause >= end:
                raise DistNetworkError(
                    f"The client socket has timed out after {_milliseconds(timeout)}ms while "
                    f"trying to connect to ({host}, {port})."
                ) from None
            time.sleep(pause)
            pause = min(pause * 1.5, 0.5)
        else:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(None)
            return connection


def _milliseconds(timeout: timedelta) -> int:
    return int(timeout.total_seconds() * 1000)


class TCPStore(Store):
    """A store that the master process serves, and to which all others connect.

    Parameters:
        host_name: the host on which it is served.
        port: the port; with 0 the master takes a free one, which is in its `port`.
        world_size: how many processes use it; None means that none are waited for.
        is_master: whether this process serves it.
        timeout: how long connecting, `get` and `wait` may take, a `timedelta`; 5 minutes by
            default.
        wait_for_workers: whether the master waits until `world_size` processes have connected.
        multi_tenant: whether masters of one process that name the same port serve one store.
        master_listen_fd: the number of an open socket on which the master listens.
        use_libuv: what `libuvBackend` says; there is one server.
    Raises:
        DistNetworkError: where the port is taken, and where no server answers within the timeout.
        DistStoreError: where others don't connect to the master within the timeout, and from `get`
            and `wait`, where a key isn't set within it.
    Example:
        >>> store = dist.TCPStore("127.0.0.1", 0, 1, is_master=True)
        >>> other = dist.TCPStore("127.0.0.1", store.port)
        >>> store.set("best", "0.9")
        >>> other.get("best")
        b'0.9'
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = DEFAULT_TIMEOUT,
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        super().__init__()
        self._timeout = timeout
        self._server: _Server | None = None
        if is_master:
            shared = _servers.get(port) if multi_tenant and port else None
            if shared is not None and shared.owner != os.getpid():
                shared = None
            self._server = shared or _Server(_listen(port, master_listen_fd))
            _servers[self._server.port] = self._server
            _users[self._server] = _users.get(self._server, 0) + 1
            port = self._server.port
        self.host, self.port = host_name, port
        self.libuvBackend = use_libuv
        self._lock = long_lock()
        self._connection = _connect(host_name, port, timeout)
        weakref.finalize(self, _release, self._server, self._connection)
        if world_size is not None and world_size > 0:
            self._join(world_size, is_master and wait_for_workers)

    @property
    def own_address(self) -> str:
        """The address of this host by which it reaches the server."""
        return str(self._connection.getsockname()[0]).removeprefix("::ffff:")

    def _join(self, world_size: int, wait: bool) -> None:
        joined = self.add(_JOINED, 1)
        end = deadline_of(self.timeout)
        while wait and joined < world_size:
            if time.monotonic() >= end:
                raise DistStoreError(
                    f"Timed out after {max(1, round(self.timeout.total_seconds()))} seconds "
                    f"waiting for clients. {joined}/{world_size} clients joined."
                )
            time.sleep(0.005)
            joined = self.add(_JOINED, 0)

    def _ask(self, what: str, *fields: bytes, late: float | None = None) -> list[bytes]:
        """Sends a question and gives the fields of the answer; `late`: the server's own timeout.

        Raises:
            DistNetworkError: where the server is gone, or doesn't answer within the timeout.
        """
        limit = self._timeout.total_seconds() if late is None else late + _ANSWER
        with self._lock:
            try:
                self._connection.settimeout(max(limit, _ANSWER))
                self._connection.sendall(_pack((what.encode(), *fields)))
                (length,) = _NUMBER.unpack(self._read(_NUMBER.size))
                status, *answer = _unpack(self._read(length))
            except TimeoutError:
                self._connection.close()  # the answer may still come, to another question
                raise DistNetworkError(
                    f"The server of the store, ({self.host}, {self.port}), doesn't answer: it "
                    "hangs, was stopped, or can't be reached."
                ) from None
            except OSError as error:
                raise DistNetworkError(os.strerror(error.errno or 0)) from None
        if status == _LATE:
            raise TimeoutError
        if status == _WRONG:
            raise ValueError(answer[0].decode())
        return answer

    def _read(self, length: int) -> bytes:
        parts = bytearray()
        while len(parts) < length:
            part = self._connection.recv(min(length - len(parts), 1 << 20))
            if not part:
                raise DistNetworkError(
                    "Failed to recv, got 0 bytes. Connection was likely closed. Did the remote "
                    "server shutdown or crash?"
                )
            parts += part
        return bytes(parts)

    def _ask_until(self, what: str, keys: list[str], timeout: timedelta) -> list[bytes]:
        """Asks what is answered only when all keys are set.

        Raises:
            DistStoreError: where they aren't within the timeout.
        """
        late = timeout.total_seconds()
        try:
            return self._ask(what, str(late).encode(), *(key.encode() for key in keys), late=late)
        except TimeoutError:
            named = ", ".join(f"/{key}" for key in keys)
            raise DistStoreError(
                f"wait timeout after {_milliseconds(timeout)}ms, keys: {named}"
            ) from None

    def set(self, key: str, value: StoreValue) -> None:
        """Sets the value of a key."""
        self._ask("set", key.encode(), as_bytes(value, "set"))

    def get(self, key: str) -> bytes:
        """The value of a key, as soon as it has one."""
        return self._ask_until("get", [key], self.timeout)[0]

    def add(self, key: str, value: int) -> int:
        """Adds to the number that a key holds, and gives the sum."""
        return int(self._ask("add", key.encode(), str(value).encode())[0])

    def append(self, key: str, value: StoreValue) -> None:
        """Appends to the value of a key."""
        self._ask("append", key.encode(), as_bytes(value, "append"))

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are set."""
        return self._ask("check", *(key.encode() for key in as_keys(keys)))[0] == b"1"

    def compare_set(self, key: str, expected_value: StoreValue, desired_value: StoreValue) -> bytes:
        """Sets a key if it has the value that is expected; gives its value then."""
        expected = as_bytes(expected_value, "compare_set")
        desired = as_bytes(desired_value, "compare_set")
        return self._ask("compare_set", key.encode(), expected, desired)[0]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Waits until all keys are set."""
        self._ask_until("wait", as_keys(keys), self.timeout if timeout is None else timeout)

    def delete_key(self, key: str) -> bool:
        """Removes a key; whether it was there."""
        return self._ask("delete", key.encode())[0] == b"1"

    def num_keys(self) -> int:
        """How many keys are set, the one with the number of clients included."""
        return len(self._ask("list"))

    def list_keys(self) -> list[str]:
        """The keys that are set, the one with the number of clients left out."""
        return [key for key in map(bytes.decode, self._ask("list")) if key != _JOINED]

    def queue_push(self, key: str, value: StoreValue) -> None:
        """Puts a value at the end of a queue."""
        self._ask("push", key.encode(), as_bytes(value, "queue_push"))

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Takes the first value of a queue, as soon as there is one.

        Raises:
            QueueEmptyError: without `block`, where there is none.
        """
        if block:
            return self._ask_until("pop", [key], self.timeout)[0]
        found = self._ask("pop_now", key.encode())
        if not found:
            raise QueueEmptyError("queue is empty")
        return found[0]

    def queue_len(self, key: str) -> int:
        """How many values a queue holds."""
        return int(self._ask("length", key.encode())[0])

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """The values of several keys, as soon as all have one."""
        return self._ask_until("get", list(keys), self.timeout) if keys else []

    def multi_set(self, keys: Sequence[str], values: Sequence[StoreValue]) -> None:
        """Sets several keys at once.

        Raises:
            DistStoreError: for more or fewer values than keys.
        """
        if len(keys) != len(values):
            raise DistStoreError("multiSet keys and values vectors must be of same size")
        fields = []
        for key, value in zip(keys, values):
            fields += [key.encode(), as_bytes(value, "multi_set")]
        self._ask("set", *fields)

    def clone(self) -> TCPStore:
        """A store with a connection of its own, which another thread may use meanwhile."""
        return TCPStore(self.host, self.port, None, False, self.timeout)

    def __repr__(self) -> str:
        own = self._connection.getsockname()[:2]
        server = "<nullptr>" if self._server is None else f"TCPServer(port={self.port})"
        return (
            f"TCPStore(client=TCPClient(SocketImpl(addr={own}, remote=({self.host}, "
            f"{self.port}))), server={server})"
        )
