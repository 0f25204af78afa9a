"""`SummaryWriter`, from the package tensorboardX: event files that TensorBoard shows."""

from __future__ import annotations

from typing import Any


def _find(name: str) -> object:
    """Loads the package when its class is first asked for.

    Raises:
        ModuleNotFoundError: where tensorboardX isn't installed; it says so.
    """
    if name != "SummaryWriter":
        raise KeyError(name)
    try:
        from tensorboardX import SummaryWriter as Writer
    except ModuleNotFoundError as error:
        if error.name != "tensorboardX":
            raise
        raise ModuleNotFoundError(
            "rushlight.utils.tensorboard needs the package tensorboardX: pip install tensorboardX",
            name="tensorboardX",
        ) from None

    class SummaryWriter(Writer):  # type: ignore[misc]
        """Writes event files; tensors are taken as they are."""

        def __getattribute__(self, attribute: str) -> object:
            found = super().__getattribute__(attribute)
            # What a program has put there itself stays as it is.
            own = attribute in super().__getattribute__("__dict__")
            if own or not attribute.startswith("add_") or not callable(found):
                return found

            def with_arrays(*args: object, **options: object) -> object:
                plain = {key: _plain(value) for key, value in options.items()}
                return found(*(_plain(value) for value in args), **plain)

            return with_arrays

        def add_graph(self, *args: object, **options: object) -> None:
            """Nothing: the package takes graphs from PyTorch's tracing compiler.

            Raises:
                NotImplementedError: always; it says what shows graphs here.
            """
            raise NotImplementedError(
                "add_graph needs torch.jit's traces, which Rushlight doesn't have; rushlight.viz "
                "shows graphs"
            )

    globals()["SummaryWriter"] = SummaryWriter
    return SummaryWriter


def _plain(value: Any) -> object:
    """Arrays in place of tensors, also in lists and dictionaries."""
    from .._base.dtypes import bfloat16
    from .._tensor.tensor import Tensor

    if isinstance(value, Tensor):
        known = value.float() if value.dtype is bfloat16 else value
        return known.detach().numpy()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_plain(item) for item in value)
    return value
