"""What is saved of a dictionary, and what is read: all of it, or what there is."""

from __future__ import annotations

from ..._base.error_notes import advise

__all__ = ["DefaultLoadPlanner", "DefaultSavePlanner"]


class DefaultSavePlanner:
    """Saves a dictionary as it is, each piece of a tensor once.

    The options are kept, and change nothing: inner dictionaries have their places in any case, and
    what several ranks have is saved by the first of them.

    Parameters:
        flatten_state_dict: how PyTorch names what inner dictionaries hold.
        flatten_sharded_tensors: how PyTorch names pieces of pieces.
        dedup_replicated_tensors: no longer has a meaning in PyTorch either.
        dedup_save_to_lowest_rank: whether the first rank saves what several have; it does.
        enable_plan_caching: whether PyTorch keeps what it has found out for the next save.
    Raises: nothing of its own.
    Example:
        >>> import tempfile
        >>> from rushlight.distributed import checkpoint
        >>> folder = tempfile.mkdtemp()
        >>> checkpoint.save({"a": torch.ones(2)}, checkpoint_id=folder,
        ...                 planner=checkpoint.DefaultSavePlanner())
    """

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        dedup_replicated_tensors: bool | None = None,
        dedup_save_to_lowest_rank: bool = False,
        enable_plan_caching: bool = False,
    ) -> None:
        self.flatten_state_dict = flatten_state_dict
        self.flatten_sharded_tensors = flatten_sharded_tensors
        self.dedup_save_to_lowest_rank = dedup_save_to_lowest_rank


class DefaultLoadPlanner:
    """Reads what a dictionary asks for.

    Parameters:
        flatten_state_dict: as for saving.
        flatten_sharded_tensors: as for saving.
        allow_partial_load: whether what wasn't saved is left as it is, where it is else refused.
    Raises: nothing of its own.
    Example:
        >>> import tempfile
        >>> from rushlight.distributed import checkpoint
        >>> folder = tempfile.mkdtemp()
        >>> checkpoint.save({"a": torch.ones(2)}, checkpoint_id=folder,
        ...                 planner=checkpoint.DefaultSavePlanner())
        >>> state = {"a": torch.zeros(2), "new": torch.zeros(1)}
        >>> checkpoint.load(state, checkpoint_id=folder,
        ...                 planner=checkpoint.DefaultLoadPlanner(allow_partial_load=True))
        >>> state
        {'a': tensor([1., 1.]), 'new': tensor([0.])}
    """

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        allow_partial_load: bool = False,
    ) -> None:
        self.flatten_state_dict = flatten_state_dict
        self.flatten_sharded_tensors = flatten_sharded_tensors
        self.allow_partial_load = allow_partial_load


def reads_in_part(planner: object) -> bool:
    """Whether what wasn't saved is left as it is.

    Raises:
        NotImplementedError: for a planner of another class, which can't be asked here.
    """
    refuse_others(planner, DefaultLoadPlanner)
    return isinstance(planner, DefaultLoadPlanner) and planner.allow_partial_load


def refuse_others(planner: object, kind: type[object]) -> None:
    """Refuses a planner that would do something else.

    Raises:
        NotImplementedError: for one of another class.
    """
    if planner is not None and type(planner) is not kind:
        raise advise(
            NotImplementedError(f"{type(planner).__name__}: only a {kind.__name__} is asked"),
            "change the dictionary before it is saved, or after it was loaded",
        )
