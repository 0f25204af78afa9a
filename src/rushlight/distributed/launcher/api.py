"""`elastic_launch`: what torchrun does, from inside a program, for functions too."""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
import uuid
from dataclasses import dataclass, field
from multiprocessing.spawn import get_preparation_data
from typing import TYPE_CHECKING

from ..elastic.multiprocessing import DefaultLogsSpecs
from ..run import parse_args, plan_of, run_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..annotations import Given

__all__ = ["LaunchConfig", "elastic_launch", "launch_agent"]


@dataclass
class LaunchConfig:
    """What is started, where and how often.

    Parameters:
        min_nodes, max_nodes: how many hosts take part; the larger number is waited for.
        nproc_per_node: how many processes each runs.
        logs_specs: where their output goes; without it to this program's.
        run_id: a name for the run, the same on all hosts; without it one is made up.
        role: a name for the processes.
        rdzv_endpoint: where hosts meet: host:port.
        rdzv_backend: how: "static" or "c10d".
        rdzv_configs: more about that: `rank`, this host's number; `timeout`, in seconds.
        rdzv_timeout: the same timeout; -1 for that of `rdzv_configs`, or 900.
        max_restarts: how often all are started anew after one has failed.
        monitor_interval: seconds between looks.
        start_method: accepted; processes are started anew.
        log_line_prefix_template, metrics_cfg, local_addr, event_log_handler, numa_options: nothing
            here.
        signals_to_handle: what ends all, separated by commas.
        duplicate_stdout_filters, duplicate_stderr_filters, virtual_local_rank: nothing here.
        shutdown_timeout: accepted; a process has 30 seconds to end.
    Raises: ValueError: for a negative `shutdown_timeout`.
    Example:
        >>> from rushlight.distributed.launcher.api import LaunchConfig
        >>> LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=2).rdzv_configs
        {'timeout': 900}
    """

    min_nodes: int
    max_nodes: int
    nproc_per_node: int
    logs_specs: Given = None
    run_id: str = ""
    role: str = "default_role"
    rdzv_endpoint: str = ""
    rdzv_backend: str = "etcd"
    rdzv_configs: dict[str, Given] = field(default_factory=dict)
    rdzv_timeout: int = -1
    max_restarts: int = 3
    monitor_interval: float = 0.1
    start_method: str = "spawn"
    log_line_prefix_template: str | None = None
    metrics_cfg: dict[str, str] = field(default_factory=dict)
    local_addr: str | None = None
    event_log_handler: str = "null"
    numa_options: Given = None
    signals_to_handle: str = "SIGTERM,SIGINT,SIGHUP,SIGQUIT"
    duplicate_stdout_filters: list[str] | None = None
    duplicate_stderr_filters: list[str] | None = None
    virtual_local_rank: bool = False
    shutdown_timeout: int | None = None

    def __post_init__(self) -> None:
        if self.rdzv_timeout != -1:
            self.rdzv_configs["timeout"] = self.rdzv_timeout
        self.rdzv_configs.setdefault("timeout", 900)
        if self.logs_specs is None:
            self.logs_specs = DefaultLogsSpecs()
        if self.shutdown_timeout is None:
            self.shutdown_timeout = int(os.environ.get("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "30"))
        elif self.shutdown_timeout < 0:
            raise ValueError(f"shutdown_timeout must be non-negative, got {self.shutdown_timeout}")


class elastic_launch:
    """Runs a function or a program in several processes: `elastic_launch(config, f)(*args)`.

    A function is found by its module and name in each process, and its arguments and result are
    pickled.

    Parameters:
        config: what is started, where and how often.
        entrypoint: a function; or the name of a program, whose arguments the call has.
        health_check_server: nothing here.
    Raises: nothing before it is called.
    """

    def __init__(
        self, config: LaunchConfig, entrypoint: Given, health_check_server: object = None
    ) -> None:
        self._config = config
        self._entrypoint = entrypoint

    def __call__(self, *args: Given) -> dict[int, Given]:
        """The results of this host's processes, by rank.

        Raises:
            ChildFailedError: where one has failed and all restarts are used up.
        """
        return launch_agent(self._config, self._entrypoint, list(args))


def launch_agent(
    config: LaunchConfig,
    entrypoint: Callable[..., object] | str | None,
    args: list[Given],
    health_check_server: object = None,
) -> dict[int, Given]:
    """Runs a function or a program in several processes.

    Parameters:
        config: what is started, where and how often.
        entrypoint: a function, or the name of a program.
        args: its arguments.
        health_check_server: nothing here.
    Returns: the results of this host's processes, by rank; None of those of a program.
    Raises:
        ValueError: for a way to meet that there isn't.
        ChildFailedError: where a process has failed and all restarts are used up.
    """
    config.run_id = config.run_id or str(uuid.uuid4().int)
    if not callable(entrypoint):
        words = [str(entrypoint), *map(str, args)]
        named = words[0] if words[0] != sys.executable else ""
        name = named or next((word for word in words[1:] if word[:1] != "-"), "")
        return dict.fromkeys(_run(config, words, name))
    with tempfile.TemporaryDirectory(prefix="torchelastic_") as folder:
        prepared = get_preparation_data("worker")
        prepared.pop("authkey", None)  # is no one's but `multiprocessing`'s
        with open(os.path.join(folder, "call"), "wb") as file:
            pickle.dump(prepared, file)
            pickle.dump((entrypoint, args), file)
        worker = [sys.executable, "-u", "-m", "rushlight.distributed.launcher.worker", folder]
        ranks = _run(config, worker, getattr(entrypoint, "__qualname__", ""))
        return {rank: _read(os.path.join(folder, str(rank))) for rank in ranks}


def _read(path: str) -> Given:
    with open(path, "rb") as file:
        return pickle.load(file)


def _run(config: LaunchConfig, command: Sequence[str], name: str) -> list[int]:
    """Runs a command as torchrun does; gives the ranks of this host's processes."""
    if config.rdzv_backend not in ("static", "c10d"):
        raise ValueError(
            f"rdzv_backend {config.rdzv_backend!r} is none of those that there are: static, c10d"
        )
    logs, conf = config.logs_specs, config.rdzv_configs
    options = {
        "nnodes": f"{config.min_nodes}:{config.max_nodes}", "nproc-per-node": config.nproc_per_node,
        "rdzv-backend": config.rdzv_backend, "rdzv-endpoint": config.rdzv_endpoint,
        "rdzv-id": config.run_id, "rdzv-conf": f"timeout={conf['timeout']}", "role": config.role,
        "node-rank": conf.get("rank", 0), "max-restarts": config.max_restarts,
        "monitor-interval": config.monitor_interval, "redirects": logs.words(logs.redirects),
        "tee": logs.words(logs.tee), "signals-to-handle": config.signals_to_handle,
    }  # fmt: skip
    words = [f"--{option}={value}" for option, value in options.items()]
    if logs.root_log_dir:
        words.append(f"--log-dir={logs.root_log_dir}")
    if logs.local_ranks_filter:
        words.append(f"--local-ranks-filter={','.join(map(str, logs.local_ranks_filter))}")
    plan = plan_of(parse_args([*words, "--no-python", *command]))
    return run_plan(plan._replace(name=name))
