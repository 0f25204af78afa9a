"""`Op`: what the engine room knows of an operation. Rows of the table fill these in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable, Arguments

# Entries of `Node.saved`, by kind. An entry is (kind, position, name).
ARG: Final = 0  # the argument at a schema position: a tensor, or any other value
OUT: Final = 1  # the raw array of an output
SHAPE: Final = 2  # the shape of the tensor at a position
DTYPE: Final = 3  # its dtype

# What a formula's parameter is filled with: an index into `saved`, or one of these.
PICK_G: Final = -1  # the gradient of the only output
PICK_XP: Final = -2  # the array namespace
PICK_NEED: Final = -3  # which inputs want a gradient
PICK_GS: Final = -4  # the gradients of all outputs, None where undefined
PICK_G0: Final = -10  # the gradient of output k is PICK_G0 - k, zeros where undefined

# The shapes of call that the engine's fast loop knows.
CALL_G: Final = 0  # f(g)
CALL_G_SAVED: Final = 1  # f(g, saved)
CALL_GENERAL: Final = 2

# How operand types promote.
PROMOTE_NONE: Final = 0  # operands are taken as they are
PROMOTE_SAME: Final = 1  # all to the common type
PROMOTE_FLOAT: Final = 2  # all to the common type, integers to the default float type

# When a write in place refuses operands that lie in the memory that is written.
SHARED_PARTLY: Final = 0  # where they lie there in part
SHARED_NEVER: Final = 1
SHARED_FIRST: Final = 2  # all of it, too; before shapes and places are looked at
SHARED_LAST: Final = 3  # the same, once these are found to fit


class Op:
    """An operation: its forward on raw arrays, its formulas, what they save, how it promotes."""

    __slots__ = (
        "name", "kind", "node_class", "raw", "tensors", "lists", "entries", "n_args", "masks",
        "simple", "freed", "formulas", "forms", "picks", "joint", "joint_picks", "special",
        "n_out", "promote", "is_view", "holomorphic", "saves_out", "row", "defaults",
        "promote_at", "broadcasts", "ordered", "differentiable_out", "out_raw", "runs_on_none",
        "function", "lone", "returns", "constants",
        "direct", "diff_mask",
        "records", "check", "written", "fits", "formula",
        "wide", "copies", "shared", "expanded", "into", "names_c_type", "gives_bool", "real_only",
        "delivers", "small", "small_formulas",
    )  # fmt: skip

    name: str
    kind: str
    node_class: Any
    raw: Any
    small: AnyCallable  # `raw` as the fast paths call it, with a short way for small arrays
    tensors: tuple[int, ...]  # schema positions of single-tensor arguments, one edge each
    lists: int  # the schema position of a list of tensors (its edges come first), or -1
    entries: tuple[tuple[int, int, str], ...]
    n_args: int  # how many of `entries` aren't outputs (outputs come last)
    masks: tuple[int, ...]  # per entry: the bits of the arguments whose formulas read it
    simple: bool  # entries are just the tensors, then at most the output: the fast path's layout
    freed: tuple[Any, ...]
    formulas: tuple[Any, ...]  # one per edge; None: not differentiable
    small_formulas: tuple[AnyCallable, ...]  # the same on arrays, with a short way for small ones
    forms: tuple[int, ...]
    picks: tuple[Any, ...]  # the index for CALL_G_SAVED, a tuple of picks for CALL_GENERAL
    joint: Any  # one formula for all edges, or None
    joint_picks: tuple[int, ...]
    special: int
    n_out: int  # -1: a list of tensors
    promote: int
    is_view: bool
    holomorphic: bool
    saves_out: bool
    row: Any
    defaults: tuple[Any, ...]
    promote_at: tuple[int, ...]  # the schema positions that take part in promotion
    broadcasts: bool  # operands broadcast against each other: gradients are summed back
    # Broadcasts, and lays the result out in the order of its operands' memory: as the first that
    # tells says (1), as the last (-1), or not (0).
    ordered: int
    differentiable_out: tuple[bool, ...]  # per output; empty: all are
    out_raw: bool  # the raw forward takes out=
    runs_on_none: bool  # the node runs even where all its gradients are undefined
    direct: bool  # `apply_n` may handle it: one output, no lists, no view, no broadcasting
    diff_mask: int  # the bits of the arguments that have a formula
    function: Any  # the public function: what replays a view on Tensors
    constants: tuple[int, ...]  # positions of single tensors without an edge: indices, masks
    lone: bool  # one tensor, the first argument; one fresh output; no promotion: see `apply_lone`
    returns: Any  # makes the named tuple of several outputs; None: a plain tuple
    records: bool  # has a gradient at all
    check: Any  # (args, raws) -> None: refuses operands after promotion, or None
    # args -> the operation whose node a write in place leaves, or None where writes are no matter
    # of gradients; None: it is this operation
    written: Any
    formula: Any  # what the forward computes, in the vocabulary of `_formula.words`, or None
    fits: Any  # raws -> None: refuses shapes that a write in place can't have, or None
    wide: bool  # halves beside a number are computed in float32, see Note [Halves and numbers]
    copies: bool  # the result is a copy: of an inference tensor, an ordinary tensor written once
    shared: int
    # args -> the warnings of a write to elements that share memory; None: it is refused
    expanded: Any
    # Of the raw arguments makes what writes in place, where the forward would copy all of the first
    # one; None, or an error, for what is left to the forward. Or None.
    into: Any
    names_c_type: bool  # refusals to cast a result name the type that is written as C++ does
    real_only: str  # the name under which complex results refuse to be differentiated, or none
    gives_bool: bool  # the result is bool, whatever types the operands are brought to
    # Edges in the order in which their gradients are brought, where one node stands for several of
    # PyTorch's; None: that of the edges.
    delivers: tuple[int, ...] | None


def run_small(op: Op, args: Arguments) -> Any:
    """The result of an operation on arrays; an unpacked list would be copied first, twice."""
    small = op.small
    count = len(args)
    if count == 1:
        return small(args[0])
    if count == 2:
        return small(args[0], args[1])
    if count == 3:
        return small(args[0], args[1], args[2])
    if count == 4:
        return small(args[0], args[1], args[2], args[3])
    return small(*args)


class Freed:
    """The value of a saved entry that the engine has released."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<freed>"


FREED: Final = Freed()
