"""`torch.distributed.launch`: the older launcher, which hands each process its `--local-rank`.

    python -m torch.distributed.launch --nproc-per-node 2 train.py --epochs 3

`torch.distributed.run` is the same without that argument, as is this one with `--use-env`.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence

from .elastic.multiprocessing.errors import record
from .run import get_args_parser, plan_of, run_plan

__all__ = ["launch", "main", "parse_args"]


def parse_args(args: Sequence[str] | None) -> argparse.Namespace:
    """The options of a command line.

    Parameters:
        args: the words; None means those of this program.
    Returns: the options by name; `use_env` says that a program reads LOCAL_RANK.
    Raises: SystemExit: for an option that there isn't.
    Example:
        >>> from rushlight.distributed import launch
        >>> launch.parse_args(["--nproc_per_node", "2", "train.py"]).use_env
        False
    """
    parser = get_args_parser()
    parser.add_argument(
        "--use-env", "--use_env", action="store_true", help="processes read LOCAL_RANK"
    )
    return parser.parse_args(args)


def launch(args: argparse.Namespace) -> None:
    """Starts what the options ask for, and waits until it has ended.

    Parameters:
        args: what `parse_args` gives.
    Returns: None.
    Raises:
        ValueError: for a program that isn't Python's, without `use_env`.
        ChildFailedError: where a process has failed.
    """
    if args.no_python and not args.use_env:
        raise ValueError(
            "When using the '--no-python' flag, you must also set the '--use-env' flag."
        )
    plan = plan_of(args)
    if not args.use_env:
        place = len(plan.command) - len(args.training_script_args)
        plan.command.insert(place, "--local-rank=${local_rank}")
    run_plan(plan)


@record
def main(args: Sequence[str] | None = None) -> None:
    """Starts what a command line asks for."""
    warnings.warn(
        "The module torch.distributed.launch is deprecated\nand will be removed in future. Use "
        "torchrun.\nNote that --use-env is set by default in torchrun.\nIf your script expects "
        "`--local-rank` argument to be set, please\nchange it to read from "
        "`os.environ['LOCAL_RANK']` instead. See \n"
        "https://pytorch.org/docs/stable/distributed.html#launch-utility for \nfurther "
        "instructions\n",
        FutureWarning,
        stacklevel=3,
    )
    launch(parse_args(args))


if __name__ == "__main__":
    main()
