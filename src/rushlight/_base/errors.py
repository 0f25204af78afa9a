"""Messages in PyTorch's words, in one place. Functions build those that quote shapes or names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from .own_packages import is_own

BACKWARD_TWICE: Final = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward."
)
LONG: Final = "Overflow when unpacking long long"  # an integer of more than 64 bits
SCALAR_ONLY: Final = "grad can be implicitly created only for scalar outputs"
INFERENCE_SAVED: Final = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
    "inference "
    "mode in computation tracked by autograd. To work around this, you can make a clone to get a "
    "normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
    "`torch.inference_mode()`."
)
INFERENCE_INPLACE: Final = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a "
    "clone to get a normal tensor before doing inplace update.See "
    "https://github.com/pytorch/rfcs/pull/17 for more details."
)
INFERENCE_REQUIRES_GRAD: Final = (
    "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
)
INFERENCE_VERSION: Final = "Inference tensors do not track version counter."
LEAF_INPLACE: Final = "a leaf Variable that requires grad is being used in an in-place operation."
LEAF_VIEW_INPLACE: Final = (
    "a view of a leaf Variable that requires grad is being used in an in-place operation."
)
SHARED_WITH_WRITTEN: Final = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
    "single memory location. Please clone() the tensor before performing the operation."
)
REQUIRES_GRAD_DTYPE: Final = (
    "only Tensors of floating point and complex dtype can require gradients"
)
COMPLEX_TO_REAL: Final = (
    "Casting complex values to real discards the imaginary part (Triggered internally at "
    "/__w/pytorch/pytorch/aten/src/ATen/native/Copy.cpp:308.)"
)
CHANGE_NON_LEAF: Final = (
    "you can only change requires_grad flags of leaf variables. If you want to use a "
    "computed variable "
    "in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
)
CHANGE_NON_LEAF_ON: Final = "you can only change requires_grad flags of leaf variables."
PACK_HOOK_INPLACE: Final = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to "
    "pack hook "
    "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please "
    "open an issue if you need to perform in-place operations on the input to a pack hook."
)
UNPACK_TYPE: Final = (
    "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
)
HOOKS_FREED: Final = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values "
    "of the "
    "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True "
    "if you need "
    "to backward through the graph a second time or if you need to access saved variables "
    "after calling backward."
)
HOOKS_TWICE: Final = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
    "only one pair of hooks is allowed at a time."
)
REGISTER_HOOKS: Final = (
    "register_hooks(): incompatible function arguments. The following argument types are "
    "supported:\n    1. (self: torch._C._autograd.SavedTensor, arg0: collections.abc.Callable, "
    "arg1: collections.abc.Callable) -> None\n\nInvoked with: "
)
PUSH_HOOKS: Final = (
    "_push_saved_tensors_default_hooks(): incompatible function arguments. The following argument "
    "types are supported:\n    1. (arg0: collections.abc.Callable, arg1: collections.abc.Callable) "
    "-> None\n\nInvoked with: "
)
DATA_DTYPE: Final = (
    "data set to a tensor that requires gradients must be floating point or complex dtype"
)
DATA_LAYOUT: Final = (
    "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible "
    "tensor type."
)
ASSIGNED_GRAD_KIND: Final = "assigned grad expected to be a Tensor or None but got grad of type "
ASSIGNED_GRAD_LAYOUT: Final = (
    "attempting to assign a gradient to a tensor that has data of a different type"
)
DETACHED_SAVED: Final = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
    "This is not supported, please use out-of-place `.detach()` instead"
)
HOOKS_NONE: Final = "Calling register_hooks on a saved tensor with value None is forbidden"
INPUT_NO_GRAD: Final = "One of the differentiated Tensors does not require grad"


#: What calculating raises where it can't go on: another way is tried, or explains. Any other error,
#: such as the one by which a signal's handler ends a call, comes from outside and goes its way.
REFUSALS: Final = (
    TypeError, ValueError, RuntimeError, LookupError, AttributeError, AssertionError, MemoryError,
    OverflowError, ZeroDivisionError, FloatingPointError, BufferError,
)  # fmt: skip


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as C++ prints it: [2, 3]."""
    return "[" + ", ".join(map(str, shape)) + "]"


