"""`torchrun`: starts a program in several processes, on one host or several, and watches over them.

    python -m torch.distributed.run --standalone --nproc-per-node 4 train.py --epochs 3
    python -m torch.distributed.run --nnodes 2 --nproc-per-node 4 --node-rank 0 \
        --master-addr host0 --master-port 29500 train.py

Every process finds its rank, the number of all and where to meet in its environment, from which
`init_process_group` takes them. Where one fails all are stopped and, with `--max-restarts`, started
anew.
"""

from __future__ import annotations

import argparse
import os
import sys
import uuid
from collections.abc import Sequence

from .elastic.agent import Agent, Plan
from .elastic.multiprocessing.errors import record

__all__ = ["get_args_parser", "main", "parse_args", "run"]


class _FromEnvironment(argparse.Action):
    """An option whose default the variable `PET_<NAME>` gives."""

    def __init__(self, dest: str, default: object = None, required: bool = False,
                 **options: object) -> None:  # fmt: skip
        default = os.environ.get(f"PET_{dest.upper()}", default)
        super().__init__(dest=dest, default=default, required=False, **options)  # type: ignore[arg-type]

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace,
                 values: object, option_string: str | None = None) -> None:  # fmt: skip
        setattr(namespace, self.dest, values)


class _Flag(argparse.Action):
    """A switch that the variable `PET_<NAME>` turns on when it is 1."""

    def __init__(self, dest: str, **options: object) -> None:
        default = os.environ.get(f"PET_{dest.upper()}", "0") == "1"
        super().__init__(dest=dest, nargs=0, default=default, **options)  # type: ignore[arg-type]

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace,
                 values: object, option_string: str | None = None) -> None:  # fmt: skip
        setattr(namespace, self.dest, True)


def get_args_parser() -> argparse.ArgumentParser:
    """The parser of the launcher's options; each is known with dashes and with underscores."""
    parser = argparse.ArgumentParser(
        prog="torchrun", description="Starts a program in several processes."
    )

    def option(name: str, *more: str, kind: type = str, default: object = None, help: str) -> None:
        names = [f"--{name}", *([f"--{name.replace('-', '_')}"] if "-" in name else []), *more]
        parser.add_argument(*names, action=_FromEnvironment, type=kind, default=default, help=help)

    def switch(name: str, *more: str, help: str) -> None:
        names = [f"--{name}", *([f"--{name.replace('-', '_')}"] if "-" in name else []), *more]
        parser.add_argument(*names, action=_Flag, help=help)

    option("nnodes", default="1:1", help="number of hosts, or fewest:most")
    option("nproc-per-node", default="1", help="processes on each host: a number, auto, cpu")
    option("rdzv-backend", default="static", help="how hosts meet: static or c10d")
    option("rdzv-endpoint", default="", help="where hosts meet: host:port")
    option("rdzv-id", default="none", help="a name for the run, the same on all hosts")
    option("rdzv-conf", default="", help="more about how they meet: key=value,…")
    switch("standalone", help="one host, which meets nobody else")
    option("max-restarts", kind=int, default=0, help="how often all are started anew")
    option("monitor-interval", kind=float, default=0.1, help="seconds between looks")
    option("start-method", default="spawn", help="accepted: programs are started anew")
    option("role", default="default", help="a name for the processes")
    option("log-dir", default=None, help="the folder for what they print")
    option("redirects", "-r", default="0", help="what goes to files: 0, 1, 2, 3 or rank:what,…")
    option("tee", "-t", default="0", help="what goes to files and here: like --redirects")
    option("local-ranks-filter", default="", help="whose output is shown: rank,…")
    option("node-rank", "--node_rank", kind=int, default=0, help="the number of this host")
    option("master-addr", default="127.0.0.1", help="the host with number 0")
    option("master-port", kind=int, default=29500, help="a free port of that host")
    option("local-addr", default=None, help="the address of this host")
    option("numa-binding", default=None, help="accepted: processes aren't bound")
    option("signals-to-handle", default="SIGTERM,SIGINT,SIGHUP,SIGQUIT", help="what ends all")
    switch("module", "-m", help="the program is a module")
    switch("no-python", help="the program isn't started by Python")
    switch("run-path", help="accepted: a script is run as such")
    parser.add_argument("training_script", help="the program: a script, or a module's name")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def parse_args(args: Sequence[str] | None) -> argparse.Namespace:
    """The options of a command line."""
    return get_args_parser().parse_args(args)


