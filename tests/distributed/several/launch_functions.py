"""Launches a function of its own by `elastic_launch`, and a command, and says what came back."""

import json
import os
import sys

import rushlight as torch
import rushlight.distributed as dist
from rushlight.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std
from rushlight.distributed.elastic.multiprocessing.errors import ChildFailedError
from rushlight.distributed.launcher.api import LaunchConfig, elastic_launch


def total(start: float) -> list[float]:
    dist.init_process_group("gloo")
    x = torch.tensor([start + dist.get_rank()])
    dist.all_reduce(x)
    seen = [x.item(), float(dist.get_rank()), float(os.environ["LOCAL_RANK"])]
    dist.destroy_process_group()
    return seen


def fail_at_first(path: str) -> str:
    attempt = os.environ["TORCHELASTIC_RESTART_COUNT"]
    if attempt == "0" and os.environ["RANK"] == "1":
        raise ValueError("the first time")
    return attempt


def fail(path: str) -> None:
    if os.environ["RANK"] == "1":
        raise KeyError("lost")


if __name__ == "__main__":
    folder = sys.argv[1]

    def config(restarts: int = 0, specs: DefaultLogsSpecs | None = None) -> LaunchConfig:
        return LaunchConfig(
            min_nodes=1, max_nodes=1, nproc_per_node=2, rdzv_backend="c10d", logs_specs=specs,
            rdzv_endpoint="localhost:0", max_restarts=restarts, monitor_interval=0.05,
        )  # fmt: skip

    quiet = DefaultLogsSpecs(log_dir=folder, redirects=Std.ALL)
    said: dict[str, object] = {"total": elastic_launch(config(), total)(3.0)}
    said["again"] = elastic_launch(config(1, quiet), fail_at_first)(folder)
    words = ["-c", "import os; print('rank', os.environ['RANK'])"]
    said["command"] = elastic_launch(config(0, quiet), sys.executable)(*words)
    try:
        elastic_launch(config(0, quiet), fail)(folder)
    except ChildFailedError as error:
        said["failed"] = [error.name, sorted(error.failures)]
    try:
        elastic_launch(LaunchConfig(1, 1, 1), total)(1.0)
    except ValueError as refused:
        said["refused"] = str(refused)
    os.write(1, json.dumps(said).encode() + b"\n")
