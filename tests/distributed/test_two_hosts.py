"""Two hosts, joined by a virtual cable: DDP and FSDP over TCP give what one host gives."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from .two_hosts import Cable, two_hosts, why_not

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("mpi4py") is None, reason="several processes need the extra `mpi`"
    ),
]

TRAIN = str(Path(__file__).parent / "several" / "train.py")
LAUNCH = [sys.executable, "-m", "rushlight.distributed.run"]
PATH = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
PARAMETERS = (40 * 300 + 300 + 300 * 300 + 300 + 300 * 3 + 3) * 4  # in bytes


@pytest.fixture(scope="module")
def cable() -> Iterator[Cable]:
    reason = why_not()
    if reason:
        pytest.skip(reason)
    with two_hosts() as made:
        yield made


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": PATH, "OMP_NUM_THREADS": "1", **more}


def said(*texts: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for text in texts for line in text.splitlines() if "{" in line]
    return sorted(lines, key=lambda one: int(one["rank"]))


def launched(cable: Cable, each: int, *arguments: str, **told: str) -> list[subprocess.Popen[str]]:
    """The launcher on both hosts, as a user would start it.

    Without UCX_TLS the library beneath MPICH finds that both are one machine, and takes memory.
    """
    told = {"UCX_TLS": "tcp,self", **told}
    return [
        subprocess.Popen(
            [*cable.on(host), *LAUNCH, "--nnodes", "2", "--node-rank", str(host),
             "--nproc-per-node", str(each), "--master-addr", cable.address,
             "--master-port", "29500", TRAIN, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**told),
        )
        for host in range(2)
    ]  # fmt: skip


@pytest.mark.parametrize("each", [1, 2])
def test_two_hosts_train_to_the_same_bits_as_one(cable: Cable, each: int) -> None:
    before = cable.carried()
    texts = []
    for launcher in launched(cable, each):
        out, err = launcher.communicate(timeout=120)
        assert launcher.returncode == 0, err
        texts.append(out)
    apart = said(*texts)
    assert not any(one["one node"] for one in apart)
    assert cable.carried() - before > 4 * PARAMETERS  # four steps of DDP send at least this
    alone = subprocess.run(
        [*LAUNCH, "--standalone", "--nproc-per-node", str(2 * each), TRAIN],
        env=environment(), capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    together = said(alone.stdout)
    assert all(one.pop("one node") for one in together)
    hybrid = [one.pop("HYBRID") for one in apart]  # on each host, then over both: another order
    assert hybrid == [pytest.approx(one.pop("HYBRID"), rel=1e-5) for one in together]
    assert [{k: v for k, v in one.items() if k != "one node"} for one in apart] == together
    for one in together:
        assert one["DDP"] == pytest.approx(one["FSDP"], rel=1e-5)
        assert one["DDP"] == pytest.approx(one["fully_shard"], rel=1e-5)


def test_hosts_without_a_network_between_them_say_what_to_set(cable: Cable) -> None:
    for launcher in launched(cable, 1, UCX_NET_DEVICES="lo"):
        err = launcher.communicate(timeout=120)[1]
        assert launcher.returncode == 1
        assert "UCX_NET_DEVICES=lo leaves MPI no network to the other hosts" in err
        assert "networks here: cable" in err


def test_a_cut_cable_ends_both_hosts_within_the_timeout(cable: Cable, tmp_path: Path) -> None:
    under_way = tmp_path / "under_way"
    launchers = launched(cable, 1, str(under_way), LIMIT="5")
    end = time.monotonic() + 60
    while not under_way.exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert under_way.exists()
    cable.cut()
    texts = [launcher.communicate(timeout=90)[0] for launcher in launchers]
    assert [launcher.returncode for launcher in launchers] == [1, 1]
    for rank, one in enumerate(said(*texts)):
        assert one["error"].startswith("RuntimeError: Timed out waiting 5000ms for ")
        assert f"rank {1 - rank} doesn't wait" in one["error"]
