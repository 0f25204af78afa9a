"""What packages import and seldom use: streams, TorchScript's types, specs as text, biases."""

import collections
import importlib
import typing

import torch
from observation import near, outcome

_pytree = importlib.import_module(f"{torch.__name__}.utils._pytree")
_bias = importlib.import_module(f"{torch.__name__}.nn.attention.bias")


def streams_of_the_cpu() -> None:
    a, b = torch.Stream(), torch.Stream("cpu")
    print(a, a == b, hash(a) == hash(b), a.query(), a.device, a.stream_id, a.is_capturing())
    print(a.synchronize(), a.wait_event(torch.Event()))
    for what in (a.record_event, lambda: a.wait_stream(b), lambda: torch.Stream("cuda")):
        outcome(what)
    with a as inside:
        print(inside is a)


def events_of_the_cpu() -> None:
    a, b = torch.Event(), torch.Event(enable_timing=True)
    print(a, b, a.query(), a.wait(), a.synchronize(), a.device)
    for what in (a.record, lambda: a.elapsed_time(b), lambda: b.elapsed_time(b), a.ipc_handle):
        outcome(what)


def types_of_annotations() -> None:
    found = torch.jit.annotations.try_ann_to_type
    for annotation in (int, list[int], dict[str, list[int]], tuple[int, float], int | None,
                       typing.Union[int, str, None], torch.Tensor, None, torch.device, str, bool,
                       list[torch.Tensor | None], int | float | None):
        print(found(annotation, None))


def types_compare_and_nest() -> None:
    whole, broken = torch.IntType.get(), torch.FloatType.get()
    anything, nothing = torch.AnyType.get(), torch.NoneType.get()
    optional, either = torch.OptionalType(whole), torch.UnionType([whole, broken])
    for a, b in ((whole, anything), (whole, broken), (whole, optional), (nothing, optional),
                 (whole, either), (whole, torch.NumberType.get()), (anything, whole),
                 (torch.TupleType([whole]), torch.TupleType([anything]))):
        print(a, b, a.isSubtypeOf(b), a == b, a.str(), b.kind(), b.annotation_str)
    kinds = torch.DictType(torch.StringType.get(), whole)
    print(kinds.getKeyType(), kinds.getValueType(), torch.ListType.ofInts().getElementType())
    print(either.containedTypes(), torch.TensorType.get())
    outcome(lambda: torch.IntType())


class _Box:
    def __init__(self, inside):
        self.inside = inside


class _Nameless(_Box):
    pass


if _Box not in _pytree.SUPPORTED_NODES:
    _pytree.register_pytree_node(
        _Box, lambda b: ([b.inside], ("k", 1)), lambda parts, _: _Box(parts[0]),
        serialized_type_name="programs.Box", to_dumpable_context=list,
        from_dumpable_context=tuple,
    )  # fmt: skip
    _pytree.register_pytree_node(
        _Nameless, lambda b: ([b.inside], None), lambda parts, _: _Nameless(parts[0])
    )


def specs_as_text_and_back() -> None:
    point = collections.namedtuple("point", "x y")
    for tree in (1, [1, 2], {"a": 1, "b": [2]}, {3: 1}, collections.OrderedDict(a=1),
                 collections.defaultdict(list, {"a": 1}), collections.deque([1], maxlen=3),
                 [_Box((1, {"q": 2}))], {(1, 2): 3}):
        spec = _pytree.tree_structure(tree)
        text = _pytree.treespec_dumps(spec)
        print(text, _pytree.treespec_loads(text) == spec)
    outcome(lambda: _pytree.treespec_dumps(_pytree.tree_structure(_Nameless(1))))
    spec = _pytree.tree_structure(point(1, 2))
    try:
        _pytree.treespec_dumps(spec)
    except NotImplementedError as error:
        print("registered" in str(error))
    outcome(lambda: _pytree.treespec_dumps(3))
    outcome(lambda: _pytree.treespec_loads("[2, {}]"))
    outcome(lambda: _pytree.treespec_loads(
        '[1, {"type": "a.b", "context": "null", "children_spec": []}]'
    ))  # fmt: skip


def causal_biases() -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 2, 4), torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    lower, upper = _bias.causal_lower_right(2, 3), _bias.causal_upper_left(3, 2)
    print(lower, upper, lower.variant, lower.shape)
    attend = torch.nn.functional.scaled_dot_product_attention
    near(attend(q, k, v, attn_mask=lower))
    near(attend(k, q, q, attn_mask=upper, scale=0.3))
    outcome(lambda: attend(q, k, v, attn_mask=lower, is_causal=True))
    outcome(lambda: _bias.CausalBias(3, 2, 2))
    outcome(lambda: _bias.causal_upper_left(3))


def windows_without_data() -> None:
    for name in ("hann_window", "hamming_window", "blackman_window", "bartlett_window",
                 "kaiser_window"):
        print(getattr(torch, name)(4, device="meta"))
    windows = torch.signal.windows
    for make in (windows.hann, windows.kaiser, windows.exponential, windows.cosine):
        print(make(4, device="meta"), make(1, device="meta"), make(0, device="meta"))


def numbers_divided_by_tensors_rounding_down() -> None:
    for number, other in ((7, [2, 3]), (7.5, [2.0, -3.0]), (True, [2, -3]), (7.5, [2, -3])):
        print(torch.floor_divide(number, torch.tensor(other)))


class _Asked:
    """No tensor, but asked what functions do with it."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print(func.__name__, [type(a).__name__ for a in args])
        return 0


def a_stranger_is_asked_by_operators_and_functions() -> None:
    d, one = _Asked(), torch.ones(2)
    for what in (lambda: one + d, lambda: one @ d, lambda: one * d, lambda: torch.clone(d),
                 lambda: torch.isclose(d, one), lambda: torch.matmul(one, d),
                 lambda: torch.logdet(d), lambda: torch.cat([d])):
        print(what())


def full_of_numbers_of_numpy() -> None:
    numpy = importlib.import_module("numpy")
    for value in (numpy.float64(1.5), numpy.float32(1.5), numpy.int32(3), numpy.uint8(3),
                  numpy.bool_(True), numpy.float16(1), numpy.complex128(1j)):
        print(torch.full((2,), value), torch.full((1,), value, dtype=torch.complex128))
