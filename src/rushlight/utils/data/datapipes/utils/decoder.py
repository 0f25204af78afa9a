"""Makes objects of the bytes of files, by what their names end in."""

from __future__ import annotations

import importlib
import io
import json
import os
import pickle
import tempfile
from collections.abc import Callable
from typing import TypeAlias

from .....nn._ground import f as functions
from .....serialization import load
from ..annotations import Item
from .common import StreamWrapper

__all__ = [
    "Decoder", "ImageHandler", "MatHandler", "audiohandler", "basichandlers",
    "extension_extract_fn", "handle_extension", "imagehandler", "mathandler", "videohandler",
]  # fmt: skip

#: Takes the key of a file and its bytes; None says that another should.
Handler: TypeAlias = Callable[[str, Item], Item]

_NUMBERS = ("cls", "cls2", "class", "count", "index", "inx", "id")
_PICTURES = ("jpg", "jpeg", "png", "ppm", "pgm", "pbm", "pnm")
_FILMS = ("mp4", "ogv", "mjpeg", "avi", "mov", "h264", "mpg", "webm", "wmv")
_SOUNDS = ("flac", "mp3", "sox", "wav", "m4a", "ogg", "wma")


def basichandlers(extension: str, data: Item) -> Item:
    """Text, whole numbers, JSON, pickles and saved tensors; None for others.

    A text's name may end in any part of "txt text transcript", and in nothing, as in PyTorch; but
    "pt" is a saved tensor, as PyTorch says and, "pt" being a part of "transcript", doesn't do.
    Pickles run what they say: decode only those that you trust.

    Example:
        >>> from rushlight.utils.data.datapipes.utils.decoder import basichandlers
        >>> basichandlers("json", b"[1, 2]"), basichandlers("cls", b"7"), basichandlers("x-y", b"")
        ([1, 2], 7, None)
    """
    if extension == "pt":
        return load(io.BytesIO(data))
    if extension in "txt text transcript":
        return data.decode("utf-8")
    if extension in _NUMBERS:
        try:
            return int(data)
        except ValueError:
            return None
    if extension in "json jsn":
        return json.loads(data)
    if extension in ("pyd", "pickle"):
        return pickle.loads(data)
    return None


def handle_extension(extensions: str, f: Callable[[Item], Item]) -> Handler:
    """A handler that calls a function for keys that end in an extension.

    As in PyTorch only the first extension that is no longer than the key is looked at.

    Args:
        extensions: parted by spaces; each may have several parts ("seg.jpg").
        f: of the bytes.
    """
    wanted = [extension.split(".") for extension in extensions.lower().split()]

    def handle(key: str, data: Item) -> Item:
        parts = key.lower().split(".")
        first = next((w for w in wanted if len(w) <= len(parts)), None)
        return f(data) if first is not None and parts[-len(first) :] == first else None

    return handle


def _need(module: str, purpose: str, package: str) -> Item:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ModuleNotFoundError(purpose + package) from error


class ImageHandler:
    """Decodes pictures by Pillow.

    Args:
        imagespec: what is made ("", "torch": channels first, or "pil"), of "l", "rgb" or "rgba",
            with "8" at the end for bytes in place of numbers from 0 to 1; "torch" and "pil" alone
            are of "rgb".

    Raises:
        AssertionError: for another spec.
        ModuleNotFoundError: when called without Pillow.
    """

    def __init__(self, imagespec: str) -> None:
        kind = next((k for k in ("torch", "pil") if imagespec.startswith(k)), "")
        mode = imagespec[len(kind) :].removesuffix("8") if kind != "pil" else imagespec[3:]
        if mode not in ("l", "rgb", "rgba") and imagespec not in ("torch", "pil"):
            raise AssertionError(f"unknown image specification: {imagespec}")
        self.imagespec = imagespec
        self._kind, self._mode = kind, mode or "rgb"

    def __call__(self, extension: str, data: bytes) -> Item:
        if extension.lower() not in _PICTURES:
            return None
        pictures = _need(
            "PIL.Image",
            "Package `PIL` is required to be installed for default image decoder.",
            "Please use `pip install Pillow` to install the package",
        )
        with io.BytesIO(data) as stream:
            picture = pictures.open(stream).convert(self._mode.upper())
        if self._kind == "pil":
            return picture
        held = functions.frombuffer(bytearray(picture.tobytes()), dtype=functions.uint8)
        depth = () if self._mode == "l" else (len(self._mode),)
        values = held.reshape(picture.height, picture.width, *depth).numpy()
        if self._kind == "torch":
            made: Item = functions.tensor(values.transpose(2, 0, 1).copy())
            return made if self.imagespec.endswith("8") else made / 255.0
        return values if self.imagespec.endswith("8") else values.astype("f") / 255.0


