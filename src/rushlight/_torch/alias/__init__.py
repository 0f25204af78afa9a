"""`torch` means Rushlight: `import torch` and `import torch.nn` give it after `install_as_torch()`.

The modules are the same objects under a second name, so `torch.nn.Linear is rushlight.nn.Linear`
and nothing is loaded twice. What Rushlight lacks is an error that says so; it is never taken from a
real torch that happens to be installed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import BuiltinImporter, ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..._base.error_notes import place as asked_at
from ..._base.lazy import lazy
from ..._base.version import __version__
from ..finder import alias_of
from ..names import home_of
from ..torch_version import TorchVersion
from . import said_names
from .missing import (
    MissingImports,
    explain_missing_names,
    is_imported,
    lacking,
    refuse_from_import,
)

if TYPE_CHECKING:
    from importlib.metadata import Distribution

__all__ = ["TORCH_VERSION", "TorchDistribution", "install_as_torch"]

#: What `torch.__version__` says: the PyTorch whose behaviour is followed, then who follows it.
TORCH_VERSION = TorchVersion(f"2.13.0+rushlight.{__version__}")

_OURS = __name__.partition(".")[0]


# It needs `importlib.metadata`.
__getattr__ = lazy(__name__, {"TorchDistribution": ".distribution:TorchDistribution"})


class _TorchFinder(MetaPathFinder):
    """Finds `torch.x.y` where Rushlight has `rushlight.x.y`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of Rushlight under its torch name.

        Raises:
            ModuleNotFoundError: where Rushlight has no such module and an import asks for it.
        """
        if fullname == "functorch":
            place = "_torch.functorch"  # PyTorch installs this module beside its own
        elif fullname == "functorch.experimental":
            place = "_torch._functorch.experimental"
        elif fullname.startswith("torch."):
            place = home_of(fullname.removeprefix("torch.")) or ""
        else:
            return None
        own_name = f"{_OURS}.{place}"
        try:
            module = importlib.import_module(own_name) if place else None
        except ModuleNotFoundError as error:
            if error.name is None or not (own_name + ".").startswith(error.name + "."):
                raise  # something that the module itself needs is missing
            module = None
        if module is None:
            if not is_imported():
                return None
            refuse_from_import(fullname)
            raise ModuleNotFoundError(
                lacking(f"No module named '{fullname}'", asked_at()), name=fullname
            )
        explain_missing_names(module, fullname)
        # Loading it has entered this name; see `PublicNames.find_spec`.
        sys.modules.pop(fullname, None)
        return alias_of(fullname, module)

    def find_distributions(self, context: Any = None) -> Iterable[Distribution]:
        """The distribution of the name torch."""
        name = getattr(context, "name", None)
        if name is not None and name.lower() != "torch":
            return ()
        from .distribution import TorchDistribution

        return (TorchDistribution(),)


def install_as_torch() -> None:
    """Makes `torch` and `torch.*` mean Rushlight in this process; calling it again changes nothing.

    `torch.__version__` (and so `rushlight.__version__`, the same module's) becomes `TORCH_VERSION`;
    `importlib.metadata` answers for torch, too.

    Raises:
        RuntimeError: if the real torch, or anything else of that name, has been imported already.

    Example:
        >>> import subprocess, sys
        >>> program = "import rushlight as r; r.install_as_torch(); import torch; print(torch is r)"
        >>> subprocess.check_output([sys.executable, "-c", program], text=True)
        'True\\n'
    """
    package = sys.modules[_OURS]
    present = sys.modules.get("torch")
    if present is package:
        return
    if present is not None or any(name.startswith("torch.") for name in sys.modules):
        where = getattr(present, "__file__", None)
        raise RuntimeError(
            "install_as_torch: torch has already been imported"
            + (f" from {where}" if where else "")
            + ". Call rushlight.install_as_torch() before the first `import torch`, or run the"
            " program with `python -m rushlight`."
        )
    explain_missing_names(package, "torch")
    package.__dict__["__version__"] = TORCH_VERSION
    # What waited for `import torch` (RUSHLIGHT_AS_TORCH=1) has done its work.
    sys.meta_path[:] = [f for f in sys.meta_path if type(f).__module__ != "_rushlight_site"]
    # Before Python's own finders, behind those that the program has put first.
    own = [i for i, f in enumerate(sys.meta_path) if f is BuiltinImporter]
    sys.meta_path.insert(own[0] if own else 0, _TorchFinder())
    sys.meta_path.append(MissingImports())
    # Both names that PyTorch installs are entered, so that no other finder is asked for either.
    functorch = importlib.import_module("..functorch", __name__)
    explain_missing_names(functorch, "functorch")
    sys.modules["functorch"] = functorch
    sys.modules["torch"] = package
    package.__dict__["torch"] = package  # `torch.torch` is there, and annotations say it
    said_names.install()
    package.__name__ = "torch"