def negative_dimension(shape: Sequence[int]) -> str:
    """What is said of a shape with a negative size."""
    first = next(n for n in shape if n < 0)
    return f"Trying to create tensor with negative dimension {first}: {list(shape)}"


def real_only(name: str) -> str:
    """What is said of a complex result that would require grad."""
    return f"{name} does not support automatic differentiation for outputs with complex dtype."


def size_text(shape: tuple[int, ...]) -> str:
    """A shape as Python code prints it: torch.Size([2, 3])."""
    return f"torch.Size({list(shape)})"


def describe_modified(
    type_name: str, shape: tuple[int, ...], producer: str, now: int, expected: int,
    anomaly: bool = False,
) -> str:  # fmt: skip
    """The message for a saved tensor that has been written since."""
    hint = (
        "the backtrace further above shows the operation that failed to compute its gradient. The "
        "variable in question was changed in there or anywhere later. Good luck!"
        if anomaly
        else "enable anomaly detection to find the operation that failed to compute its gradient, "
        "with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    made_by = f", which is output {producer}," if producer else ""
    return (
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{type_name} {shape_text(shape)}]{made_by} is at version {now}; "
        f"expected version {expected} instead. Hint: {hint}"
    )


CREATE_GRAPH_CYCLE: Final = (
    "Using backward() with create_graph=True will create a reference cycle between the "
    "parameter and "
    "its gradient which can cause a memory leak. We recommend using autograd.grad when "
    "creating the "
    "graph to avoid this. If you have to use this function, make sure to reset the .grad "
    "fields of your parameters to None after use to break the cycle and avoid the leak."
)


def unused_input(position: int) -> str:
    """The message for an input that no output depends on."""
    return (
        f"The differentiated Tensor at index {position} appears to not have been used in the "
        "graph. Set allow_unused=True if this is the desired behavior."
    )


def no_grad_fn(position: int) -> str:
    """The message for a root that has no history."""
    return f"element {position} of tensors does not require grad and does not have a grad_fn"


def mismatch_in_batch(position: int, grad: tuple[int, ...], out: tuple[int, ...]) -> str:
    """The message for a batch of gradients that doesn't fit its root."""
    return (
        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
        "as the batch "
        "dimension. The sizes of the remaining dimensions are expected to match the shape of "
        "corresponding output, but a mismatch was detected: "
        f"grad_output[{position}] has a shape of {size_text(grad)} and output[{position}] "
        "has a shape "
        f"of {size_text(out)}. If you only want some tensors in `grad_output` to be "
        "considered batched, consider using vmap."
    )


def describe_unpacked(name: str) -> str:
    """What a node says that can't compute with what hooks have given back."""
    return (
        f"Function {name} can't use its saved tensors: a hook has unpacked one to another shape or "
        "type than it had"
    )


