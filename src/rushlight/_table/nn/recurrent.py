"""Recurrent networks: plain, LSTM and GRU layers over whole sequences, and their single steps.

A layer in one direction is one operation with one backward pass over the raw arrays. Where that
pass is recorded (second derivatives, batches, forward mode) it is done step by step in operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.storage import TensorBase
from ..linalg.matmul import linear
from ..rows.composite import composite
from ..rows.gradient_kernels import record_gradient
from ..rows.row import Row, general
from ..rows.tensor_namespace import table
from .packed_sequences import refuse_steps

if TYPE_CHECKING:
    from ..._base.annotations import Positional, Shape
    from ..._tensor.tensor import Tensor

cells = later("_formula.recurrent_cells")

raw = later("_array.nn.recurrent")

# ---- steps, in operations ------------------------------------------------------------------------
# A step takes the gates' parts from the input (with their bias) and the states (h, or h and c), and
# gives the new states and what its way back reads. The way back takes the gradients of the states
# and gives those of the two parts, and what reaches the earlier states past the gates.


def _plain_step(
    part: Tensor, states: tuple[object, ...], w: Tensor, b: object, relu: bool
) -> tuple[tuple[Any, ...], Any]:
    h = cells.plain(part + linear(states[0], w, b), relu)
    return (h,), (h, relu)


def _plain_back(kept: Any, d: tuple[Any, ...]) -> tuple[Any, Any, tuple[Any, ...]]:
    dz = cells.plain_backward(d[0], *kept)
    return dz, dz, (None,)


def _lstm_step(
    part: Tensor, states: tuple[Tensor, ...], w: Tensor, b: Tensor | None, _: bool = False
) -> tuple[tuple[Any, ...], Any]:
    h, c = states
    i, f, u, o = (part + linear(h, w, b)).chunk(4, -1)
    gates, cell, out = cells.lstm(i, f, u, o, c)
    return (out, cell), (*gates, cell, c)


def _lstm_back(kept: tuple[Tensor, ...], d: tuple[Any, ...]) -> tuple[Any, Any, tuple[Any, ...]]:
    sums, before = cells.lstm_backward(*d, *kept)
    dz = table("cat")(sums, -1)
    return dz, dz, (None, before)


def _gru_step(
    part: Tensor, states: tuple[Tensor, ...], w: Tensor, b: Tensor | None, _: bool = False
) -> tuple[tuple[Any, ...], Any]:
    h = states[0]
    (r, z, n), (hr, hz, hn) = part.chunk(3, -1), linear(h, w, b).chunk(3, -1)
    gates, out = cells.gru(r, z, n, hr, hz, hn, h)
    return (out,), (*gates, hn, h)


def _gru_back(kept: tuple[Tensor, ...], d: tuple[Any, ...]) -> tuple[Any, Any, tuple[Any, ...]]:
    (dr, dz, dn), inner, before = cells.gru_backward(d[0], *kept)
    cat = table("cat")
    return cat([dr, dz, dn], -1), cat([dr, dz, inner], -1), (before,)


_STEPS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "plain": (_plain_step, _plain_back),
    "lstm": (_lstm_step, _lstm_back),
    "gru": (_gru_step, _gru_back),
}


def _renew(state: Tensor, rows: Tensor, batch: int) -> Tensor:
    """The state with its first rows renewed. See Note [Rows of a packed sequence]."""
    if batch == state.shape[0]:
        return rows
    return table("cat")([rows, state[batch:]])


def _forward(
    kind: str,
    x: Tensor,
    states: tuple[Tensor, ...],
    weights: Any,
    sizes: Shape | None,
    reverse: bool,
    relu: bool,
) -> tuple[dict[int, Any], tuple[Any, ...], list[Any]]:
    """The rows by their first row's number, the last states, and what the way back reads."""
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    step = _STEPS[kind][0]
    part = linear(x.reshape(-1, x.shape[-1]), w_ih, b_ih)
    rows: dict[int, Any] = {}
    kept: list[Any] = []
    for start, stop, batch in raw.spans(x, sizes, reverse):
        before = tuple(s[:batch] for s in states)
        after, read = step(part[start:stop], before, w_hh, b_hh, relu)
        hidden = after[0]
        if w_hr is not None:
            after = (linear(hidden, w_hr), *after[1:])
        kept.append((start, stop, batch, before[0], hidden, read))
        states = tuple(_renew(s, a, batch) for s, a in zip(states, after))
        rows[start] = after[0]
    return rows, states, kept


