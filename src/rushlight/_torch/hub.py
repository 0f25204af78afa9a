"""`torch.hub`: models of a local folder with a `hubconf.py`, and weights of a file or an address.

Nothing is fetched from GitHub; weights are, where a program gives their address.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib
import importlib.util
import os
import re
import sys
import urllib.request
import zipfile
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final, NoReturn
from urllib.parse import urlparse

from .. import serialization
from .._base.atomic_files import write_whole
from .._base.error_notes import advise
from .._base.lazy import lazy, list_names as _listed

__all__ = [
    "download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url",
    "set_dir",
]  # fmt: skip

__dir__ = _listed(globals())

ENV_TORCH_HOME: Final = "TORCH_HOME"
ENV_XDG_CACHE_HOME: Final = "XDG_CACHE_HOME"
MODULE_HUBCONF: Final = "hubconf.py"
VAR_DEPENDENCY: Final = "dependencies"
HASH_REGEX: Final = re.compile(r"-([a-f0-9]*)\.")
READ_DATA_CHUNK: Final = 128 * 1024

_folder: Any = []


def _find(name: str) -> Any:
    """Gives `tqdm`, where it is installed, to programs that take it from here."""
    if name != "tqdm":
        raise KeyError(name)
    with contextlib.suppress(ImportError):
        return importlib.import_module("tqdm").tqdm
    return _Silent


__getattr__ = lazy(__name__, find=_find)


class _Silent:
    """Stands for tqdm where it is not installed: counts, and shows nothing."""

    def __init__(self, iterable: Any = None, *args: Any, **kwargs: Any) -> None:
        self.iterable = iterable
        self.n = 0

    def __iter__(self) -> Any:
        return iter(self.iterable)

    def update(self, n: int = 1) -> None:
        """Counts."""
        self.n += n

    def close(self) -> None:
        """Does nothing."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def _get_torch_home() -> str:
    cache = os.getenv(ENV_XDG_CACHE_HOME, "~/.cache")
    return os.path.expanduser(os.getenv(ENV_TORCH_HOME, os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder where downloads are kept: `set_dir`'s, or `hub` in `$TORCH_HOME`.

    Returns: its path; `~/.cache/torch/hub` where nothing tells another.
    Example:
        >>> import os
        >>> os.path.isabs(torch.hub.get_dir())
        True
    """
    return _folder[-1] if _folder else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Sets the folder where downloads are kept, in this process.

    Parameters:
        d: its path, which may begin with "~".
    Raises: TypeError: for what is no path.
    Example:
        >>> before = torch.hub.get_dir()
        >>> torch.hub.set_dir("/models")
        >>> torch.hub.get_dir()
        '/models'
        >>> torch.hub.set_dir(before)
    """
    _folder[:] = [os.path.expanduser(d)]


# ---- models of a folder --------------------------------------------------------------------------
def _no_downloads(repository: str) -> NoReturn:
    raise advise(
        RuntimeError(f"torch.hub: Rushlight fetches no code from GitHub (asked for {repository})"),
        'clone the repository and pass its folder: torch.hub.load(folder, name, source="local")',
    )


def _find_folder(github: str) -> str:
    """The folder of a repository that has been downloaded before; raises where there is none."""
    match = re.fullmatch(r"([^/:]+)/([^/:]+)(?::(.+))?", github)
    if match is None:
        raise ValueError(
            f"{github} is no repository: it is written as owner/name or owner/name:branch"
        )
    branches = [match[3]] if match[3] else ["main", "master"]
    for branch in branches:
        folder = os.path.join(get_dir(), f"{match[1]}_{match[2]}_{branch.replace('/', '_')}")
        if os.path.isdir(folder):
            return folder
    _no_downloads(github)


def _entries(folder: str) -> ModuleType:
    path = os.path.join(folder, MODULE_HUBCONF)
    spec = importlib.util.spec_from_file_location(MODULE_HUBCONF, path)
    if spec is None or spec.loader is None or not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return module


def _check_dependencies(module: ModuleType) -> None:
    needed = getattr(module, VAR_DEPENDENCY, None) or ()
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")


def _entry(module: ModuleType, model: str) -> Callable[..., Any]:
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    _check_dependencies(module)
    found = getattr(module, model, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found


def _where(repo_or_dir: str, source: str) -> str:
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    return _find_folder(repo_or_dir) if source == "github" else os.path.expanduser(repo_or_dir)


def load(
    repo_or_dir: str,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: str = "check",
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """What an entry point of a `hubconf.py` gives; with source="local" that of a folder.

    Parameters:
        repo_or_dir: the folder; or "owner/name" or "owner/name:branch" of a repository that PyTorch
            has downloaded into `get_dir()`: nothing is fetched from GitHub.
        model: the name of the entry point, a function in the file.
        *args: what it is given; so by name.
        source: "github" or "local".
        trust_repo, force_reload, verbose, skip_validation: nothing here.
    Returns: what the function gives, as a rule a module.
    Raises:
        ValueError: for another source, and for a name of another form.
        RuntimeError: for a repository that isn't on this machine, for an unknown entry point, and
            where a package that the file needs is missing.
        FileNotFoundError: for a folder without `hubconf.py`.
    Example:
        >>> import os, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with open(os.path.join(folder.name, "hubconf.py"), "w") as file:
        ...     print("def double(x): return 2 * x", file=file)
        >>> torch.hub.load(folder.name, "double", 4, source="local")
        8
    """
    return _load_local(_where(repo_or_dir, source.lower()), model, *args, **kwargs)


def _load_local(hubconf_dir: str, model: str, *args: Any, **kwargs: Any) -> Any:
    entries = _entries(hubconf_dir)
    entry = _entry(entries, model)
    sys.path.insert(0, hubconf_dir)
    try:
        return entry(*args, **kwargs)
    finally:
        sys.path.remove(hubconf_dir)


def list(
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = "check",
    verbose: bool = True,
) -> Any:
    """The names of a repository's entry points; it must be on this machine.

    Parameters:
        github: "owner/name" or "owner/name:branch"; it lies in `get_dir()` as `owner_name_branch`.
        force_reload, skip_validation, trust_repo, verbose: nothing here: nothing is fetched.
    Returns: a list of text.
    Raises:
        ValueError: for a name of another form.
        RuntimeError: for a repository that isn't on this machine.
        FileNotFoundError: for one without `hubconf.py`.
    Example:
        >>> import os, tempfile
        >>> folder, before = tempfile.TemporaryDirectory(), torch.hub.get_dir()
        >>> torch.hub.set_dir(folder.name)
        >>> os.mkdir(os.path.join(folder.name, "me_models_main"))
        >>> with open(os.path.join(folder.name, "me_models_main", "hubconf.py"), "w") as file:
        ...     print("def double(x): return 2 * x", file=file)
        >>> torch.hub.list("me/models")
        ['double']
        >>> torch.hub.set_dir(before)
    """
    module = _entries(_find_folder(github))
    return [
        name for name in dir(module) if callable(getattr(module, name)) and not name.startswith("_")
    ]


def help(
    github: str,
    model: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = "check",
) -> str | None:
    """The docstring of an entry point; the repository must be on this machine.

    Parameters:
        github: "owner/name" or "owner/name:branch"; it lies in `get_dir()` as `owner_name_branch`.
        model: the name of the entry point.
        force_reload, skip_validation, trust_repo: nothing here: nothing is fetched.
    Returns: the text; None where it has none.
    Raises:
        ValueError: for a name of another form.
        RuntimeError: for a repository that isn't on this machine, for an unknown entry point, and
            where a package that the file needs is missing.
        FileNotFoundError: for a repository without `hubconf.py`.
    Example:
        >>> import os, tempfile
        >>> folder, before = tempfile.TemporaryDirectory(), torch.hub.get_dir()
        >>> torch.hub.set_dir(folder.name)
        >>> os.mkdir(os.path.join(folder.name, "me_models_main"))
        >>> with open(os.path.join(folder.name, "me_models_main", "hubconf.py"), "w") as file:
        ...     print("def double(x): 'Twice x.'; return 2 * x", file=file)
        >>> torch.hub.help("me/models", "double")
        'Twice x.'
        >>> torch.hub.set_dir(before)
    """
    return _entry(_entries(_find_folder(github)), model).__doc__


# ---- weights -------------------------------------------------------------------------------------
def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Copies what an address (of a file, too) gives to a file, which is whole or isn't there.

    Parameters:
        url: the address: "https://…" or "file://…".
        dst: the file.
        hash_prefix: what the SHA-256 of the data, as text of 16 digits, begins with; None:
            unchecked.
        progress: nothing here: no bar is shown.
    Raises:
        ValueError: for what is no address.
        OSError: where it can't be read (urllib.error.URLError) or the file can't be written.
        RuntimeError: where the SHA-256 doesn't start with `hash_prefix`.
    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> source, copy = pathlib.Path(folder.name, "a"), pathlib.Path(folder.name, "b")
        >>> size = source.write_text("weights")
        >>> torch.hub.download_url_to_file(source.as_uri(), str(copy))
        >>> copy.read_text()
        'weights'
    """
    request = urllib.request.Request(url, headers={"User-Agent": "torch.hub"})

    def fetch(file: Any) -> None:
        total = hashlib.sha256()
        with urllib.request.urlopen(request) as source:
            while chunk := source.read(READ_DATA_CHUNK):
                file.write(chunk)
                total.update(chunk)
        digest = total.hexdigest()
        if hash_prefix is not None and digest[: len(hash_prefix)] != hash_prefix:
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest}")')

    write_whole(os.path.expanduser(dst), fetch)


def _unzip(path: str, folder: str) -> str | None:
    """The only file of an archive of the old kind; None for a file that torch.load reads."""
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if any(f"/{name}".endswith("/data.pkl") for name in archive.namelist()):
            return None
        if len(members) != 1:
            raise RuntimeError("Only one file(not dir) is allowed in the zipfile")
        archive.extractall(folder)
        return os.path.join(folder, members[0].filename)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """What `torch.load` reads from an address; the file is kept in `model_dir` and reused.

    Parameters:
        url: the address: "https://…" or "file://…".
        model_dir: the folder; None means `checkpoints` in `get_dir()`.
        map_location: what `torch.load` is given.
        progress: nothing here: no bar is shown.
        check_hash: whether the file's name, as "model-0123abcd.pth", says what its SHA-256 begins
            with.
        file_name: the name under which it is kept; None means that of the address.
        weights_only: what `torch.load` is given; unless True, loading runs what the file names.
    Returns: what the file holds, as a rule a dictionary of tensors.
    Raises:
        ValueError: for what is no address.
        OSError: where it can't be read or kept.
        RuntimeError: where `check_hash` is given and the file isn't the one that its name says.
    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> source = pathlib.Path(folder.name, "model.pth")
        >>> torch.save({"w": torch.ones(1)}, source)
        >>> torch.hub.load_state_dict_from_url(source.as_uri(), folder.name)
        {'w': tensor([1.])}
    """
    if model_dir is None:
        model_dir = os.path.join(get_dir(), "checkpoints")
    os.makedirs(model_dir, exist_ok=True)
    filename = file_name or os.path.basename(urlparse(url).path)
    cached = os.path.join(model_dir, filename)
    if not os.path.exists(cached):
        sys.stdout.flush()
        print(f'Downloading: "{url}" to {cached}')
        match = HASH_REGEX.search(filename) if check_hash else None
        download_url_to_file(url, cached, match[1] if match else None, progress=progress)
    path = _unzip(cached, model_dir) or cached
    return serialization.load(path, map_location=map_location, weights_only=weights_only)


load_url = load_state_dict_from_url
