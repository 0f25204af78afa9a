"""The printed form of a tensor: what `repr` shows of an array, and the options that govern it.

The work has three steps that know nothing of each other: pick the elements to show, turn them
into cells (one string an element), lay the cells out in lines. Picking comes first, so that a large
array costs no more than its corners.

Source: PyTorch 2.13's printed form, found by experiment and compared again by
tests/compare/test_printed_form.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import compress, repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from .narrow import is_complex32

if TYPE_CHECKING:
    from .annotations import Array


class PrintOptions(NamedTuple):
    """How arrays are printed.

    `precision` is the number of digits after the point; more than `threshold` elements are
    summarised to `edgeitems` at either end of each dimension; a line holds `linewidth` characters;
    `sci_mode` forces scientific notation on (True) or off (False), None decides by the values.
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES: Final = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}

_GAP: Final = " ..."  # stands in a row for the elements left out; the space is part of it

_current = PrintOptions()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Sets the options that every later printed form uses.

    A `profile` ("default", "short" or "full"; any other text is ignored) is applied first and sets
    all of them, the line width too; the other arguments come over it, and one that is None keeps
    what was. `sci_mode` is the exception: a call without it goes back to None.

    Source: PyTorch 2.13.

    Parameters:
        precision: how many digits after the point; 4.
        threshold: of tensors with more elements than this the middle is left out; 1000.
        edgeitems: how many elements are shown at each end where the middle is left out; 3.
        linewidth: how many characters go into a line; 80.
        profile: the name of a set of options.
        sci_mode: whether numbers are written with an exponent; None: where that is clearer.
    Raises: nothing here; what makes no sense fails when a tensor is printed.
    Example:
        >>> torch.set_printoptions(precision=2)
        >>> torch.tensor([1 / 3])
        tensor([0.33])
        >>> torch.set_printoptions(profile="default")
    """
    global _current
    chosen = _current if profile is None else _PROFILES.get(profile, _current)
    _current = PrintOptions(
        precision=chosen.precision if precision is None else precision,
        threshold=chosen.threshold if threshold is None else threshold,
        edgeitems=chosen.edgeitems if edgeitems is None else edgeitems,
        linewidth=chosen.linewidth if linewidth is None else linewidth,
        sci_mode=sci_mode,
    )


def current_options() -> PrintOptions:
    """The options in force."""
    return _current


def get_printoptions() -> dict[str, Any]:
    """The options in force as a new dictionary; changing it changes nothing else.

    Returns: dict: precision, threshold, edgeitems, linewidth, sci_mode.
    Example:
        >>> torch.get_printoptions()["precision"]
        4
    """
    return {
        "precision": _current.precision,
        "threshold": _current.threshold,
        "edgeitems": _current.edgeitems,
        "linewidth": _current.linewidth,
        "sci_mode": _current.sci_mode,
    }


@contextmanager
def printoptions(
    *,
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> Iterator[None]:
    """A block where `set_printoptions` with these arguments holds; its end undoes every change.

    Parameters:
        precision, threshold, edgeitems, linewidth, profile, sci_mode: as in `set_printoptions`.
    Returns: a context manager.
    Raises: nothing here; what makes no sense fails when a tensor is printed.
    Example:
        >>> with torch.printoptions(precision=1):
        ...     print(torch.tensor([1 / 3]))
        tensor([0.3])
    """
    global _current
    outer = _current
    try:
        set_printoptions(precision, threshold, edgeitems, linewidth, profile, sci_mode)
        yield
    finally:
        _current = outer


def tensor_text(
    array: Array,
    dtype_name: str,
    *,
    suffixes: Sequence[str] | None = None,
    indent: int = 0,
    options: PrintOptions | None = None,
    default_dtype: str = "float32",
    name: str = "tensor",
    device: str | None = None,
    contents: str | None = None,
) -> str:
    """The printed form of a tensor, `tensor([[1., 2.]], requires_grad=True)`.

    `suffixes` follow the ones added here: `device='...'` when `device` is given, `size=(...)` for
    an empty array that is not one-dimensional, `dtype=torch....` unless the values tell it.
    `indent` is the column at which the text will start, `name` what stands before the parenthesis,
    `contents` replaces the printed values. `options` defaults to those in force.

    Shapes: any; a 0-d array prints as its value, an empty one as `[]`.
    Dtypes: bool, integers, floats (those of ml_dtypes included), complex.
    """
    chosen = _current if options is None else options
    if contents is None:
        contents = contents_text(array, indent=indent + len(name) + 1, options=chosen)
    shape, empty = array.shape, array.size == 0
    added = [] if device is None else [f"device='{device}'"]
    # Without edge items a summary says nothing at all, so PyTorch then gives the size every time.
    if len(shape) != 1 if empty else chosen.edgeitems == 0:
        added.append(f"size={size_text(shape)}")
    if not shows_dtype(dtype_name, default_dtype, empty=empty):
        added.append(f"dtype=torch.{dtype_name}")
    if suffixes:
        added.extend(suffixes)
    return assemble_text(contents, added, indent=indent, name=name, linewidth=chosen.linewidth)


def assemble_text(
    contents: str,
    suffixes: Sequence[str],
    *,
    indent: int = 0,
    name: str = "tensor",
    linewidth: int | None = None,
    a_line_each: bool = False,
    first_on_a_line: bool = False,
) -> str:
    """`name(contents, suffix, ...)`, a suffix that would pass the line's end beginning a new line.

    `a_line_each` gives every suffix its own line, `first_on_a_line` begins one with the first. The
    forms without values (a meta or a sparse tensor) are made here directly.
    """
    if linewidth is None:
        linewidth = _current.linewidth
    margin = indent + len(name) + 1
    text = f"{name}({contents}"
    if not suffixes:
        return text + ")"
    pieces = [text]
    # PyTorch's way of counting: the last line of the values counts for two more than it has, a
    # first line without its indent, a suffix in full even if it has lines of its own.
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        length = len(suffix)
        if a_line_each or first_on_a_line or column + length + 2 > linewidth:
            pieces.append(",\n" + " " * margin + suffix)
            column = margin + length
            first_on_a_line = False
        else:
            pieces.append(", " + suffix)
            column += length + 2
    pieces.append(")")
    return "".join(pieces)


def text_without_data(
    array: Array, dtype_name: str, suffixes: Sequence[str], *, name: str, default_dtype: str
) -> str:
    """The printed form of a tensor without data: `tensor(..., device='meta', size=(2, 3))`."""
    added = ["device='meta'", f"size={size_text(array.shape)}"]
    if dtype_name != default_dtype:
        added.append(f"dtype=torch.{dtype_name}")
    return assemble_text("...", [*added, *suffixes], name=name)


def size_text(shape: Sequence[int]) -> str:
    """A shape as `size=` shows it: `(2, 3)`, `(3,)`, `()`."""
    return str(tuple(int(size) for size in shape))


def shows_dtype(dtype_name: str, default_dtype: str, *, empty: bool) -> bool:
    """Whether the printed values alone tell the dtype, so that no `dtype=` suffix is due.

    An empty tensor has no values: there only the default dtype goes without saying.
    """
    if dtype_name == default_dtype:
        return True
    if empty:
        return False
    partner = "complex128" if default_dtype == "float64" else "complex64"
    return dtype_name in ("int64", "bool", partner)


def contents_text(array: Array, *, indent: int = 0, options: PrintOptions | None = None) -> str:
    """The values between the parentheses, the lines after the first set in by `indent`."""
    chosen = _current if options is None else options
    if array.size == 0:
        return "[]"
    shape = array.shape
    edge = chosen.edgeitems
    summary = array.size > chosen.threshold
    if summary and edge == 0 and shape:
        return "[...]"
    cut = [summary and size > 2 * edge for size in shape]
    if any(cut):
        array = _edges(array, cut, edge)
    cells, width = _cells(array.reshape(-1), chosen)
    if not shape:
        return cells[0]
    return _layout(cells, width + 2, array.shape, cut, edge, indent, chosen.linewidth)


def format_element(array: Array, spec: str, *, class_name: str = "Tensor") -> str:
    """What `f"{t:spec}"` gives for a 0-d tensor: its value as a Python number, formatted.

    Raises: TypeError for an array that is not 0-d (an empty spec then means `repr`, which the
    caller has); ValueError from the number for a spec that does not suit it.
    """
    if array.ndim != 0:
        raise TypeError(f"unsupported format string passed to {class_name}.__format__")
    value = array.item()
    if not isinstance(value, bool | int | float | complex):
        # Scalars of ml_dtypes are no Python numbers.
        value = complex(value) if is_complex32(array.dtype) else float(value)
    return format(value, spec)


def _edges(array: Array, cut: Sequence[bool], edge: int) -> Array:
    """The array without the elements that the summary leaves out along its `cut` dimensions."""
    kept = [
        [*range(edge), *range(size - edge, size)] if is_cut else range(size)
        for size, is_cut in zip(array.shape, cut, strict=True)
    ]
    return array[np.ix_(*kept)]


def _cells(values: Array, options: PrintOptions) -> tuple[list[str], int]:
    """One string an element, padded to a common width, and the width by which lines are counted."""
    kind = values.dtype.kind
    if is_complex32(values.dtype):
        values, kind = values.astype(np.complex64), "c"
    if kind in "biu":
        texts = list(map(str, values.tolist()))
        width = max(map(len, texts))
    elif kind == "c":
        # Only the real part is padded, the `j` is not counted.
        reals, real_width = _float_texts(values.real, options)
        imaginaries, imaginary_width = _float_texts(values.imag, options)
        texts = [
            f"{real.rjust(real_width)}{'' if imaginary[0] == '-' else '+'}{imaginary}j"
            for real, imaginary in zip(reals, imaginaries, strict=True)
        ]
        return texts, real_width + imaginary_width + 1
    else:
        texts, width = _float_texts(values, options)
    return [text.rjust(width) for text in texts], width


def _float_texts(values: Array, options: PrintOptions) -> tuple[list[str], int]:
    """The unpadded text of each float and the width of the column they stand in.

    Zeros, infinities and nan have no say in the notation and none in the width.
    """
    wide = values.astype(np.float64)
    if values.dtype.name == "float8_e8m0fnu":
        # This type has no infinity and no zero: PyTorch takes its nan for finite, and its least
        # value, which a zero converts to, for zero.
        has_say = wide != 2.0**-127
    else:
        has_say = np.isfinite(wide) & (wide != 0)
    speakers = wide[has_say]
    integral, scientific = True, False
    if speakers.size:
        integral = bool((speakers == np.ceil(speakers)).all())
        if options.sci_mode is None:
            sizes = np.abs(speakers)
            largest, smallest = float(sizes.max()), float(sizes.min())
            scientific = (
                largest > 1e8 or largest / smallest > 1000.0 or (not integral and smallest < 1e-4)
            )
        else:
            scientific = options.sci_mode
    if scientific:
        spec = f".{options.precision}e"
    else:
        spec = ".0f" if integral else f".{options.precision}f"
    texts = list(map(format, wide.tolist(), repeat(spec)))
    if integral and not scientific:
        texts = [text if text[-1] in "fn" else text + "." for text in texts]  # not inf, nan
    width = max(map(len, compress(texts, has_say.tolist())), default=1)
    return texts, width


def _layout(
    cells: list[str],
    pitch: int,
    shape: Sequence[int],
    cut: Sequence[bool],
    edge: int,
    indent: int,
    linewidth: int,
) -> str:
    """The cells in nested brackets, rows broken into lines, gaps where dimensions were cut."""
    rank, length = len(shape), shape[-1]
    margin = indent + rank
    per_line = max(1, (linewidth - (margin - 1)) // pitch)
    line_break = ",\n" + " " * margin
    blocks = []
    for start in range(0, len(cells), length):
        row = cells[start : start + length]
        if cut[-1]:
            row[edge:edge] = [_GAP]
        lines = [", ".join(row[k : k + per_line]) for k in range(0, len(row), per_line)]
        blocks.append("[" + line_break.join(lines) + "]")
    for axis in range(rank - 2, -1, -1):
        separator = "," + "\n" * (rank - 1 - axis) + " " * (indent + axis + 1)
        size, inner, blocks = shape[axis], blocks, []
        for start in range(0, len(inner), size):
            group = inner[start : start + size]
            if cut[axis]:
                group[edge:edge] = ["..."]
            blocks.append("[" + separator.join(group) + "]")
    return blocks[0]