def _stepwise(
    kind: str,
    x: Tensor,
    states: tuple[Any, ...],
    weights: object,
    sizes: Any,
    reverse: bool,
    relu: bool,
) -> tuple[Any, tuple[Any, ...]]:
    """A layer by operations: all rows, and the last states."""
    rows, last, _ = _forward(kind, x, states, weights, sizes, reverse, relu)
    out = table("cat")([rows[start] for start in sorted(rows)])
    return out.reshape(*x.shape[:-1], out.shape[-1]), last


def _gradients(
    kind: str, gs: Any, x: Any, states: tuple[Any, ...], weights: Any, sizes: Any, reverse: bool,
    relu: bool, need: Any,
) -> list[Any]:  # fmt: skip
    """The gradients for x, the states, and the five weights, in operations that are recorded."""
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    back = _STEPS[kind][1]
    _, last, kept = _forward(kind, x, states, weights, sizes, reverse, relu)
    given = None if gs[0] is None else gs[0].reshape(-1, gs[0].shape[-1])
    d_states = [s * 0 if g is None else g for s, g in zip(last, gs[1:])]
    parts: dict[int, Any] = {}
    inner: list[Any] = []
    before: list[Any] = []
    projected: list[tuple[Any, Any]] = []
    for start, stop, batch, first, hidden, read in reversed(kept):
        now = [d[:batch] for d in d_states]
        if given is not None:
            now[0] = now[0] + given[start:stop]
        if w_hr is not None:
            projected.append((now[0], hidden))
            now[0] = now[0] @ w_hr
        dz, dz_hidden, past = back(read, tuple(now))
        parts[start] = dz
        inner.append(dz_hidden)
        before.append(first)
        earlier = dz_hidden @ w_hh
        for k, direct in enumerate(past):
            if k == 0:
                rows = earlier if direct is None else earlier + direct
            else:
                rows = direct
            d_states[k] = _renew(d_states[k], rows, batch)
    cat = table("cat")
    dz = cat([parts[start] for start in sorted(parts)])
    dz_hidden = cat(inner)
    d_hr = None
    if w_hr is not None:
        d_hr = cat([a for a, _ in projected]).mT @ cat([b for _, b in projected])
    found = [
        (dz @ w_ih).reshape(x.shape),
        *d_states,
        dz.mT @ x.reshape(-1, x.shape[-1]),
        dz_hidden.mT @ cat(before),
        None if b_ih is None else dz.sum(0),
        None if b_hh is None else dz_hidden.sum(0),
        d_hr,
    ]
    return [d if n else None for d, n in zip(found, need)]


# ---- one layer in one direction ------------------------------------------------------------------


def _plain_gradients(
    g_output: Any, g_hy: Any, input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any,
    relu: bool, output: Any, batch_sizes: Any, reverse: bool, need: Any,
) -> list[Any]:  # fmt: skip
    weights = (w_ih, w_hh, b_ih, b_hh, None)
    gs = (g_output, g_hy)
    return _gradients("plain", gs, input, (hx,), weights, batch_sizes, reverse, relu, need)


def _draws(mk: Any, gates: int, *middle: bool | None, states: int = 1) -> list[tuple[Any, ...]]:
    weights = (mk(gates * 2, 3), mk(gates * 2, 2), mk(gates * 2), mk(gates * 2))
    first = tuple(mk(2, 2) for _ in range(states))
    return [
        (mk(3, 2, 3), *first, *weights, *middle, None, False),
        (mk(4, 3), *first, *weights, *middle, (2, 1, 1), True),
    ]


# PyTorch's last operation, at the first row, brings its gradients first.
_STEPWISE = ("b_hh", "w_hh", "b_ih", "w_ih", "input", "hx")

_plain = general(
    "_rnn_layer(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh, "
    "bool relu, int[]? batch_sizes, bool reverse) -> (Tensor output, Tensor hy)",
    raw.rnn,
    joint=record_gradient(_plain_gradients, override=raw.rnn_backward),
    node="StackBackward0",
    namespace="private",
    public=False,
    dtypes="float",
    lowering="rnn",
    delivers=_STEPWISE,
    samples=lambda mk: _draws(mk, 1, False),
    doc="One direction of one plain recurrent layer.",
)


