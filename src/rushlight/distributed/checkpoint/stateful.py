"""`Stateful`: what has a state of its own, which checkpoints save and restore."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from ..annotations import State

__all__ = ["Stateful", "StatefulT"]


@runtime_checkable
class Stateful(Protocol):
    """What has a state of its own: `save` asks for it, and `load` hands it back.

    Example:
        >>> from rushlight.distributed.checkpoint.stateful import Stateful
        >>> isinstance(nn.Linear(1, 1), Stateful), isinstance({}, Stateful)
        (True, False)
    """

    def state_dict(self) -> State:
        """A dictionary of tensors and values.

        Returns: the state; `load` fills its tensors in place.
        """
        ...

    def load_state_dict(self, state_dict: State) -> None:
        """Takes a state over.

        Parameters:
            state_dict: what `state_dict` gave, with the elements that were saved.
        Returns: None.
        """
        ...


StatefulT = TypeVar("StatefulT", bound=Stateful)