def imagehandler(imagespec: str) -> ImageHandler:
    """A handler of pictures: see `ImageHandler`."""
    return ImageHandler(imagespec)


def _read_as_file(extension: str, data: bytes, read: Callable[[str], Item]) -> Item:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"file.{extension}")
        with open(path, "wb") as stream:
            stream.write(data)
        return read(path)


def videohandler(extension: str, data: bytes) -> Item:
    """Films, by torchvision; None for others.

    Raises:
        ModuleNotFoundError: without torchvision.
    """
    if extension not in _FILMS:
        return None
    package = _need(
        "torchvision.io",
        "Package `torchvision` is required to be installed for default video file loader.",
        "Please use `pip install torchvision`to install the package",
    )
    return _read_as_file(extension, data, package.read_video)


def audiohandler(extension: str, data: bytes) -> Item:
    """Sounds, by torchaudio; None for others.

    Raises:
        ModuleNotFoundError: without torchaudio.
    """
    if extension not in _SOUNDS:
        return None
    package = _need(
        "torchaudio",
        "Package `torchaudio` is required to be installed for default audio file loader.",
        "Please use `pip install torchaudio`to install the package",
    )
    return _read_as_file(extension, data, package.load)


class MatHandler:
    """Decodes MATLAB's files by SciPy, with options of its `loadmat`.

    Raises:
        ModuleNotFoundError: without SciPy.
    """

    def __init__(self, **loadmat_kwargs: Item) -> None:
        self.sio = _need(
            "scipy.io",
            "Package `scipy` is required to be installed for mat file.",
            "Please use `pip install scipy`to install the package",
        )
        self.loadmat_kwargs = loadmat_kwargs

    def __call__(self, extension: str, data: bytes) -> Item:
        if extension != "mat":
            return None
        return self.sio.loadmat(io.BytesIO(data), **self.loadmat_kwargs)


def mathandler(**loadmat_kwargs: Item) -> MatHandler:
    """A handler of MATLAB's files: see `MatHandler`."""
    return MatHandler(**loadmat_kwargs)


def extension_extract_fn(pathname: str) -> str:
    """What a path ends in after its last dot.

    Example:
        >>> from rushlight.utils.data.datapipes.utils.decoder import extension_extract_fn
        >>> extension_extract_fn("a/b.tar.gz"), extension_extract_fn("a")
        ('gz', '')
    """
    return os.path.splitext(pathname)[1].removeprefix(".")


class Decoder:
    """Decodes pairs of a path and data by the first handler that makes something of them.

    Args:
        handler: handlers, the first before the others.
        key_fn: makes of a path what handlers are asked by.
    """

    def __init__(
        self, *handler: Handler, key_fn: Callable[[str], str] = extension_extract_fn
    ) -> None:
        self.handlers = list(handler)
        self.key_fn = key_fn

    def add_handler(self, *handler: Handler) -> None:
        """Puts handlers before those that are there."""
        self.handlers = [*handler, *self.handlers]

    @staticmethod
    def _is_stream_handle(data: Item) -> bool:
        inner = data.file_obj if isinstance(data, StreamWrapper) else data
        return isinstance(inner, (io.BufferedIOBase, io.RawIOBase))

    def decode1(self, key: str, data: Item) -> Item:
        """What the handlers make of data, a stream read to its end; else the data."""
        if not data:
            return data
        if self._is_stream_handle(data):
            stream, data = data, b"".join(data)
            stream.close()
        for handler in self.handlers:
            made = handler(key, data)
            if made is not None:
                return made
        return data

    def decode(self, data: Item) -> dict[str, Item]:
        """One pair, or several, decoded by path; bytes of a path that begins with _ are text."""
        made: dict[str, Item] = {}
        for path, content in [data] if isinstance(data, tuple) else data or ():
            if path[0] == "_" and isinstance(content, bytes):
                made[path] = content.decode("utf-8")
            else:
                made[path] = self.decode1(self.key_fn(path), content)
        return made

    def __call__(self, data: Item) -> dict[str, Item]:
        return self.decode(data)
