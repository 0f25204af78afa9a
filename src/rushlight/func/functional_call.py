"""Calling a module with other tensors in place of its parameters and buffers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._core.storage import TensorBase
from .._table import PUBLIC

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._base.annotations import Keywords
    from .._tensor.tensor import Tensor
    from ..nn.modules.module import Module


def _holder(module: Module, path: str) -> tuple[object, str, str] | None:
    """The submodule that holds a name, the table it is in, and its short name.

    Raises:
        AttributeError: where there is no such submodule.
    """
    prefix, _, name = path.rpartition(".")
    for part in prefix.split(".") if prefix else []:
        if part not in module._modules:
            raise AttributeError(f"{type(module).__name__} has no attribute `{part}`")
        module = module._modules[part]
    for table in ("_parameters", "_buffers"):
        if name in getattr(module, table):
            return module, table, name
    return None


def _merge(dictionaries: object) -> dict[str, object]:
    """The tensors to put in place, from one dictionary or several.

    Raises:
        ValueError: for something else, or where two dictionaries share a key.
    """
    if isinstance(dictionaries, dict):
        return dictionaries
    if not isinstance(dictionaries, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dictionaries)}"
        )
    if not all(isinstance(d, dict) for d in dictionaries):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    keys = [k for d in dictionaries for k in d]
    repeated = {k for k in keys if keys.count(k) > 1}
    if repeated:
        raise ValueError(
            f"{sorted(repeated)} appeared in multiple dictionaries; behavior of functional call is "
            "ambiguous"
        )
    return {k: v for d in dictionaries for k, v in d.items()}


def _strictly(
    module: Module, given: dict[str, object], own: Mapping[str, TensorBase], tie: bool
) -> None:
    """Refuses names that the module doesn't have, and missing ones.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    known = {id(own[k]) for k in given if k in own} if tie else set()
    unknown = sorted(k for k in given if k not in own)
    missing = sorted(k for k in own if k not in given and id(own[k]) not in known)
    if not unknown and not missing:
        return
    lines = [f"Error(s) in reparametrizing for {type(module).__name__}:"]
    for word, names in (("Unexpected", unknown), ("Missing", missing)):
        if names:
            lines.append(f"\t{word} key(s): " + ", ".join(f"'{n}'" for n in names) + ".")
    raise RuntimeError("\n".join(lines))


@contextmanager
def reparametrize(
    module: Module, given: Keywords, tie_weights: bool = False, strict: bool = False
) -> Iterator[None]:
    """A context in which the module has the given tensors in place of its own.

    What its names hold on leaving goes back to `given`: a buffer that a call replaced is found
    there.

    Raises:
        ValueError: where tied names get two tensors.
        RuntimeError: where `strict` and names are missing or unknown.
        TypeError: for a value that is no tensor.
    """
    own: dict[str, TensorBase] = {}
    for path, child in module.named_modules(remove_duplicate=False):
        for table in (child._parameters, child._buffers):
            for name, value in table.items():
                if value is not None:
                    own[f"{path}.{name}" if path else name] = value
    if strict:
        _strictly(module, given, own, tie_weights)
    replacements = dict(given)
    if tie_weights:
        groups: dict[int, list[str]] = {}
        for k, tied in own.items():
            groups.setdefault(id(tied), []).append(k)
        for names in groups.values():
            chosen = [k for k in names if k in given]
            if len(names) < 2 or not chosen:
                continue
            first = given[chosen[0]]
            if any(given[k] is not first for k in chosen[1:]):
                raise ValueError(
                    f"functional_call got multiple values for keys {sorted(chosen)}, which are "
                    "tied. Consider using tie_weights=False"
                )
            for k in names:
                replacements[k] = first
    undo: list[tuple[Any, str, Any, str]] = []
    try:
        for path, value in replacements.items():
            if not isinstance(value, TensorBase):
                raise TypeError(f"{value} is not an instance of torch.Tensor")
            found = _holder(module, path)
            if found is None:
                continue
            holder, table_name, name = found
            entries = getattr(holder, table_name)
            undo.append((entries, name, entries[name], path))
            entries[name] = value
        yield
    finally:
        for entries, name, value, path in reversed(undo):
            if path in given:
                given[path] = entries[name]
            entries[name] = value


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: object = None,
    kwargs: dict[str, object] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`module(*args, **kwargs)` with the given tensors in place of its own for this call.

    A tensor for one name of tied parameters stands for all of them, unless `tie_weights=False`.
    A buffer that the call replaced is found in the dictionary afterwards, where one was given.

    Raises:
        ValueError: where dictionaries in a sequence share a key, or tied names get two tensors.
        RuntimeError: where `strict` and names are missing or unknown.
        TypeError: for a value that is no tensor.

    Parameters:
        module: the module that is called.
        parameter_and_buffer_dicts: tensors by name, instead of the module's own; or several such.
        args: the arguments, a tuple or one.
        kwargs: arguments by name.
        tie_weights: whether tensors that the module shares are replaced together.
        strict: whether every name must be given, and no other.
    Shapes: those of the module.
    Returns: what the module gives.
    Example:
        >>> layer = nn.Linear(2, 1, bias=False)
        >>> torch.func.functional_call(layer, {"weight": torch.ones(1, 2)}, torch.ones(2))
        tensor([2.])
    """
    if type(module).__name__ == "DataParallel":
        raise RuntimeError("The stateless API can't be used with nn.DataParallel module")
    given = _merge(parameter_and_buffer_dicts)
    call_args = () if args is None else args if isinstance(args, tuple) else (args,)
    with reparametrize(module, given, tie_weights, strict):
        return module(*call_args, **(kwargs or {}))


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several like modules, each stacked along a new dimension.

    Raises:
        RuntimeError: for no modules, or modules of different classes or modes.

    Parameters:
        models: modules that are built alike.
    Returns: (parameters, buffers): dictionaries of tensors stacked along a first dimension.
    Example:
        >>> params, buffers = torch.func.stack_module_state([nn.Linear(3, 2) for _ in range(5)])
        >>> params["weight"].shape
        torch.Size([5, 2, 3])
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    for k, _ in models[0].named_parameters():
        wants = {dict(m.named_parameters())[k].requires_grad for m in models}
        if len(wants) > 1:
            raise RuntimeError(f"Expected {k} from each model to have the same .requires_grad")
    stack = PUBLIC[("", "stack")]
    parameters = {
        k: stack([dict(m.named_parameters())[k] for m in models])
        .detach()
        .requires_grad_(v.requires_grad)
        for k, v in models[0].named_parameters()
    }
    buffers = {
        k: stack([dict(m.named_buffers())[k] for m in models]).detach()
        for k, _ in models[0].named_buffers()
    }
    return parameters, buffers