def _lstm_gradients(
    g_output: Any, g_hy: Any, g_cy: Any, input: Any, hx: Any, cx: Any, w_ih: Any, w_hh: Any,
    b_ih: Any, b_hh: Any, w_hr: Any, output: Any, gates: Any, cells: Any, batch_sizes: Any,
    reverse: bool, need: Any,
) -> list[Any]:  # fmt: skip
    weights = (w_ih, w_hh, b_ih, b_hh, w_hr)
    gs = (g_output, g_hy, g_cy)
    return _gradients("lstm", gs, input, (hx, cx), weights, batch_sizes, reverse, False, need)


def _lstm_row(node: str, *delivers: str) -> Row:
    return general(
        "_lstm_layer(Tensor input, Tensor hx, Tensor cx, Tensor w_ih, Tensor w_hh, Tensor? b_ih, "
        "Tensor? b_hh, Tensor? w_hr, int[]? batch_sizes, bool reverse) -> "
        "(Tensor output, Tensor hy, Tensor cy, Tensor gates, Tensor cells)",
        raw.lstm,
        joint=record_gradient(_lstm_gradients, override=raw.lstm_backward),
        differentiable_out=(True, True, True, False, False),
        node=node,
        namespace="private",
        public=False,
        dtypes="float",
        lowering="lstm",
        delivers=delivers,
        samples=lambda mk: _draws(mk, 4, None, states=2),
        doc="One direction of one LSTM layer.",
    )


_lstm = _lstm_row("MkldnnRnnLayerBackward0")
_lstm_steps = _lstm_row("StackBackward0", "w_hr", *_STEPWISE, "cx")


def _gru_gradients(
    g_output: Any, g_hy: Any, input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any,
    output: Any, gates: Any, inner: Any, batch_sizes: Any, reverse: bool, need: Any,
) -> list[Any]:  # fmt: skip
    weights = (w_ih, w_hh, b_ih, b_hh, None)
    gs = (g_output, g_hy)
    return _gradients("gru", gs, input, (hx,), weights, batch_sizes, reverse, False, need)


_gru = general(
    "_gru_layer(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh, "
    "int[]? batch_sizes, bool reverse) -> "
    "(Tensor output, Tensor hy, Tensor gates, Tensor inner)",
    raw.gru,
    joint=record_gradient(_gru_gradients, override=raw.gru_backward),
    differentiable_out=(True, True, False, False),
    node="StackBackward0",
    namespace="private",
    public=False,
    dtypes="float",
    lowering="gru",
    delivers=_STEPWISE,
    samples=lambda mk: _draws(mk, 3),
    doc="One direction of one GRU layer.",
)


def _layer(
    kind: str,
    x: Tensor,
    states: tuple[Tensor, ...],
    weights: list[Any],
    sizes: Shape | None,
    reverse: bool,
) -> tuple[Any, tuple[Any, ...]]:
    """One direction of one layer: the outputs and the last states."""
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    relu = kind == "relu"
    own = x._raw.dtype
    if T.dtype_of(x) not in (D.float32, D.float64) or any(
        v is not None and v._raw.dtype != own for v in (*states, *weights)
    ):
        # PyTorch rounds to sixteen bits after each operation; its products refuse other types.
        stem = "plain" if kind in ("relu", "tanh") else kind
        return _stepwise(stem, x, states, weights, sizes, reverse, relu)
    if kind == "lstm":
        # oneDNN has neither packed sequences nor projections, and single precision only.
        single = sizes is None and w_hr is None and T.dtype_of(x) is D.float32
        row = _lstm if single else _lstm_steps
        found = apply_n(row.op, [x, *states, w_ih, w_hh, b_ih, b_hh, w_hr, sizes, reverse])
        return found[0], (found[1], found[2])
    if kind == "gru":
        found = apply_n(_gru.op, [x, *states, w_ih, w_hh, b_ih, b_hh, sizes, reverse])
    else:
        found = apply_n(_plain.op, [x, *states, w_ih, w_hh, b_ih, b_hh, relu, sizes, reverse])
    return found[0], (found[1],)


# ---- several layers ------------------------------------------------------------------------------


def _group(params: list[Tensor], biased: bool, projected: bool) -> list[list[Any]]:
    """The parameters of each direction of each layer: W, U, b, c and the projection."""
    many = (4 if biased else 2) + projected
    if len(params) % many:
        raise RuntimeError("got an incorrect number of RNN parameters")
    groups = []
    for start in range(0, len(params), many):
        own = list(params[start : start + many])
        weights = own[:2] + (own[2:4] if biased else [None, None])
        groups.append([*weights, own[-1] if projected else None])
    return groups


