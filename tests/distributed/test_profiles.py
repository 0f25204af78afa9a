"""Profiles of several processes show when messages are on their way, beside what is computed."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(
    find_spec("mpi4py") is None, reason="several processes need the extra `mpi`"
)

PROGRAM = str(Path(__file__).parent / "several" / "profile_steps.py")
PATH = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)


@pytest.fixture(scope="module")
def seen() -> list[dict[str, Any]]:
    launcher = [sys.executable, "-m", "rushlight.distributed.run", "--standalone"]
    done = subprocess.run(
        [*launcher, "--nproc-per-node", "2", PROGRAM], capture_output=True, text=True,
        timeout=120, env={**os.environ, "PYTHONPATH": PATH},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def test_buckets_travel_while_backward_computes(seen: list[dict[str, Any]]) -> None:
    for one in seen:
        events = one["step"]
        sums = [event for event in events if event[0] == "gloo:all_reduce"]
        nodes = [
            event for event in events if event[0].endswith("Backward0") and ":" not in event[0]
        ]
        assert len(sums) >= 3  # each layer's gradients are a bucket
        begun, last_begins = nodes[0][1], max(node[1] for node in nodes)
        arrived = [event for event in sums if begun < event[1] and event[2] < last_begins]
        # All but the first layer's have come before its backward has begun.
        assert len(arrived) >= 2, events


def test_a_forward_and_who_asks_for_a_message_are_spans(seen: list[dict[str, Any]]) -> None:
    for one in seen:
        parents = {(event[0], event[4]) for event in one["step"]}
        assert ("DistributedDataParallel.forward", None) in parents
        assert ("c10d::broadcast_", "DistributedDataParallel.forward") in parents
        assert any(name == "c10d::allreduce_" and parent for name, parent in parents)


def test_what_travels_takes_no_time_of_its_thread(seen: list[dict[str, Any]]) -> None:
    for one in seen:
        names = [event[0] for event in one["messages"] if event[3]]
        assert names == ["gloo:all_reduce", "gloo:barrier", "gloo:all_gather"]
        for name, start, end, aside, parent, own in one["messages"]:
            assert start <= end
            assert aside == name.startswith("gloo:")
            if aside:
                assert (parent, own) == (None, 0.0)


def test_a_trace_has_a_row_for_what_overlaps(seen: list[dict[str, Any]]) -> None:
    for one in seen:
        by_id: dict[int, list[tuple[str, float]]] = {}
        for phase, number, when in one["trace"]:
            by_id.setdefault(number, []).append((phase, when))
        assert by_id
        for pair in by_id.values():
            assert [phase for phase, _ in pair] == ["b", "e"]
            assert pair[0][1] <= pair[1][1]


def test_a_message_that_is_refused_is_not_shown(seen: list[dict[str, Any]]) -> None:
    for one in seen:
        assert not [event for event in one["refused"] if event[3]]
