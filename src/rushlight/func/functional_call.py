"""Calling a module with other tensors in place of its parameters and buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core.storage import TensorBase
from ..ops import PUBLIC


def _holder(module: Any, path: str) -> tuple[Any, str, str]:
    """The submodule that holds a name, the table it is in, and its short name."""
    prefix, _, name = path.rpartition(".")
    for part in prefix.split(".") if prefix else []:
        module = module._modules[part]
    for table in ("_parameters", "_buffers"):
        if name in getattr(module, table):
            return module, table, name
    raise KeyError(path)


def functional_call(module: Any, parameter_and_buffer_dicts: Any, args: Any = None,
                    kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True,
                    strict: bool = False) -> Any:  # fmt: skip
    """`module(*args, **kwargs)` with the given tensors in place of its own for this call.

    Raises:
        ValueError: where dictionaries in a sequence share a key.
        RuntimeError: where `strict` and names are missing or unknown.
    """
    if isinstance(parameter_and_buffer_dicts, dict):
        given = dict(parameter_and_buffer_dicts)
    elif isinstance(parameter_and_buffer_dicts, Sequence):
        keys = [k for d in parameter_and_buffer_dicts for k in d]
        repeated = {k for k in keys if keys.count(k) > 1}
        if repeated:
            raise ValueError(
                f"{sorted(repeated)} appeared in multiple dictionaries; behavior of "
                "functional call is ambiguous"
            )
        given = {k: v for d in parameter_and_buffer_dicts for k, v in d.items()}
    else:
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    own: dict[str, TensorBase] = {}
    for path, child in module.named_modules(remove_duplicate=False):
        for table in (child._parameters, child._buffers):
            for name, value in table.items():
                if value is not None:
                    own[f"{path}.{name}" if path else name] = value
    unknown = [k for k in given if k not in own]
    if strict and (unknown or len(given) < len(own)):
        missing = [k for k in own if k not in given]
        raise RuntimeError(
            "Error(s) in loading for functional_call: "
            + (f"Unexpected key(s): {', '.join(unknown)}. " if unknown else "")
            + (f"Missing key(s): {', '.join(missing)}." if missing else "")
        )
    replacements = {k: v for k, v in given.items() if k in own}
    if tie_weights:
        by_tensor = {id(own[k]): v for k, v in replacements.items()}
        for k, value in own.items():
            if id(value) in by_tensor:
                replacements.setdefault(k, by_tensor[id(value)])
    undo: list[tuple[Any, str, Any, Any]] = []
    call_args = () if args is None else args if isinstance(args, tuple) else (args,)
    try:
        for path, value in replacements.items():
            holder, table, name = _holder(module, path)
            undo.append((getattr(holder, table), name, getattr(holder, table)[name], None))
            getattr(holder, table)[name] = value
        return module(*call_args, **(kwargs or {}))
    finally:
        for entries, name, value, _ in reversed(undo):
            entries[name] = value


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several like modules, each stacked along a new dimension.

    Raises:
        RuntimeError: for no modules, or modules of different classes or modes.
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
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
