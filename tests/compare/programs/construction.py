"""Tensors made from Python values, from NumPy, from other tensors; and turned back."""

import copy
import io
import pickle

import numpy as np
import torch
from observation import each, outcome


def legacy_constructors_take_sizes_or_values() -> None:
    print(
        torch.Tensor(3, 5).shape,
        torch.Tensor(3, 5).dtype,
        torch.Tensor().shape,
        torch.Tensor(0).shape,
    )
    print(torch.Tensor([3, 5]), torch.Tensor((1, 2)), torch.Tensor(torch.Size([2, 2])).shape)
    print(
        torch.FloatTensor(3, 3).shape,
        torch.FloatTensor([1, 2]),
        torch.LongTensor([1, 2]),
        torch.DoubleTensor([1]),
    )
    print(
        torch.ByteTensor([1]),
        torch.BoolTensor([True]),
        torch.IntTensor(2).dtype,
        torch.HalfTensor([1.5]),
    )
    each(
        mixed=lambda: torch.Tensor(2.5),
        text=lambda: torch.Tensor("a"),
        floats=lambda: torch.LongTensor([1.5]),
        keyword=lambda: torch.Tensor([1.0], requires_grad=True),
    )


def legacy_constructors_from_tensors() -> None:
    x = torch.ones(2)
    y = torch.Tensor(x)
    print(y, y is x, y.data_ptr() == x.data_ptr())
    each(long=lambda: torch.LongTensor(x), of_int=lambda: torch.Tensor(torch.ones(2).long()))


def tensor_infers_the_dtype() -> None:
    for value in (
        1,
        1.0,
        True,
        1j,
        [1, 2],
        [1, 2.0],
        [True, 2],
        [1, 1j],
        [],
        [[]],
        (),
        ((1, 2), (3, 4)),
        range(3),
        [True, False],
        2**40,
    ):
        t = torch.tensor(value)
        print(t, t.dtype, tuple(t.shape))


def tensor_takes_a_dtype() -> None:
    each(
        half=lambda: torch.tensor([1.0, 2.5], dtype=torch.float16),
        integer=lambda: torch.tensor([1.9, -1.9], dtype=torch.int64),
        truth=lambda: torch.tensor([0.0, 0.5, -1.0], dtype=torch.bool),
        cplx=lambda: torch.tensor([1, 2], dtype=torch.complex64),
        from_cplx=lambda: torch.tensor([1j], dtype=torch.float32),
        byte=lambda: torch.tensor([-1], dtype=torch.uint8),
        nan=lambda: torch.tensor([float("nan")], dtype=torch.float32),
        nan_int=lambda: torch.tensor(float("inf"), dtype=torch.int32),
    )


def tensor_of_a_tensor_warns_and_copies() -> None:
    x = torch.ones(2, requires_grad=True)
    y = torch.tensor(x)
    print(y, y.requires_grad, y.data_ptr() == x.data_ptr())
    z = torch.tensor(x, requires_grad=True)
    print(z, z.is_leaf)


def tensor_of_mixed_containers() -> None:
    each(
        zero_ds=lambda: torch.tensor([torch.tensor(1.0), torch.tensor(2.0)]),
        numpy_scalars=lambda: torch.tensor([np.float32(1), np.float32(2)]),
        numpy_double=lambda: torch.tensor(np.float64(1)),
        numpy_int=lambda: torch.tensor(np.int32(1)),
        array=lambda: torch.tensor(np.arange(3)),
        arrays=lambda: torch.tensor(np.array([np.arange(2), np.arange(2)])),
        nested=lambda: torch.tensor([[[1]], [[2]]]),
        array_bool=lambda: torch.tensor(np.array([True])),
        half=lambda: torch.tensor(np.array([1.5], dtype=np.float16)),
        ragged=lambda: torch.tensor([[1, 2], 3]),
        dictionary=lambda: torch.tensor({"a": 1}),
        a_set=lambda: torch.tensor({1}),
        strings=lambda: torch.tensor(np.array(["a"])),
        objects=lambda: torch.tensor(np.array([object()])),
    )


def as_tensor_shares_when_it_can() -> None:
    x = torch.ones(2)
    a = np.zeros(2, dtype=np.float32)
    t = torch.as_tensor(a)
    t[0] = 5
    print(
        torch.as_tensor(x) is x,
        torch.as_tensor(x, dtype=torch.float64).dtype,
        a,
        torch.as_tensor([1, 2]),
    )
    print(torch.as_tensor(a, dtype=torch.float64).dtype, torch.as_tensor(np.float32(2)))
    y = torch.ones(2, requires_grad=True)
    print(torch.as_tensor(y, dtype=torch.float64))


