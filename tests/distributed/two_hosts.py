"""Two hosts on one machine: two network namespaces, and a virtual cable between them.

Processes of one reach those of the other by TCP over the cable alone; for MPI, too, they are two
nodes. Making them needs Linux, `ip` and the rights of root: `why_not` says what is lacking.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Cable", "two_hosts", "why_not"]


def _ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, timeout=30)
    if done.returncode:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class Cable(NamedTuple):
    """Two hosts, by the names of their namespaces, and how the first is reached."""

    hosts: tuple[str, str]
    address: str

    def on(self, host: int) -> list[str]:
        """What starts a command on a host."""
        return ["ip", "netns", "exec", self.hosts[host]]

    def carried(self) -> int:
        """How many bytes the first host has sent and received over the cable."""
        counts = ("rx_bytes", "tx_bytes")
        paths = [f"/sys/class/net/cable/statistics/{count}" for count in counts]
        text = subprocess.run(
            [*self.on(0), "cat", *paths], capture_output=True, text=True, check=True
        ).stdout
        return sum(map(int, text.split()))

    def cut(self) -> None:
        """Nothing goes over the cable from here on, and nobody is told."""
        for host in self.hosts:
            _ip("-n", host, "link", "set", "cable", "down")


@contextlib.contextmanager
def two_hosts() -> Iterator[Cable]:
    """Makes the hosts and their cable, and takes them away again.

    Raises:
        OSError: where they can't be made.
    """
    number = os.getpid()
    names = (f"rushlight-{number}-0", f"rushlight-{number}-1")
    made = []
    try:
        for name in names:
            _ip("netns", "add", name)
            made.append(name)
        _ip("-n", names[0], "link", "add", "cable", "type", "veth",
            "peer", "name", "cable", "netns", names[1])  # fmt: skip
        for host, name in enumerate(names):
            _ip("-n", name, "addr", "add", f"10.77.0.{host + 1}/24", "dev", "cable")
            for link in ("lo", "cable"):
                _ip("-n", name, "link", "set", link, "up")
        _wait_for_link(names)
        yield Cable(names, "10.77.0.1")
    finally:
        for name in made:
            _ip("netns", "delete", name)


def _wait_for_link(names: tuple[str, str]) -> None:
    """Waits until both ends are up: MPI leaves out a network without a link, and finds no way then.

    Raises:
        OSError: where they don't come up.
    """
    end = time.monotonic() + 10
    while not all("state UP" in _ip("-n", name, "link", "show", "cable") for name in names):
        if time.monotonic() > end:
            raise OSError("the cable has no link")
        time.sleep(0.05)


def why_not() -> str:
    """What is lacking for two hosts on this machine; empty where nothing is."""
    if sys.platform != "linux" or shutil.which("ip") is None:
        return "network namespaces need Linux and its command `ip` (iproute2)"
    try:
        with two_hosts():
            return ""
    except OSError as error:
        return f"network namespaces can't be made here (as root they can): {error}"
