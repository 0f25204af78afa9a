"""Recurrent networks: plain, LSTM and GRU, over sequences and step by step."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import TYPE_CHECKING, Any, TypeVar

from .. import init
from .._ground import Tensor, f
from ..packed import PackedSequence, apply_permutation as apply_permutation
from ..parameter import Parameter
from ._lookups import ReadsParameters
from ._own_names import own
from .module import Module

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, DeviceLike
    from ..._base.dtypes import dtype

_In = TypeVar("_In", Tensor, PackedSequence)

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_FUNCTIONS = {"LSTM": "lstm", "GRU": "gru", "RNN_TANH": "rnn_tanh", "RNN_RELU": "rnn_relu"}


class RNNBase(ReadsParameters, Module):
    """What the recurrent layers share: their parameters, checks, and how they print.

    Parameters by layer and direction: weight_ih, weight_hh, bias_ih, bias_hh, and weight_hr with a
    projection; all start uniform in ±1/√hidden_size.
    """

    __constants__ = [
        "mode",
        "input_size",
        "hidden_size",
        "num_layers",
        "bias",
        "batch_first",
        "dropout",
        "bidirectional",
        "proj_size",
    ]
    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_options(dropout)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        rows = _GATES[mode] * hidden_size
        width = proj_size or hidden_size
        self._flat_weights_names: list[str] = []
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for way in range(2 if bidirectional else 1):
                inner = input_size if layer == 0 else width * (2 if bidirectional else 1)
                end = f"_l{layer}" + ("_reverse" if way else "")
                shapes: list[tuple[str, tuple[int, ...]]] = [
                    ("weight_ih", (rows, inner)),
                    ("weight_hh", (rows, width)),
                ]
                if bias:
                    shapes += [("bias_ih", (rows,)), ("bias_hh", (rows,))]
                if proj_size > 0:
                    shapes.append(("weight_hr", (proj_size, hidden_size)))
                for stem, shape in shapes:
                    fresh = f.empty(shape, device=device, dtype=dtype)
                    setattr(self, stem + end, Parameter(fresh))
                names = [stem + end for stem, _ in shapes]
                self._flat_weights_names += names
                self._all_weights.append(names)
        self.reset_parameters()

    def _check_options(self, dropout: float) -> None:
        if (
            not isinstance(dropout, numbers.Number)
            or isinstance(dropout, bool)
            or not 0 <= dropout <= 1
        ):
            raise ValueError(
                "dropout should be a number in range [0, 1] "
                "representing the probability of an element being "
                "zeroed"
            )
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last "
                "recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and "
                f"num_layers={self.num_layers}",
                stacklevel=4,
            )
        if not isinstance(self.input_size, int):
            raise TypeError(
                f"input_size should be of type int, got: {type(self.input_size).__name__}"
            )
        if not isinstance(self.hidden_size, int):
            raise TypeError(
                f"hidden_size should be of type int, got: {type(self.hidden_size).__name__}"
            )
        if not isinstance(self.bias, bool):
            raise TypeError(f"bias should be of type bool, got: {type(self.bias).__name__}")
        if self.input_size <= 0:
            raise ValueError("input_size must be greater than zero")
        if self.hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    @property
    def _flat_weights(self) -> list[Any]:
        """All parameters in the order in which the functions take them."""
        given = self.__dict__.get("_given_weights")
        if given is not None:
            return given
        table = {} if self._finds_attributes else self._parameters
        # What a parametrization or pruning replaced is an attribute of another kind.
        return [
            table[name] if name in table else getattr(self, name, None)
            for name in self._flat_weights_names
        ]

    @_flat_weights.setter
    def _flat_weights(self, weights: list[Tensor]) -> None:
        # What the functions take, until the parameters move, or until the first call after one
        # of them was set.
        self.__dict__["_given_weights"] = weights
        self.__dict__.pop("_given_until_next", None)

    def __setattr__(self, name: str, value: object) -> None:
        given = self.__dict__.get("_given_weights")
        if given is not None and name in self._flat_weights_names:
            given[self._flat_weights_names.index(name)] = value
            self.__dict__["_given_until_next"] = True
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "_flat_weights": self._flat_weights}  # PyTorch asks

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__({k: v for k, v in state.items() if k != "_flat_weights"})

    def _apply(self, fn: AnyCallable, recurse: bool = True) -> Any:
        self.__dict__.pop("_given_weights", None)
        self.__dict__.pop("_given_until_next", None)
        return super()._apply(fn, recurse)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters by layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Does nothing: PyTorch joins the parameters' memory here for a library on GPUs."""

    def reset_parameters(self) -> None:
        """Draws all parameters afresh."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text

    # -- checks ---------------------------------------------------------------------------------

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Refuses inputs of another dtype or size.

        Raises: ValueError, RuntimeError.
        """
        first = self._flat_weights[0]
        if input.dtype is not first.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({first.dtype}). "
                f"Convert input: input.to({first.dtype}), or convert model: "
                f"model.to({input.dtype})"
            )
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, "
                f"got {input.size(-1)}"
            )

    def _expected_size(
        self, input: Tensor, batch_sizes: Tensor | None, size: int
    ) -> tuple[int, ...]:
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.size(0) if self.batch_first else input.size(1)
        return (self.num_layers * (2 if self.bidirectional else 1), batch, size)

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, ...]:
        """The shape of the hidden state for this input."""
        return self._expected_size(input, batch_sizes, self.proj_size or self.hidden_size)

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, ...],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Refuses a state of another shape.

        Raises: RuntimeError.
        """
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuses inputs and states that don't fit.

        Raises: ValueError, RuntimeError.
        """
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The state with its examples in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # -- running --------------------------------------------------------------------------------

    def _zeros(self, input: Tensor, batch: int, size: int) -> Tensor:
        layers = self.num_layers * (2 if self.bidirectional else 1)
        return f.zeros(layers, batch, size, dtype=input.dtype, device=input.device)

    def _start(self, input: Tensor, batch: int) -> Any:
        return self._zeros(input, batch, self.proj_size or self.hidden_size)

    def _check_unbatched(self, hx: Any, dims: int) -> None:
        if hx.dim() != dims:
            word = "batched 3-D" if dims == 3 else "unbatched 2-D"
            raise RuntimeError(
                f"For {word} input, hx should also be {dims}-D but got {hx.dim()}-D tensor"
            )

    def _lift(self, hx: Any) -> object:
        return hx.unsqueeze(1)

    def _lower(self, hx: Any) -> Any:
        return hx.squeeze(1)

    def _states(self, found: tuple[Tensor, ...]) -> Any:
        return found[1]

    def _function(self, *args: object) -> tuple[Tensor, ...]:
        return getattr(f, _FUNCTIONS[self.mode])(*args)

    if TYPE_CHECKING:

        def __call__(self, input: _In, hx: object = None) -> tuple[_In, Any]: ...

    def forward(self, input: Tensor | PackedSequence, hx: object = None) -> tuple[Any, Any]:
        options = (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if "_given_until_next" in self.__dict__:
            del self.__dict__["_given_until_next"], self.__dict__["_given_weights"]
        if isinstance(input, PackedSequence):
            data, sizes, order, back = input
            hx = self._start(data, int(sizes[0])) if hx is None else self.permute_hidden(hx, order)
            self.check_forward_args(data, hx, sizes)
            found = self._function(data, sizes, hx, self._flat_weights, *options)
            packed = PackedSequence(found[0], sizes, order, back)
            return packed, self.permute_hidden(self._states(found), back)
        if input.dim() not in (2, 3):
            word = "D tensor" if self.mode.startswith("RNN") else "D"
            raise ValueError(
                f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}{word} "
                "instead"
            )
        batched = input.dim() == 3
        place = 0 if self.batch_first else 1
        if not batched:
            input = input.unsqueeze(place)
        if hx is None:
            hx = self._start(input, input.size(place))
        else:
            self._check_unbatched(hx, 3 if batched else 2)
            hx = hx if batched else self._lift(hx)
        self.check_forward_args(input, hx, None)
        found = self._function(input, hx, self._flat_weights, *options, self.batch_first)
        states = self._states(found)
        if batched:
            return found[0], states
        return found[0].squeeze(place), self._lower(states)