def invalid_gradient(name: str, i: int, have: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """The message for a gradient that a node gives and that doesn't fit its input."""
    return (
        f"Function {name} returned an invalid gradient at index {i} - got {shape_text(have)} but "
        f"expected shape compatible with {shape_text(shape)}"
    )


def mismatch_in_shape(position: int, grad: tuple[int, ...], out: tuple[int, ...]) -> str:
    """The message for a gradient argument of another shape than its root."""
    return (
        f"Mismatch in shape: grad_output[{position}] has a shape of {size_text(grad)} and "
        f"output[{position}] has a shape of {size_text(out)}."
    )


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> str | None:
    """Why two shapes don't broadcast; None if they do."""
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and a[-back] != 1 and b[-back] != 1:
            place = max(len(a), len(b)) - back
            return (
                f"The size of tensor a ({a[-back]}) must match the size of tensor b "
                f"({b[-back]}) at non-singleton dimension {place}"
            )
    return None


def dimension(dim: int, ndim: int) -> str:
    """The message for a dimension that isn't there.

    Raises:
        ValueError: for one of more than 64 bits, which isn't even a number to PyTorch.
    """
    if not -(1 << 63) <= dim < 1 << 63:
        raise ValueError(LONG)
    high = max(ndim, 1)
    return (
        f"Dimension out of range (expected to be in range of [{-high}, {high - 1}], but got {dim})"
    )


def no_tensor(name: str, argument: str, given: object, place: int = 1) -> str:
    """The message for an argument that should be a tensor."""
    return (
        f"{name}(): argument '{argument}' (position {place}) must be Tensor, not {type_name(given)}"
    )


def no_dimension(dim: int, ndim: int) -> str:
    """The same, where a number may not stand for a dimension."""
    if not ndim:
        return f"Dimension specified as {dim} but tensor has no dimensions"
    return dimension(dim, ndim)


def output_shape(shape: tuple[int, ...], broadcast_shape: tuple[int, ...]) -> str:
    """The message for an in-place operation whose result doesn't fit."""
    return (
        f"output with shape {shape_text(shape)} doesn't match the broadcast shape "
        f"{shape_text(broadcast_shape)}"
    )


def unfit(shape: tuple[int, ...], other: tuple[int, ...]) -> str:
    """The message for adding in place what has more elements or doesn't broadcast."""
    rank = max(len(shape), len(other))
    sizes = zip(*((1,) * (rank - len(s)) + s for s in (shape, other)))
    whole = tuple(m if n == 1 else n for n, m in sizes)
    return broadcast(shape, other) or output_shape(shape, whole)


def cannot_cast(result: str, wanted: str) -> str:
    """The message for a result that would lose its category."""
    return f"result type {result} can't be cast to the desired output type {wanted}"


def view_inplace(problem: str, output: int, node: str, indirect: bool = False) -> str:
    """Why a view may not be written in place, or not be used after its base was (`indirect`).

    `node` is the operation that made the view, "" where that wasn't recorded.
    """
    written = "its base or another view of its base has been" if indirect else "is being"
    where = "inference" if problem == "inference" else "no_grad"
    block = "inference_mode" if problem == "inference" else "no_grad"
    how = "in normal mode." if problem == "inference" else "with grad mode enabled."
    if node and problem in ("no_grad", "inference"):
        text = (
            f"Output {output} of {node} is a view of a view which was created in {where} mode and "
            f"{written} modified inplace {how}"
        )
    elif node:
        text = f"Output {output} of {node} is a view and {written} modified inplace."
    else:
        text = f"A view was created in {where} mode and {written} modified inplace {how}"
    if problem == "multi":
        return text + (
            " This view is the output of a function that returns multiple views. Such "
            "functions do not "
            "allow the output views to be modified inplace. You should replace the inplace "
            "operation by an out-of-place one."
        )
    if problem == "custom":
        return text + (
            " This view was created inside a custom Function (or because an input was "
            "returned as-is) "
            "and the autograd logic to handle view+inplace would override the custom "
            "backward associated "
            "with the custom Function, leading to incorrect gradients. This behavior is "
            "forbidden. You can fix this by cloning the output of the custom Function."
        )
    return text + (
        " Given that this use case is ambiguous and error-prone, it is forbidden. You can "
        "clarify your "
        f"code by moving both the view and the inplace either both inside the {block} block "
        "(if you don't "
        "want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
    )


def out_requires_grad(name: str) -> str:
    """The message for `out=` with arguments that require grad."""
    return (
        f"{name}(): functions with out=... arguments don't support automatic "
        "differentiation, but one of the arguments requires grad."
    )


def resized_out(old: tuple[int, ...], new: tuple[int, ...]) -> str:
    """The warning for an `out=` tensor of the wrong shape."""
    return (
        f"An output with one or more elements was resized since it had shape {list(old)}, "
        "which does "
        f"not match the required output shape {list(new)}. This behavior is deprecated, and "
        "in a future "
        "PyTorch release outputs will not be resized unless they have zero elements. You can "
        "explicitly "
        "reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
    )


DETACH_VIEW: Final = (
    "Can't detach views in-place. Use detach() instead. If you are using "
    "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
    "True, gradients "
    "are views of DDP buckets, and hence detach_() cannot be called on these gradients. "
    "To fix this "
    "error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the "
    "solution."
)
NON_LEAF_GRAD: Final = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its "
    ".grad attribute "
    "won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated "
    "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the "
    "non-leaf Tensor "
    "by mistake, make sure you access the leaf Tensor instead. See github.com/pytorch/pytorch"
    "/pull/30531 for more information. (Triggered internally at "
    "/pytorch/build/aten/src/ATen/core/TensorBody.h:497.)"
)