def from_numpy_shares_memory() -> None:
    a = np.arange(4.0)
    t = torch.from_numpy(a)
    t[1] = 50
    a[2] = 70
    print(t, a, t.dtype, t.requires_grad)
    v = torch.from_numpy(a[::2])
    print(v, v.stride(), torch.from_numpy(a.reshape(2, 2).T).stride())
    each(
        reverse=lambda: torch.from_numpy(a[::-1]),
        listed=lambda: torch.from_numpy([1]),
        text=lambda: torch.from_numpy(np.array(["a"])),
        u16=lambda: torch.from_numpy(np.zeros(1, np.uint16)).dtype,
    )


def numpy_shares_memory_back() -> None:
    t = torch.zeros(3)
    a = t.numpy()
    a[0] = 4
    t[1] = 5
    print(t, a, a.dtype, type(a).__name__)
    w = torch.ones(2, requires_grad=True)
    each(
        grad=lambda: w.numpy(),
        forced=lambda: w.numpy(force=True),
        detached=lambda: w.detach().numpy(),
        bf16=lambda: torch.ones(1).bfloat16().numpy(),
        view=lambda: torch.arange(6).view(2, 3).t().numpy().strides,
        conj=lambda: torch.tensor([1j]).conj().numpy(),
    )


def numpy_functions_accept_tensors() -> None:
    t = torch.arange(4.0)
    print(np.asarray(t), np.array(t, dtype=np.float64).dtype, np.sum(t.numpy()))
    print(np.asarray(torch.tensor(3)), np.array([torch.tensor(1.0), torch.tensor(2.0)]))
    each(
        grad=lambda: np.asarray(torch.ones(1, requires_grad=True)),
        radd=lambda: t + np.ones(4, dtype=np.float32),
        scalar=lambda: t * np.float64(2),
        rscalar=lambda: np.float32(2) * t,
    )


def item_gives_a_python_number() -> None:
    for t in (
        torch.tensor(1),
        torch.tensor(1.5),
        torch.tensor(True),
        torch.tensor(1 + 2j),
        torch.tensor([[3]]),
        torch.tensor(0.1),
    ):
        print(t.item(), type(t.item()).__name__)


def tolist_gives_python_numbers() -> None:
    for t in (
        torch.tensor(1),
        torch.tensor([1, 2]),
        torch.tensor([[True], [False]]),
        torch.zeros(2, 0),
        torch.tensor([1j]),
        torch.tensor([0.5], dtype=torch.float16),
    ):
        print(t.tolist())


def a_tensor_as_the_value_to_fill_with() -> None:
    values = [torch.tensor(0.1), torch.tensor(0.1, dtype=torch.float64), torch.tensor(3)]
    values += [torch.tensor([2.0]), torch.tensor(2.0, requires_grad=True)]
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.int64):
        for value in values:
            outcome(lambda v=value, d=dtype: torch.full_like(torch.ones(2, dtype=d), v))


def casts_by_method() -> None:
    t = torch.tensor([-1.7, 0.0, 2.5, 300.0])
    for name in ["double", "half", "bfloat16", "float", "int", "long", "short", "char", "bool", "cfloat", "cdouble"]:
        print(name, getattr(t, name)())
    print(t.clamp(0).byte(), t.float() is t, t.to(torch.float32) is t, t.double().float().equal(t))


def to_takes_many_forms() -> None:
    t = torch.ones(2)
    each(
        dtype=lambda: t.to(torch.int32),
        text=lambda: t.to("cpu"),
        both=lambda: t.to("cpu", torch.float64),
        other=lambda: t.to(torch.ones(1).double()),
        copy=lambda: t.to(torch.float32, copy=True) is t,
        keyword=lambda: t.to(dtype=torch.bool),
        device=lambda: t.to(device="cpu") is t,
        none=lambda: t.to(),
        type_as=lambda: t.type_as(torch.ones(1).long()),
        kind=lambda: t.type(torch.float64),
        kind_text=lambda: t.type("torch.LongTensor"),
        bad=lambda: t.to(5.5),
    )


def a_cast_carries_the_gradient() -> None:
    x = torch.tensor([1.5, 2.5], requires_grad=True)
    x.double().mul(2).sum().backward()
    print(x.grad)
    print(x.long().requires_grad, x.half().requires_grad, x.bool().requires_grad)


def copies_by_module_copy() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 2).sum().backward()
    for y in (copy.copy(x), copy.deepcopy(x)):
        print(y, y.grad, y is x, y.data_ptr() == x.data_ptr(), y.is_leaf)
    each(
        nonleaf=lambda: copy.deepcopy(x * 2),
        no_grad=lambda: copy.deepcopy((x * 2).detach()),
        parameter=lambda: copy.deepcopy(torch.nn.Parameter(torch.ones(1))),
    )