def _network(
    kind: str, input: Any, sizes: Any, hx: list[Any], params: Any, has_biases: bool,
    num_layers: int, dropout: float, train: bool, bidirectional: bool,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """The outputs of the last layer, and the last states of all layers, stacked."""
    ways = 2 if bidirectional else 1
    projected = kind == "lstm" and hx[0].size(2) != hx[1].size(2)
    groups = _group(params, has_biases, projected)
    first = [s.unbind(0) for s in hx]
    if bidirectional and (len(first[0]) % 2 or len(groups) % 2):
        raise RuntimeError("Odd number of params or hiddens given to a bidirectional RNN")
    for what, found in (("hidden states", first[0]), ("weights", groups)):
        if len(found) != num_layers * ways:
            raise RuntimeError(f"Expected more {what} in stacked_rnn")
    if sizes is None and not input.size(0):
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    last: list[list[Any]] = [[] for _ in hx]
    total = 0
    if sizes is not None:
        if T.dtype_of(sizes) is not D.int64:
            given = D.scalar_name(T.dtype_of(sizes))
            raise RuntimeError(f"expected scalar type Long but found {given}")
        sizes = tuple(sizes.tolist())
        width = hx[-1].shape[2] * (4 if kind == "lstm" else 1)
        total = refuse_steps(input.shape[0], sizes, width)
    for layer in range(num_layers):
        outs = []
        for way in range(ways):
            k = layer * ways + way
            states = tuple(s[k] for s in first)
            rows = input
            if sizes is not None and input.shape[0] > total:  # each way begins at its own end
                rows = input[input.shape[0] - total :] if way else input[:total]
            out, after = _layer(kind, rows, states, groups[k], sizes, way == 1)
            outs.append(out)
            for states_of_all, state in zip(last, after):
                states_of_all.append(state)
        input = outs[0] if ways == 1 else table("cat")(outs, -1)
        if dropout and train and layer < num_layers - 1:
            input = table("dropout")(input, dropout, True)
    return input, [table("stack")(states) for states in last]


def _run(
    kind: str, several: bool, args: Positional, kwargs: Mapping[str, object]
) -> tuple[Tensor, ...]:
    """A call of one of the four functions, in either of its forms."""
    form = _PACKED if _is_packed(args, kwargs, several) else _PADDED
    values = args
    if kwargs or len(args) != len(form):
        given = dict(zip(form, args))
        given.update(kwargs)
        missing = [n for n in form if n not in given]
        if len(args) > len(form) or missing or set(given) - set(form):
            name = kind if kind in ("lstm", "gru") else f"rnn_{kind}"
            raise TypeError(
                f"{name}() received an invalid combination of arguments - missing or unknown: "
                f"{missing or sorted(set(given) - set(form)) or args[len(form) :]}"
            )
        values = tuple(given[n] for n in form)
    sizes: Any = None
    batch_first = False
    if form is _PACKED:
        x, sizes, hx, *rest = values
    else:
        x, hx, *rest, batch_first = values
    states = list(hx) if several else [hx]
    if several and len(states) != 2:
        raise RuntimeError("lstm expects two hidden states")
    if batch_first:
        x = x.transpose(0, 1)
    out, last = _network(kind, x, sizes, states, *rest)
    return (out.transpose(0, 1) if batch_first else out, *last)


_OPTIONS = ("params", "has_biases", "num_layers", "dropout", "train", "bidirectional")
_PADDED = ("input", "hx", *_OPTIONS, "batch_first")
_PACKED = ("data", "batch_sizes", "hx", *_OPTIONS)


def _is_packed(args: tuple[object, ...], kwargs: Mapping[str, object], several: bool) -> bool:
    """Whether the call's second argument is the batch sizes of a packed sequence."""
    if "data" in kwargs or "batch_sizes" in kwargs:
        return True
    if "batch_first" in kwargs:
        return False
    if "hx" in kwargs or len(args) < 3:
        return len(args) > 1
    return isinstance(args[1 if several else 2], TensorBase)


@composite()
def lstm(*args: object, **kwargs: object) -> tuple[Tensor, ...]:
    """A long short-term memory of several layers: outputs, last hidden and last cell states.

    Called as (input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
    batch_first), or for a packed sequence as (data, batch_sizes, hx, params, has_biases,
    num_layers, dropout, train, bidirectional).
    Source: S. Hochreiter, J. Schmidhuber, Long short-term memory (1997).
    """
    return _run("lstm", True, args, kwargs)


@composite()
def gru(*args: object, **kwargs: object) -> tuple[Tensor, ...]:
    """A network of gated recurrent units: outputs and last states; called as `lstm`.

    Source: K. Cho et al., Learning phrase representations using RNN encoder-decoder (2014).
    """
    return _run("gru", False, args, kwargs)


@composite()
def rnn_tanh(*args: object, **kwargs: object) -> tuple[Tensor, ...]:
    """A plain recurrent network with tanh: outputs and last states; called as `lstm`."""
    return _run("tanh", False, args, kwargs)


@composite()
def rnn_relu(*args: object, **kwargs: object) -> tuple[Any, ...]:
    """A plain recurrent network with relu: outputs and last states; called as `lstm`."""
    return _run("relu", False, args, kwargs)


# ---- single steps --------------------------------------------------------------------------------


def _check_cell(
    input: Tensor, states: tuple[Tensor, ...], w_ih: Tensor, w_hh: Tensor, gates: int
) -> None:
    """Refuses what doesn't fit together, of a cell of so many gates.

    Raises: RuntimeError in PyTorch's words, IndexError for too few dimensions.
    """
    shape, of_input, of_state = input.shape, w_ih.shape, w_hh.shape
    if (
        len(shape) == len(of_input) == len(of_state) == 2
        and shape[1] == of_input[1]
        and of_input[0] == of_state[0] == gates * of_state[1]
        and all(h.shape == (shape[0], of_state[1]) for h in states)
    ):
        return
    if gates == 1:
        _check_weights(w_ih, w_hh, gates)
    expected = w_ih.size(1)
    if input.size(1) != expected:
        raise RuntimeError(
            f"input has inconsistent input_size: got {input.size(1)} expected {expected}"
        )
    hidden = w_hh.size(1)
    for k, h in enumerate(states):
        if h.size(0) != input.size(0):
            raise RuntimeError(
                f"Input batch size {input.size(0)} doesn't match hidden{k} batch size {h.size(0)}"
            )
        if h.size(1) != hidden:
            raise RuntimeError(
                f"hidden{k} has inconsistent hidden_size: got {h.size(1)}, expected {hidden}"
            )
    _check_weights(w_ih, w_hh, gates)


def _check_weights(w_ih: Tensor, w_hh: Tensor, gates: int) -> None:
    hidden = w_hh.size(1)
    for name, weight in (("weight_ih", w_ih), ("weight_hh", w_hh)):
        if weight.size(0) != gates * hidden:
            raise RuntimeError(
                f"{name} first dim must be {gates} * hidden_size = {gates * hidden}, "
                f"but got {weight.size(0)}"
            )


@composite()
def lstm_cell(
    input: Tensor, hx: Any, w_ih: Any, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Any = None
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: the new hidden and cell states from (h, c)."""
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    _check_cell(input, hx, w_ih, w_hh, 4)
    part = linear(hx[0], w_hh, b_hh)  # as in `_plain_cell`
    h, c = _lstm_step(part, (input, hx[1]), w_ih, b_ih)[0]
    return h, c


@composite()
def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Any, w_hh: Any, b_ih: Tensor | None = None, b_hh: Any = None
) -> Any:
    """One step of a gated recurrent unit: the new state."""
    _check_cell(input, (hx,), w_ih, w_hh, 3)
    part = linear(input, w_ih, b_ih)
    return _gru_step(part, (hx,), w_hh, b_hh)[0][0]


def _plain_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: object, b_hh: object, relu: bool
) -> Tensor:
    _check_cell(input, (hx,), w_ih, w_hh, 1)
    # The state's part comes first: what is younger, the input's, gets its gradients first.
    part = linear(hx, w_hh, b_hh)
    return _plain_step(part, (input,), w_ih, b_ih, relu)[0][0]


@composite()
def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a plain recurrent network with tanh: the new state."""
    return _plain_cell(input, hx, w_ih, w_hh, b_ih, b_hh, False)


@composite()
def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: object = None, b_hh: object = None
) -> Tensor:
    """One step of a plain recurrent network with relu: the new state."""
    return _plain_cell(input, hx, w_ih, w_hh, b_ih, b_hh, True)