def not_a_bool(function: str, argument: str, value: object, place: int = 1) -> str:
    """The message for an argument that should be True or False."""
    kind = type_name(value)
    return f"{function}(): argument '{argument}' (position {place}) must be bool, not {kind}"


def check_bool(function: str, argument: str, value: object, place: int = 1) -> None:
    """Refuses what is neither True nor False.

    Raises:
        TypeError: in the words of PyTorch's argument parser.
    """
    if not isinstance(value, bool):
        raise TypeError(not_a_bool(function, argument, value, place))


def assigned_grad_dtype(tensor: str, grad: str) -> str:
    """The message for a `.grad` of another type."""
    return (
        f"attempting to assign a gradient with dtype '{grad}' to a tensor with grad_dtype "
        f"'{tensor}'. The "
        "gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). "
        "You can set the "
        "tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. "
        "Set grad_dtype "
        "with caution. Diverging the dtypes of a tensor and its gradient may break downstream "
        "systems that assume they match."
    )


def assigned_grad_shape(tensor: tuple[int, ...], grad: tuple[int, ...]) -> str:
    """The message for a `.grad` of another shape."""
    return (
        f"attempting to assign a gradient of size '{list(grad)}' to a tensor of size "
        f"'{list(tensor)}'. "
        "Please ensure that the gradient and the tensor are the same size"
    )


def real_scalar_only(dtype: object) -> str:
    """The message for an implicit gradient of a complex root."""
    return f"grad can be implicitly created only for real scalar outputs but got {dtype}"


def mismatch_in_kind(position: int, grad: object, out: object) -> str:
    """The message for a complex gradient of a real root, or the other way."""
    return (
        "For complex Tensors, both grad_output and output are required to have the same "
        "dtype. Mismatch "
        f"in dtype: grad_output[{position}] has a dtype of {grad} and output[{position}] has a "
        f"dtype of {out}."
    )


def item_size(count: int) -> str:
    """The message for `item()` on a tensor that doesn't hold one element."""
    return f"a Tensor with {count} elements cannot be converted to Scalar"


ONE_ELEMENT: Final = "only one element tensors can be converted to Python scalars"


def no_kernel(name: str) -> str:
    """The message for an operation that only accelerators have; PyTorch lists those it knows."""
    return f"Could not run 'aten::{name}' with arguments from the 'CPU' backend."


def no_conversion(target: str) -> str:
    """The message for a number that a C type can't hold."""
    return f"value cannot be converted to type {target} without overflow"


def boolean_value(count: int) -> str:
    """The message for the truth value of a tensor that doesn't hold one element."""
    if count == 0:
        return "Boolean value of Tensor with no values is ambiguous"
    return "Boolean value of Tensor with more than one value is ambiguous"


DEEPCOPY_NON_LEAF: Final = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
    "protocol at the "
    "moment.  If you were attempting to deepcopy a module, this may be because of a torch.nn.utils."
    "weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
)


_TYPES_OF_TORCH: Final = {
    "dtype": "torch.dtype", "device": "torch.device", "Size": "torch.Size",
    "layout": "torch.layout", "memory_format": "torch.memory_format",
    "Generator": "torch._C.Generator", "finfo": "torch.finfo", "iinfo": "torch.iinfo",
    "_TypedMeta": "torch.tensortype", "SparseTensor": "Tensor",
}  # fmt: skip
_HEAP_TYPE: Final = 1 << 9


_NAME: Final = type.__dict__["__name__"].__get__  # what no metaclass has another word for


def is_pytorchs(kind: type) -> bool:
    """Whether a class is PyTorch's tensor, where that is installed and imported beside."""
    return any(c.__name__ == "TensorBase" and c.__module__ == "torch._C" for c in kind.__mro__)


def has_rules(kind: type) -> bool:
    """Whether a class says what functions of tensors make of it, unless it is PyTorch's."""
    return hasattr(kind, "__torch_function__") and not is_pytorchs(kind)


