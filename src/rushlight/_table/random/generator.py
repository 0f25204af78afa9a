"""`Generator`: a stream of random numbers with PyTorch's methods, and the default one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from ..._array import types as T
from ..._base import errors
from ..._base.device import CPU, check_cpu, device as device_of, find_device
from ..._core.mode import current
from ..._core.storage import TensorBase, new_tensor

if TYPE_CHECKING:
    from ..._array.random.mt19937 import Stream
    from ..._tensor.tensor import Tensor


def _new_stream(*seed: int) -> Stream:
    from ..._array.random.mt19937 import Stream

    return Stream(*seed)


def _check_here(where: Any) -> None:
    """Refuses other devices than the CPU.

    Raises:
        TypeError, RuntimeError: in PyTorch's words.
    """
    if where is None or (type(where) is str and where == "cpu"):
        return
    if not (isinstance(where, str | device_of) or hasattr(where, "__index__")):
        raise TypeError(
            "Generator(): argument 'device' (position 1) must be torch.device, not "
            f"{errors.type_name(where)}"
        )
    kind = find_device(where).type
    if kind == "cuda":
        raise RuntimeError("Cannot get CUDA generator without ATen_cuda library.")
    if kind in ("hpu", "xpu", "xla", "mps", "mtia", "privateuseone"):
        check_cpu(where)
    if kind != "cpu":
        raise RuntimeError(f"{kind.upper()} device type not an accelerator.")


class Generator:
    """A source of random numbers: PyTorch's Mersenne Twister on the CPU, to the bit.

    Parameters:
        device: the CPU, which is the only one.
    Raises: RuntimeError: for another device.
    Example:
        >>> g = torch.Generator().manual_seed(0)
        >>> torch.rand(2, generator=g)
        tensor([0.4963, 0.7682])
    """

    __slots__ = ("_stream", "device", "__weakref__")

    def __init__(self, device: Any = "cpu") -> None:
        _check_here(device)
        self._stream: Stream | None = None
        self.device: device_of = CPU

    @property
    def stream(self) -> Stream:
        """The raw stream, made at the first use: NumPy's random module takes 7 ms to load."""
        if self._stream is None:
            self._stream = _new_stream()
        return self._stream

    def manual_seed(self, seed: int) -> Generator:
        """Starts the stream anew from a number between -2**63 and 2**64 - 1.

        Raises:
            TypeError: for an integer of NumPy's.
            RuntimeError: for anything else but an integer.
            ValueError: for a number out of range.
        """
        if T.is_integer_scalar(seed):
            raise TypeError("an integer is required")
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise RuntimeError(f"manual_seed expected a long, but got {errors.type_name(seed)}")
        if self._stream is None:
            self._stream = _new_stream(seed)
        else:
            self._stream.restart(seed)
        return self

    def seed(self) -> int:
        """Starts the stream anew from a number that the system draws, which is returned."""
        number = T.system_random_seed()
        self.stream.restart(number)
        return number

    def initial_seed(self) -> int:
        """The number from which the stream was started."""
        return self.stream.initial_seed()

    def get_state(self) -> Tensor:
        """The state of the stream: 5056 bytes, as PyTorch lays them out."""
        return cast("Tensor", new_tensor(self.stream.get_state()))

    def set_state(self, new_state: Tensor) -> None:
        """Takes up the state that `get_state` gave.

        Raises:
            TypeError: where it isn't a tensor of bytes.
            RuntimeError: where it isn't a state.
        """
        if not isinstance(new_state, TensorBase):
            raise TypeError(f"expected a torch.ByteTensor, but got {errors.type_name(new_state)}")
        if new_state._raw.dtype.char != "B":  # `name` is imported by NumPy when it is asked for
            raise TypeError("RNG state must be a torch.ByteTensor")
        try:
            self.stream.set_state(new_state._raw)
        except ValueError as error:
            raise RuntimeError(str(error)) from None

    def clone_state(self) -> Generator:
        """Another generator in the same state."""
        made = Generator()
        made.stream.set_state(self.stream.get_state())
        return made

    def graphsafe_get_state(self) -> Generator:
        """A state that is shared with graphs of a GPU, which a CPU's can't be.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator")

    def graphsafe_set_state(self, state: Generator) -> Generator:
        """As `graphsafe_get_state`.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator")

    def get_offset(self) -> int:
        """How far a generator by counters has come, which this is none of.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> None:
        """As `get_offset`.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("CPU Generator does not use offset")

    def __reduce__(self) -> Any:
        return Generator, (self.device,), (self.initial_seed(), None, self.get_state())

    def __setstate__(self, state: tuple[int, int | None, Tensor]) -> None:
        seed, _, kept = state
        self.stream.restart(seed)
        self.set_state(kept)


default_generator: Final = Generator()


def stream_of(generator: Generator | None) -> Stream:
    """The stream of a generator, or the default one.

    Raises:
        RuntimeError: under a vmap that refuses random numbers.
    """
    mode = current()
    layers = mode.layers
    if mode.recorder is not None:
        mode.recorder.draws += 1
    if layers and layers[-1].randomness == "error":
        raise RuntimeError(errors.RANDOM_UNDER_VMAP)
    if generator is None:
        return default_generator.stream
    if not isinstance(generator, Generator):
        raise TypeError(
            f"argument 'generator' must be torch.Generator, not {errors.type_name(generator)}"
        )
    return generator.stream