def _processes(said: str) -> int:
    """How many processes a host runs.

    Raises:
        ValueError: for what says no number, and for GPUs, which there aren't.
    """
    if said.isdigit():
        return int(said)
    if said in ("auto", "cpu"):
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if said in ("gpu", "xpu"):
        raise ValueError("Cuda is not available." if said == "gpu" else "Xpu is not available.")
    raise ValueError(f"Unsupported nproc_per_node value: {said}")


def _nodes(said: str) -> int:
    """How many hosts take part.

    Raises:
        RuntimeError: for a number of hosts that isn't one.
    """
    parts = said.split(":")
    if len(parts) > 2 or not all(part.isdigit() for part in parts):
        raise RuntimeError(f'nnodes={said} is not in "MIN:MAX" format')
    if int(parts[0]) < 1 or int(parts[-1]) < int(parts[0]):
        raise AssertionError(f"nnodes={said}: fewest is at least 1 and at most the other")
    return int(parts[-1])


def _by_rank(said: str, count: int) -> list[int]:
    """For each local rank, what is redirected: 1 output, 2 errors, 3 both.

    Raises:
        ValueError: for anything else.
    """
    if said in ("0", "1", "2", "3"):
        return [int(said)] * count
    out = [0] * count
    for part in said.split(","):
        rank, _, what = part.partition(":")
        if not rank.isdigit() or what not in ("0", "1", "2", "3") or int(rank) >= count:
            raise ValueError(f"{said}: not 0, 1, 2, 3 or local_rank:what,…")
        out[int(rank)] = int(what)
    return out


def _command(args: argparse.Namespace) -> list[str]:
    """The command that each process runs.

    Raises:
        ValueError: for a module that Python isn't to start.
    """
    if args.no_python:
        if args.module:
            raise ValueError("Don't use both the '--no-python' flag and the '--module' flag at the "
                             "same time.")  # fmt: skip
        return [args.training_script, *args.training_script_args]
    start = [sys.executable, "-u", *(["-m"] if args.module else [])]
    return [*start, args.training_script, *args.training_script_args]


def plan_of(args: argparse.Namespace) -> Plan:
    """What the options ask for."""
    count, nodes = _processes(args.nproc_per_node), _nodes(args.nnodes)
    # A program that fills in the options itself (accelerate) says the port as a text.
    host, port, number = args.master_addr, int(args.master_port), args.node_rank
    run_id = args.rdzv_id
    if args.standalone:
        host, port, number, nodes, run_id = "localhost", 0, 0, 1, str(uuid.uuid4())
    elif args.rdzv_endpoint or args.rdzv_backend != "static":
        if args.rdzv_endpoint:
            host, _, said = args.rdzv_endpoint.partition(":")
            port = int(said) if said else 29400 if args.rdzv_backend == "c10d" else port
        elif args.rdzv_backend == "c10d":
            host, port = "localhost", 0 if nodes == 1 else 29400
        number = None if args.rdzv_backend != "static" else number
    shown = args.local_ranks_filter
    return Plan(
        command=_command(args), name=os.path.basename(args.training_script), processes=count,
        nodes=nodes, node=number, host=host, port=port, run_id=run_id, role=args.role,
        max_restarts=args.max_restarts, pause=args.monitor_interval, log_dir=args.log_dir,
        redirects=_by_rank(args.redirects, count), tees=_by_rank(args.tee, count),
        shown={int(rank) for rank in shown.split(",")} if shown else None,
        timeout=_timeout(args.rdzv_conf), signals=args.signals_to_handle.split(","),
    )  # fmt: skip


def _timeout(conf: str) -> float:
    options = dict(pair.split("=", 1) for pair in conf.split(",") if "=" in pair)
    return float(options.get("join_timeout", options.get("timeout", 600)))


def run(args: argparse.Namespace) -> None:
    """Starts what the options ask for, and waits until it has ended."""
    run_plan(plan_of(args))


def run_plan(plan: Plan) -> list[int]:
    """Starts what is planned, and waits until it has ended; the ranks of this host's processes.

    Raises:
        ChildFailedError: where one has failed and all restarts are used up.
    """
    agent = Agent(plan)
    agent.run()
    return agent.ranks()


@record
def main(args: Sequence[str] | None = None) -> None:
    """Starts what a command line asks for."""
    run(parse_args(args))


if __name__ == "__main__":
    main()