def deepcopy_keeps_sharing_within_one_object() -> None:
    x = torch.zeros(4)
    pair = {"base": x, "view": x[:2], "same": x}
    twin = copy.deepcopy(pair)
    twin["base"][0] = 9
    print(twin, x, twin["base"] is twin["same"])


def clone_and_its_gradient() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    print(y, y.is_leaf, y.data_ptr() == x.data_ptr())
    y.sum().backward()
    print(
        x.grad,
        x.t().clone().stride(),
        torch.zeros(2, 3).t().clone().stride(),
        torch.zeros(2, 3).t().clone(memory_format=torch.contiguous_format).stride(),
    )


def pickles_come_back_equal() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for t in (
        x,
        torch.arange(3),
        torch.tensor([True]),
        torch.zeros(2, 3).t(),
        torch.tensor(1j),
        torch.nn.Parameter(torch.ones(1)),
        torch.zeros(0),
    ):
        twin = pickle.loads(pickle.dumps(t))
        print(twin, twin.dtype, twin.stride(), twin.requires_grad, type(twin).__name__)
    outcome(lambda: pickle.loads(pickle.dumps(x * 2)))
    print(
        pickle.loads(pickle.dumps(torch.float32)) is torch.float32,
        pickle.loads(pickle.dumps(torch.Size([1, 2]))),
    )


def pickles_keep_shared_memory() -> None:
    x = torch.zeros(4)
    a, b = pickle.loads(pickle.dumps((x, x[:2])))
    b[0] = 7
    print(a, a.data_ptr() == b.data_ptr())


def factories() -> None:
    each(
        zeros=lambda: torch.zeros(2, 3),
        ones=lambda: torch.ones((2,)),
        full=lambda: torch.full((2, 2), 7),
        full_float=lambda: torch.full((2,), 1.5),
        full_bool=lambda: torch.full((1,), True),
        full_cplx=lambda: torch.full((1,), 1j),
        eye=lambda: torch.eye(2, 3),
        empty=lambda: torch.empty(0, 3),
        size=lambda: torch.zeros(torch.Size([1, 2])),
        scalar=lambda: torch.zeros(()),
        kw=lambda: torch.zeros(size=(2,), dtype=torch.int8),
        empty_shape=lambda: torch.empty(2, 5, dtype=torch.int16).shape,
        strided=lambda: torch.empty_strided((2, 3), (1, 2)).stride(),
        nothing=lambda: torch.zeros(),
        scalar_tensor=lambda: torch.scalar_tensor(3),
    )


def ranges() -> None:
    each(
        arange=lambda: torch.arange(5),
        start=lambda: torch.arange(2, 5),
        step=lambda: torch.arange(0, 1, 0.25),
        back=lambda: torch.arange(5, 0, -2),
        floats=lambda: torch.arange(3.0),
        dtype=lambda: torch.arange(3, dtype=torch.float64),
        kw=lambda: torch.arange(start=1, end=4, step=2),
        linspace=lambda: torch.linspace(0, 1, 5),
        one=lambda: torch.linspace(3, 9, 1),
        ints=lambda: torch.linspace(0, 10, 4, dtype=torch.int64),
        logspace=lambda: torch.logspace(0, 2, 3),
        base=lambda: torch.logspace(0, 3, 4, base=2),
        old=lambda: torch.range(0, 2),
        empty=lambda: torch.arange(0),
        tensors=lambda: torch.arange(torch.tensor(3)),
        tiny=lambda: torch.arange(0, 0.3, 0.1),
    )


def factories_like_another() -> None:
    x = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    each(
        zeros=lambda: torch.zeros_like(x),
        ones=lambda: torch.ones_like(x, dtype=torch.int32),
        full=lambda: torch.full_like(x, 5),
        empty=lambda: torch.empty_like(x).shape,
        rand=lambda: torch.rand_like(x).shape,
        grad=lambda: torch.zeros_like(x, requires_grad=True),
        new_zeros=lambda: x.new_zeros(2),
        new_ones=lambda: x.new_ones((1, 2)),
        new_full=lambda: x.new_full((2,), 3),
        new_tensor=lambda: x.new_tensor([1, 2]),
        new_empty=lambda: x.new_empty(3).shape,
        new=lambda: x.new(2).dtype,
        strides=lambda: torch.zeros_like(x.t()).stride(),
    )