@own("forward")
class RNN(RNNBase):
    """A plain recurrent network: h = tanh(W x + b + U h + c), or relu.

    Shapes: input (T, N, I), (N, T, I) with `batch_first`, (T, I), or a packed sequence; hx
    (layers · directions, N, H); output (T, N, directions · H) and the last hx.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


@own("forward")
class LSTM(RNNBase):
    """A long short-term memory, with a projection of its outputs if `proj_size` is given.

    Shapes: as `RNN`; the state is a pair (h, c), h of size `proj_size` with a projection.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, ...]:
        """The shape of the cell state for this input."""
        return self._expected_size(input, batch_sizes, self.hidden_size)

    def check_forward_args(
        self, input: Tensor, hidden: tuple[Tensor, ...], batch_sizes: Tensor | None
    ) -> None:
        """Refuses inputs and states that don't fit.

        Raises: ValueError, RuntimeError.
        """
        self.check_input(input, batch_sizes)
        self.check_hidden_size(
            hidden[0],
            self.get_expected_hidden_size(input, batch_sizes),
            "Expected hidden[0] size {}, got {}",
        )
        self.check_hidden_size(
            hidden[1],
            self.get_expected_cell_size(input, batch_sizes),
            "Expected hidden[1] size {}, got {}",
        )

    def permute_hidden(
        self, hx: tuple[Tensor, ...], permutation: Tensor | None
    ) -> tuple[Tensor, ...]:
        """The states with their examples in another order."""
        if permutation is None:
            return hx
        return hx[0].index_select(1, permutation), hx[1].index_select(1, permutation)

    def _start(self, input: Tensor, batch: int) -> tuple[Tensor, ...]:
        h = self._zeros(input, batch, self.proj_size or self.hidden_size)
        return h, self._zeros(input, batch, self.hidden_size)

    def _check_unbatched(self, hx: Any, dims: int) -> None:
        if hx[0].dim() != dims or hx[1].dim() != dims:
            word = "batched 3-D" if dims == 3 else "unbatched 2-D"
            raise RuntimeError(
                f"For {word} input, hx and cx should also be {dims}-D but got "
                f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
            )

    def _lift(self, hx: Any) -> object:
        return hx[0].unsqueeze(1), hx[1].unsqueeze(1)

    def _lower(self, hx: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return hx[0].squeeze(1), hx[1].squeeze(1)

    def _states(self, found: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return found[1:]


@own("forward")
class GRU(RNNBase):
    """A network of gated recurrent units.

    Shapes: as `RNN`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """What the single steps share: their four parameters, and how they print."""

    __constants__ = ["input_size", "hidden_size", "bias"]
    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Tensor
    weight_hh: Tensor

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(f.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(f.empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            fresh = Parameter(f.empty(rows, device=device, dtype=dtype)) if bias else None
            self.register_parameter(name, fresh)
        self.reset_parameters()

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if "nonlinearity" in self.__dict__ and self.nonlinearity != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def reset_parameters(self) -> None:
        """Draws all parameters afresh, uniform in ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _check(self, input: Tensor, *states: Tensor | None) -> None:
        if input.dim() not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.dim()}D instead"
            )
        for k, state in enumerate(states):
            if state is not None and state.dim() not in (1, 2):
                name = f"hx[{k}]" if type(self) is LSTMCell else "hidden"
                raise ValueError(
                    f"{type(self).__name__}: Expected {name} to be 1D or 2D, got "
                    f"{state.dim()}D instead"
                )

    def _step(self, function: str, input: Tensor, hx: Any) -> Any:
        return getattr(f, function)(
            input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
        )

    def _one(self, function: str, input: Tensor, hx: Tensor | None) -> Tensor:
        self._check(input, hx)
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = f.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        elif not batched:
            hx = hx.unsqueeze(0)
        found: Tensor = self._step(function, input, hx)
        return found if batched else found.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of a plain recurrent network: tanh(W x + b + U h + c), or relu.

    Shapes: input (N, I) or (I,), hx and the result (N, H) or (H,).
    """

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]
    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._one(f"rnn_{self.nonlinearity}_cell", input, hx)


class LSTMCell(RNNCellBase):
    """One step of an LSTM: the new (h, c).

    Shapes: input (N, I) or (I,), states (N, H) or (H,).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        self._check(input, *(hx or ()))
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = f.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            hx = (zeros, zeros)
        elif not batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        h, c = self._step("lstm_cell", input, hx)
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    """One step of a gated recurrent unit: the new state.

    Shapes: input (N, I) or (I,), hx and the result (N, H) or (H,).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._one("gru_cell", input, hx)