def type_name(value: object) -> str:
    """The name of a value's type as C has it: with the module where the type is static.

    Ours are classes in Python where PyTorch's are in C.
    """
    kind = type(value)
    if kind is type and is_own(value.__module__) and _NAME(value) == "Tensor":
        return "torch._C._TensorMeta"
    name: str = _NAME(kind)
    if is_pytorchs(kind):
        return f"torch.{name} of PyTorch (`tensor()` copies it)"
    if kind.__module__.partition(".")[0] in ("rushlight", "torch"):
        if not kind.__flags__ & _HEAP_TYPE:  # ours are classes of Python's
            return f"torch.{name} of PyTorch"
        return _TYPES_OF_TORCH.get(name, name)
    if kind.__module__ == "builtins" or kind.__flags__ & _HEAP_TYPE:
        return name
    return f"{kind.__module__}.{name}"


GER: Final = (
    "torch.ger is deprecated and will be removed in a future PyTorch release. Use torch.outer "
    "instead."
)


def describe_contraction(dims: object) -> str:
    """The message for what can't stand for the dimensions of `tensordot`."""
    return (
        "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] "
        f"containing two lists, but got dims={dims}"
    )


def complex_limit(name: str, dtype: str) -> str:
    """The message for a complex tolerance of a rank."""
    return f"torch.linalg.matrix_rank: {name} tensor of complex type is not supported. Got {dtype}"


def another_count(shape: tuple[int, ...], have: int, count: int) -> str:
    """The warning for an `out` of more or fewer elements than have been computed."""
    return (
        f"The number of elements in the out tensor of shape {list(shape)} is {have} which does "
        f"not match the computed number of elements {count}. Note that this may occur as a result "
        f"of rounding error. The out tensor will be resized to a tensor of shape ({count},)."
    )


def class_text(value: object) -> str:
    """How Python shows the class of a value, those of ours by PyTorch's names."""
    kind = type(value)
    if not is_own(kind.__module__):
        return repr(kind)
    name = type_name(value)
    return f"<class '{name if name.startswith('torch.') else f'torch.{name}'}'>"


def not_implemented(kernel: str, dtype: str) -> str:
    """The message for an element type that an operation doesn't support."""
    return f"\"{kernel}\" not implemented for '{dtype}'"


def says_not_implemented(error: BaseException) -> bool:
    """Whether an error is that of `not_implemented`, which comes after those of shapes."""
    return isinstance(error, NotImplementedError) and str(error).startswith('"')


INSIDE_TRANSFORM: Final = (
    "You are attempting to call Tensor.requires_grad_() (or perhaps using "
    "torch.autograd.functional.* APIs) inside of a function being transformed by a functorch "
    "transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, "
    "vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being "
    "transformed instead."
)
BACKWARD_INSIDE_TRANSFORM: Final = (
    "backward() called inside a functorch transform. This is not supported, please use "
    "functorch.grad or functorch.vjp instead or call backward() outside of functorch transforms."
)
RANDOM_UNDER_VMAP: Final = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)


# ---- memory --------------------------------------------------------------------------------------
def no_memory(count: int) -> str:
    """The system refuses so many bytes."""
    return (
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: "
        f"you tried to allocate {count} bytes. Error code 12 (Cannot allocate memory)"
    )


NUMEL_OVERFLOW: Final = "numel: integer multiplication overflow"


def too_many_dimensions(count: int) -> str:
    """NumPy has no arrays of so many dimensions, where PyTorch has tensors."""
    return f"tensors have up to 64 dimensions, as NumPy's arrays have, but this one has {count}"


def storage_overflow(sizes: Iterable[int], strides: Iterable[int] | None = None) -> str:
    """The bytes of a shape (and strides) are no 64-bit number, or the strides of no elements."""
    sizes = tuple(sizes)
    if strides is None and 0 in sizes:
        return "Stride calculation overflowed"
    text = f"Storage size calculation overflowed with sizes={shape_text(sizes)}"
    return text if strides is None else f"{text} and strides={shape_text(tuple(strides))}"


def no_heaviside(of_complex: bool) -> str:
    """Heaviside's function of complex numbers, or of different types."""
    what = "complex tensors." if of_complex else "tensors with different dtypes."
    return f"heaviside is not yet implemented for {what}"
