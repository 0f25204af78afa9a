"""Nested containers: flattened, mapped, put together again."""

from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

from rushlight.utils import _pytree as pytree

Point = namedtuple("Point", "x y")
TREE = {
    "a": [1, (2, 3)],
    "b": Point(4, 5),
    "c": OrderedDict(x=6),
    "d": deque([7], maxlen=3),
    "e": defaultdict(list, {"k": 8}),
    "f": (),
}


def test_a_container_comes_back_from_its_leaves() -> None:
    leaves, spec = pytree.tree_flatten(TREE)
    assert leaves == [1, 2, 3, 4, 5, 6, 7, 8]
    back = pytree.tree_unflatten(leaves, spec)
    assert back == TREE
    assert type(back["b"]) is Point and back["d"].maxlen == 3 and back["e"].default_factory is list
    assert pytree.tree_structure(TREE) == spec


def test_maps_go_over_several_containers_and_chosen_types() -> None:
    assert pytree.tree_map(lambda a, b: a + b, [1, (2,)], [3, (4,)]) == [4, (6,)]
    assert pytree.tree_map_only(int, lambda x: -x, [1, "a"]) == [-1, "a"]
    assert pytree.tree_leaves([1, [2]], is_leaf=lambda x: x == [2]) == [1, [2]]
    assert pytree.tree_any(lambda x: x == 3, [1, [3]])
    assert not pytree.tree_all(lambda x: x == 3, [1, [3]])


def test_containers_that_do_not_match_are_refused() -> None:
    with pytest.raises(ValueError, match="Node type mismatch"):
        pytree.tree_map(lambda a, b: a, [1], (1,))
    with pytest.raises(ValueError, match="Node arity mismatch"):
        pytree.tree_map(lambda a, b: a, [1], [1, 2])
    with pytest.raises(ValueError, match="holds 8 items"):
        pytree.tree_unflatten([1], pytree.tree_structure(TREE))


def test_a_registered_class_is_a_container() -> None:
    class Box:
        def __init__(self, inside: object) -> None:
            self.inside = inside

    pytree.register_pytree_node(Box, lambda b: ([b.inside], None), lambda c, _: Box(*c))
    try:
        assert pytree.tree_map(lambda x: x * 2, Box(3)).inside == 6
        with pytest.raises(ValueError, match="already registered"):
            pytree.register_pytree_node(Box, lambda b: ([], None), lambda c, _: Box(None))
    finally:
        del pytree.SUPPORTED_NODES[Box]