def complex_construction() -> None:
    re, im = torch.tensor([1.0, 2.0]), torch.tensor([3.0, -4.0])
    z = torch.complex(re, im)
    each(
        z=lambda: z,
        real=lambda: z.real,
        imag=lambda: z.imag,
        conj=lambda: z.conj(),
        abs=lambda: z.abs(),
        angle=lambda: z.angle(),
        polar=lambda: torch.polar(re, im),
        as_real=lambda: torch.view_as_real(z),
        as_complex=lambda: torch.view_as_complex(torch.ones(2, 2)),
        real_of_real=lambda: re.real is re,
        imag_of_real=lambda: re.imag,
        is_conj=lambda: z.conj().is_conj(),
        resolve=lambda: z.conj().resolve_conj(),
        mixed=lambda: torch.complex(re, im.double()),
    )


def parameters_are_tensors() -> None:
    x = torch.ones(2)
    p = torch.nn.Parameter(x)
    print(
        p,
        isinstance(p, torch.Tensor),
        type(p).__name__,
        p.data_ptr() == x.data_ptr(),
        type(p * 1).__name__,
        type(p.data).__name__,
    )
    print(
        torch.nn.Parameter(p),
        torch.nn.Parameter(x, False),
        torch.nn.Parameter().shape,
        torch.nn.Parameter(x * p.detach()).is_leaf,
    )


def subclasses_keep_their_type() -> None:
    class Named(torch.Tensor):
        pass

    x = torch.ones(2).as_subclass(Named)
    print(type(x).__name__, type(x + 1).__name__, type(x.sum()).__name__, type(x[0]).__name__, x)
    print(
        type(torch.Tensor._make_subclass(Named, torch.ones(1))).__name__,
        isinstance(x, torch.Tensor),
    )


def torch_function_sees_every_call() -> None:
    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            print(getattr(function, "__name__", function), [t.__name__ for t in types])
            return super().__torch_function__(function, types, args, kwargs or {})

    x = torch.ones(2).as_subclass(Logged)
    y = x + 1
    torch.exp(y)
    y.sum()
    torch.add(1, x) if False else torch.add(torch.ones(2), x)


def objects_with_array_interface() -> None:
    class Box:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)

    each(
        tensor=lambda: torch.tensor(Box()),
        as_tensor=lambda: torch.as_tensor(Box()),
        buffer=lambda: torch.frombuffer(bytearray(b"\x01\x02\x03"), dtype=torch.uint8),
        dlpack=lambda: torch.from_dlpack(np.arange(3)),
        memory=lambda: torch.tensor(memoryview(b"ab")),
        asarray=lambda: torch.asarray([1, 2]),
        bytes_io=lambda: io.BytesIO().getvalue(),
    )


def sizes_are_tuples() -> None:
    s = torch.zeros(2, 3, 4).shape
    print(
        s,
        s[0],
        s[-1],
        s[1:],
        s + (5,),
        s == (2, 3, 4),
        s.numel(),
        len(s),
        hash(s) == hash((2, 3, 4)),
        isinstance(s, tuple),
    )
    print(
        torch.Size([1, 2]),
        torch.Size(),
        list(s),
        torch.zeros(2, 3).size(),
        torch.zeros(2, 3).size(1),
        s.count(2),
        type(s[1:]).__name__,
    )
    a, b, c = s
    print(a, b, c, f"{s}", (5,) + s, s * 2)


def attributes_of_a_tensor() -> None:
    x = torch.zeros(2, 3, 4)
    print(
        x.ndim,
        x.dim(),
        x.ndimension(),
        x.numel(),
        x.nelement(),
        x.element_size(),
        x.nbytes,
        x.itemsize,
        x.layout,
        x.device,
        x.is_cuda,
        x.is_sparse,
    )
    print(
        x.is_contiguous(),
        x.storage_offset(),
        x.stride(1),
        len(x),
        x.shape,
        x.is_signed(),
        x.is_complex(),
        x.T.shape if x.ndim == 2 else None,
        x.is_meta,
        x.requires_grad,
        x.retains_grad,
    )


def sizes_that_no_memory_has() -> None:
    x = torch.empty(())
    each(
        many=lambda: torch.empty(2**31, 2**31),
        none_of_many=lambda: torch.zeros(0, 2**40, 2**40),
        resized=lambda: torch.empty(()).resize_(2**31, 2**31),
        resized_to_none=lambda: torch.empty(()).resize_(0, 4, 2**61),
        uncounted=lambda: torch.empty(()).resize_(2**32, 2**32),
        without_data=lambda: torch.empty(2**31, 2**31, device="meta"),
        reshaped=lambda: torch.empty(0).reshape(2**32, 2**32),
        fewer_strides=lambda: torch.empty_strided((2, 3), (1,)),
        more_strides=lambda: x.new_empty_strided((2,), (1, 2)),
        backwards=lambda: torch.empty_strided((2, 3), (1, -1)),
        of_a_model=lambda: x.to("meta").new_empty_strided((2, 3), (3, 1)),
        of_no_elements=lambda: torch.empty_strided((0, 2), (5, 3), device="meta").stride(),
    )
