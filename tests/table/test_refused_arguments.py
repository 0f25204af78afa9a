"""Arguments of a wrong kind, which PyTorch's bindings refuse: exceptions and texts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch

_LINES, _OFFSETS = torch.ones(2, 3), torch.tensor([0, 1])


def _diagonals(*args: object, **kwargs: object) -> object:
    return torch.sparse.spdiags(*args, **kwargs)


CALLS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: torch.autograd.set_detect_anomaly(3), TypeError,
     "set_anomaly_enabled(): argument 'enabled' (position 1) must be bool, not int"),
    (lambda: torch.autograd.set_detect_anomaly(True, "a"), TypeError,
     "set_anomaly_enabled(): argument 'check_nan' (position 2) must be bool, not str"),
    (lambda: torch.autograd.detect_anomaly(3).__enter__(), TypeError,
     "set_anomaly_enabled(): argument 'check_nan' (position 2) must be bool, not int"),
    (lambda: torch.autograd.set_multithreading_enabled(3), TypeError,
     "set_multithreading_enabled(): argument 'enabled' (position 1) must be bool, not int"),
    (lambda: torch.set_autocast_cache_enabled("a"), TypeError,
     "enabled must be a bool (got str)"),
    (lambda: torch.autograd.profiler.record_function(3).__enter__(), RuntimeError,
     "profiler::_record_function_enter_new() Expected a value of type 'str' for argument 'name'"),
    (lambda: torch.autograd.graph.disable_saved_tensors_hooks(3).__enter__(), TypeError,
     "_saved_tensors_hooks_disable(): incompatible function arguments."),
    (lambda: torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch("a"), RuntimeError,
     "enabled must be a bool, but got str"),
    (lambda: torch.ones(1).pin_memory(3), RuntimeError,
     "Cannot access accelerator device when none is available."),
    (lambda: torch.ones(1).pin_memory("cpu"), RuntimeError,
     "CPU device type not an accelerator."),
    (lambda: torch.futures.Future(devices=["cuda"]), RuntimeError,
     "PyTorch is not linked with support for cuda devices"),
    (lambda: torch.futures.Future(devices=["cpu"]), ValueError,
     "Expected devices to have indices, got cpu"),
    (lambda: torch.futures.Future(devices=["cuda", "cpu"]), ValueError,
     "Expected all devices to be of the same type, but got a mismatch between cuda and cpu"),
    (lambda: torch.autograd.Variable(3), TypeError,
     "Variable data has to be a tensor, but got int"),
    (lambda: torch.autograd.Variable(torch.ones(1), "a"), TypeError,
     "'str' object cannot be interpreted as an integer"),
    (lambda: torch.func.linearize(torch.sin, 3), TypeError,
     "sin(): argument 'input' (position 1) must be Tensor, not int"),
    (lambda: torch.func.linearize(lambda x: x, 3), AttributeError,
     "'int' object has no attribute 'new_empty'"),
    (lambda: torch.sparse.sum(3), TypeError,
     "_sparse_sum(): argument 'input' (position 1) must be Tensor, not int"),
    (lambda: torch.sparse.sum(torch.ones(3)), RuntimeError,
     "coalesce expected sparse coordinate tensor layout but got Strided"),
    (lambda: torch.sparse.sum(torch.eye(3).to_sparse(), (0, 0)), RuntimeError,
     "dim 0 appears multiple times in the list of dims"),
    (lambda: torch.sparse.sum(torch.eye(3).to_sparse(), 5), IndexError,
     "Dimension out of range (expected to be in range of [-2, 1], but got 5)"),
    (lambda: torch.jit.wait(3), TypeError, "wait(): incompatible function arguments."),
    (lambda: torch.jit.wait(None), RuntimeError, "Future can't be None"),
    (lambda: torch.sym_max(3, "a"), AssertionError,
     "expected (<class 'numpy.integer'>, <class 'numpy.floating'>, <class 'int'>, "
     "<class 'float'>), got <class 'str'>"),
    (lambda: torch.sym_min(None, 3), AssertionError, "expected (<class 'numpy.integer'>"),
    (lambda: torch.sym_sum({1, 2}), TypeError,
     "unsupported operand type(s) for +: 'int' and 'set'"),
    (lambda: torch.jit.CompilationUnit(3), TypeError,
     "__init__(): incompatible constructor arguments."),
    (lambda: torch.Generator("cuda"), RuntimeError,
     "Cannot get CUDA generator without ATen_cuda library."),
    (lambda: torch.Generator(1.5), TypeError,
     "Generator(): argument 'device' (position 1) must be torch.device, not float"),
    (lambda: torch.layout("a"), TypeError, "cannot create 'torch.layout' instances"),
    (lambda: torch.memory_format("a"), TypeError, "cannot create 'torch.memory_format' instances"),
    (lambda: torch.sparse.softmax(torch.eye(3).to_sparse(), 5), IndexError,
     "Dimension out of range (expected to be in range of [-2, 1], but got 5)"),
    (lambda: torch.sparse.log_softmax(torch.eye(3).to_sparse(), "a"), TypeError,
     "_sparse_log_softmax(): argument 'dim' (position 2) must be int, not str"),
    (lambda: _diagonals(_LINES, _OFFSETS, (3, 3, 3)), RuntimeError, "Output shape must be 2d"),
    (lambda: _diagonals(_LINES, _OFFSETS, 3), TypeError,
     "_spdiags(): argument 'shape' (position 3) must be tuple of ints, not int"),
    (lambda: _diagonals(_LINES, _OFFSETS, (3, 3), torch.strided), RuntimeError,
     "Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got Strided"),
    (lambda: _diagonals(_LINES, _OFFSETS, (3, 3), layout=3), TypeError,
     "_spdiags(): argument 'layout' must be torch.layout, not int"),
    (lambda: _diagonals(_LINES, torch.tensor([1, 1]), (3, 3)), RuntimeError,
     "Offset tensor contains duplicate values"),
    (lambda: _diagonals(torch.ones(3, 3), _OFFSETS, (3, 3)), RuntimeError,
     "Number of diagonals (3) does not match the number of offsets (2)"),
    (lambda: _diagonals(_LINES, _OFFSETS.int(), (3, 3)), RuntimeError,
     "Offset Tensor must have dtype Long but got Int"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.filterwarnings("ignore:The argument 'device' of Tensor:DeprecationWarning")
@pytest.mark.parametrize("call", range(len(CALLS)))
def test_what_bindings_refuse(call: int) -> None:
    function, kind, text = CALLS[call]
    with pytest.raises(kind) as caught:
        function()
    assert type(caught.value) is kind
    assert str(caught.value).startswith(text)
    assert not torch.is_anomaly_enabled()


def test_diagonals_have_the_layout_that_is_asked_for() -> None:
    plain = torch.sparse.spdiags(_LINES, _OFFSETS, (3, 3))
    for layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
        made = torch.sparse.spdiags(_LINES, _OFFSETS, (3, 3), layout)
        assert made.layout is layout
        assert torch.equal(made.to_dense(), plain.to_dense())
    none = torch.sparse.spdiags(torch.ones(0, 3), torch.zeros(0, dtype=torch.int64), (3, 3))
    assert none._nnz() == 0


_HALF = torch.ones(2).half()


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: torch._standard_gamma(_HALF), '"gamma_cpu" not implemented for \'Half\''),
        (lambda: torch._sample_dirichlet(_HALF), '"dirichlet" not implemented for \'Half\''),
        (lambda: torch._sample_dirichlet(torch.ones(0).bfloat16()),
         '"dirichlet" not implemented for \'BFloat16\''),
        (lambda: torch._standard_gamma_grad(_HALF, _HALF),
         '"_standard_gamma_grad_cpu" not implemented for \'Half\''),
        (lambda: torch._dirichlet_grad(_HALF, _HALF, _HALF),
         '"_dirichlet_grad_cpu" not implemented for \'Half\''),
        (lambda: torch._dirichlet_grad(*[torch.ones(2).int()] * 3),
         '"_dirichlet_grad_cpu" not implemented for \'Int\''),
        (lambda: torch.distributions.Gamma(_HALF, _HALF).sample(),
         '"gamma_cpu" not implemented for \'Half\''),
    ],
)  # fmt: skip
def test_gamma_numbers_have_single_or_double_precision(
    call: Callable[[], object], text: str
) -> None:
    with pytest.raises(NotImplementedError) as caught:
        call()
    assert str(caught.value) == text


def test_derivatives_of_gamma_numbers_have_operands_of_one_type() -> None:
    one = torch.ones(2)
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        torch._standard_gamma_grad(one, one.double())
    with pytest.raises(RuntimeError, match="Found dtype Half but expected Float"):
        torch._dirichlet_grad(one, one.half(), one)
    with pytest.raises(RuntimeError, match=r"tensor a \(2\) must match the size of tensor b \(3\)"):
        torch._standard_gamma_grad(one, torch.ones(3))


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64])
@pytest.mark.parametrize("count", [None, 0, 1, 2])
def test_powers_of_wide_unsigned_numbers_have_no_type(
    dtype: torch.dtype, count: int | None
) -> None:
    name = str(dtype).removeprefix("torch.").replace("ui", "UI")
    with pytest.raises(RuntimeError) as caught:
        torch.vander(torch.tensor([0, 1, 2]).to(dtype), count)
    assert str(caught.value).startswith("Promotion for uint16, uint32, uint64 types")
    assert str(caught.value).endswith(f"attempted to promote {name} and Long")
    assert torch.vander(torch.tensor([1, 2], dtype=torch.uint8)).dtype is torch.int64


def test_a_storage_is_of_the_type_that_is_asked_for_or_the_default() -> None:
    for make in (torch.tensor, torch.as_tensor, torch.asarray):
        whole = torch.ones(3).int()._typed_storage()
        with pytest.raises(RuntimeError, match=r"Expected a Storage of type Float .* but got Int"):
            make(whole)
        assert make(whole, dtype=torch.int32).tolist() == [1, 1, 1]
        assert make(torch.ones(3)._typed_storage()).tolist() == [1, 1, 1]
