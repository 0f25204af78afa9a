"""Checkpoints of several ranks as one file, and one file as a checkpoint of any number of ranks.

python -m torch.distributed.checkpoint.format_utils dcp_to_torch FOLDER FILE
python -m torch.distributed.checkpoint.format_utils torch_to_dcp FILE FOLDER
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ...serialization import load as load_file, save as save_file
from .files import read_whole
from .pieces import INDEX, write_whole

__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]


def dcp_to_torch_save(
    dcp_checkpoint_dir: str | os.PathLike[str], torch_save_path: str | os.PathLike[str]
) -> None:
    """Writes what a folder of `save` holds into one file that `torch.load` reads.

    Parameters:
        dcp_checkpoint_dir: the folder.
        torch_save_path: the file.
    Returns: None.
    Raises: FileNotFoundError: for what isn't there; RuntimeError: for PyTorch's own folders.
    Example:
        >>> import os, tempfile
        >>> from rushlight.distributed.checkpoint import format_utils
        >>> folder = tempfile.mkdtemp()
        >>> file, cut = os.path.join(folder, "a.pt"), os.path.join(folder, "cut")
        >>> torch.save({"w": torch.ones(2)}, file)
        >>> format_utils.torch_save_to_dcp(file, cut)
        >>> format_utils.dcp_to_torch_save(cut, file + ".again")
        >>> torch.load(file + ".again")
        {'w': tensor([1., 1.])}
    """
    save_file(read_whole(Path(dcp_checkpoint_dir)), torch_save_path)


def torch_save_to_dcp(
    torch_save_path: str | os.PathLike[str], dcp_checkpoint_dir: str | os.PathLike[str]
) -> None:
    """Makes a folder that `load` reads, on any number of ranks, of a file of `torch.save`.

    Parameters:
        torch_save_path: the file, which may hold any objects: load none that you don't trust.
        dcp_checkpoint_dir: the folder.
    Returns: None.
    Raises: FileNotFoundError: for what isn't there; RuntimeError: for PyTorch's own folders.
    Example:
        >>> import os, tempfile
        >>> file, folder = os.path.join(tempfile.mkdtemp(), "a.pt"), tempfile.mkdtemp()
        >>> torch.save({"w": torch.ones(2)}, file)
        >>> torch.distributed.checkpoint.format_utils.torch_save_to_dcp(file, folder)
        >>> os.listdir(folder)
        ['rushlight.pt']
    """
    folder = Path(dcp_checkpoint_dir)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(load_file(torch_save_path, weights_only=False), folder / INDEX)


def main() -> None:
    """Does what the command line asks for."""
    parser = argparse.ArgumentParser(prog="format_utils", description=__doc__)
    parser.add_argument("mode", choices=["torch_to_dcp", "dcp_to_torch"], help="which way")
    parser.add_argument("src", help="what is read")
    parser.add_argument("dst", help="what is written")
    args = parser.parse_args()
    whole = args.mode == "torch_to_dcp"
    if not (os.path.isfile(args.src) if whole else os.path.isdir(args.src)):
        print(f"No checkpoint found at {args.src}. Skipping conversion.")
        return
    (torch_save_to_dcp if whole else dcp_to_torch_save)(args.src, args.dst)


if __name__ == "__main__":
    main()
