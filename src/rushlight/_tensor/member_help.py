"""What `help` says of the members of `Tensor`, and of storages, beyond their first lines.

These stand apart because the classes themselves are read more often than their help.
"""

from __future__ import annotations

from typing import Final

TENSOR: Final = """A multi-dimensional array of one element type that remembers how it was computed.

Parameters:
    args: numbers, which are a size; or a sequence of elements; nothing: an empty tensor. Most
        programs call `tensor`, `zeros` and the like.
    device: the CPU, or "meta".
Raises: TypeError: for other arguments. ValueError: for sequences of unequal lengths.
Example:
    >>> torch.Tensor([1, 2])
    tensor([1., 2.])
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
"""

#: The parts of the help of a member of `Tensor`, by its name.
PARTS: Final = {
    "shape": """
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.shape
    torch.Size([2, 2])
""",
    "ndim": """
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.ndim
    2
""",
    "dtype": """
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.dtype
    torch.float32
""",
    "device": """
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.device
    device(type='cpu')
""",
    "requires_grad": """
Example:
    >>> w = torch.tensor([2.0], requires_grad=True)
    >>> w.requires_grad, (w * 2).requires_grad
    (True, True)
""",
    "is_leaf": """
Example:
    >>> w = torch.tensor([2.0], requires_grad=True)
    >>> w.is_leaf, (w * 2).is_leaf
    (True, False)
""",
    "grad_fn": """
Example:
    >>> w = torch.tensor([2.0], requires_grad=True)
    >>> w.grad_fn is None, (w * 2).grad_fn.name()
    (True, 'MulBackward0')
""",
    "output_nr": """
Example:
    >>> w = torch.tensor([2.0], requires_grad=True)
    >>> w.repeat(2).unbind()[1].output_nr
    1
""",
    "grad": """
Example:
    >>> w = torch.tensor([2.0], requires_grad=True)
    >>> (w * w).backward()
    >>> w.grad
    tensor([4.])
""",
    "retains_grad": """
Example:
    >>> w = torch.tensor([2.0], requires_grad=True)
    >>> y = w * 2
    >>> y.retain_grad()
    >>> y.retains_grad
    True
""",
    "is_inference": """
Returns: bool.
Example:
    >>> with torch.inference_mode():
    ...     x = torch.ones(2)
    >>> x.is_inference()
    True
""",
    "detach": """
Shapes: any; the same.
Returns: Tensor: a view, which requires no gradients.
Example:
    >>> w = torch.tensor([2.0], requires_grad=True)
    >>> (w * 2).detach()
    tensor([4.])
""",
    "detach_": """
Shapes: any.
Returns: Tensor: this one.
Example:
    >>> w = torch.tensor([2.0], requires_grad=True)
    >>> (w * 2).detach_().is_leaf
    True
""",
    "data": """
Example:
    >>> w = torch.tensor([2.0], requires_grad=True)
    >>> w.data.requires_grad
    False
""",
    "requires_grad_": """
Parameters:
    requires_grad: whether operations on it are to be recorded.

Shapes: any.
Returns: Tensor: this one.
Raises: RuntimeError: for elements that are no floating numbers, and to switch it off for what isn't
    a leaf. TypeError: for anything but a bool.
Example:
    >>> torch.ones(1).requires_grad_()
    tensor([1.], requires_grad=True)
""",
    "size": """
Parameters:
    dim: the dimension; None: all.
    axis: another name of `dim`.

Returns: Size, or int for one dimension.
Raises: IndexError: where there is no dimension `dim`.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.size(), x.size(1)
    (torch.Size([2, 2]), 2)
""",
    "dim": """
Returns: int.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.dim()
    2
""",
    "numel": """
Returns: int.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.numel()
    4
""",
    "stride": """
Parameters:
    dim: the dimension; None: all.
    axis: another name of `dim`.

Returns: tuple of int, or int for one dimension.
Raises: IndexError: where there is no dimension `dim`.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.stride(), x.stride(0)
    ((2, 1), 2)
""",
    "storage_offset": """
Returns: int.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x[1].storage_offset()
    2
""",
    "data_ptr": """
Returns: int: 0 for a tensor without data.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x[1].data_ptr() - x.data_ptr()
    8
""",
    "element_size": """
Returns: int.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.element_size()
    4
""",
    "itemsize": """
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.itemsize
    4
""",
    "nbytes": """
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.nbytes
    16
""",
    "is_contiguous": """
Parameters:
    memory_format: the order that is asked for.

Returns: bool.
Raises: TypeError: for anything but a memory format.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.is_contiguous(), x.t().is_contiguous()
    (True, False)
""",
    "is_floating_point": """
Returns: bool.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.is_floating_point(), x.long().is_floating_point()
    (True, False)
""",
    "is_complex": """
Returns: bool.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.is_complex()
    False
""",
    "is_signed": """
Returns: bool.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.is_signed(), x.bool().is_signed()
    (True, False)
""",
    "get_device": """
Returns: int.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.get_device()
    -1
""",
    "pin_memory": """
Parameters:
    device: None, as there is none.

Shapes: any.
Returns: Tensor: this one.
Raises: RuntimeError: where a device is named. TypeError: for what names none.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.pin_memory() is x
    True
""",
    "is_cpu": """
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.is_cpu
    True
""",
    "is_meta": """
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.is_meta, torch.ones(2, device="meta").is_meta
    (False, True)
""",
    "names": """
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.names
    (None, None)
""",
    "is_shared": """
Returns: bool.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.is_shared()
    False
""",
    "share_memory_": """
Shapes: any.
Returns: Tensor: this one.
Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.share_memory_().is_shared()
    True
""",
    "real": """
Example:
    >>> torch.tensor([1 + 2j]).real
    tensor([1.])
""",
    "imag": """
Example:
    >>> torch.tensor([1 + 2j]).imag
    tensor([2.])
""",
}
_STORAGE: Final = """Memory as elements of {of}; of a number of them, or of a sequence.

Parameters:
    args: how many elements, or which; none: an empty storage.
    wrap_storage: the bytes that it is to lie over.
    dtype: the type of the elements{fixed}.
    device: the CPU{fixed}.
Raises: RuntimeError: for several arguments, and for parameters that don't go together. TypeError:
    for an argument of another type.
Example:
    >>> torch.{name}([1, 0]{given}).tolist()
    {shown}
"""


def storage_text(name: str, dtype: str) -> str:
    """The help of the class of storages with elements of one type; of any without a name."""
    if not dtype:
        return _STORAGE.format(
            of="one type", fixed="", name=name, given=", dtype=torch.int64", shown="[1, 0]"
        )
    kind = dtype.removeprefix("torch.")
    shown = (
        "[True, False]" if kind == "bool" else "[(1+0j), 0j]" if kind.startswith("complex")
        else "[1.0, 0.0]" if "float" in kind else "[1, 0]"
    )  # fmt: skip
    text = _STORAGE.format(of=dtype, fixed=": given by the class", name=name, given="", shown=shown)
    return text.partition("Example:")[0] + _NONE if kind[0] == "q" else text


_NONE: Final = """Example:
    >>> torch.QInt8Storage.__name__  # there are no quantized tensors that it could hold
    'QInt8Storage'
"""


def explain(kind: type) -> None:
    """Adds the parts to the docstrings of a class's members; `python -OO` keeps none."""
    for name, parts in PARTS.items():
        member = vars(kind)[name]
        if member.__doc__:
            member.__doc__ = f"{member.__doc__.rstrip()}\n{parts}"
