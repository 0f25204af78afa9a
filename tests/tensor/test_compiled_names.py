"""What `torch._C` has of its own: the base of tensors, warnings, dtypes of quantised numbers."""

from __future__ import annotations

import pytest

import rushlight as torch


def test_the_base_of_tensors_is_neither_made_nor_derived_from() -> None:
    base = torch._C.TensorBase
    assert isinstance(torch.ones(1), base)
    with pytest.raises(RuntimeError, match="Cannot directly construct"):
        base()
    with pytest.raises(RuntimeError, match="Cannot subclass _TensorBase directly"):
        type("Mine", (base,), {})
    assert type("Mine", (torch.Tensor,), {})().shape == (0,)


def test_warnings_on_request() -> None:
    with pytest.warns(UserWarning, match="TORCH_WARN"):
        torch._C._warn()
    with pytest.warns(DeprecationWarning, match="TORCH_WARN_DEPRECATION"):
        torch._C._warn_deprecation()


def test_quantised_numbers_dont_say_whether_they_have_a_sign() -> None:
    for name in ("qint8", "quint8", "qint32", "quint4x2", "quint2x4"):
        with pytest.raises(RuntimeError, match="not supported for quantized"):
            assert getattr(torch, name).is_signed is None
    assert torch.int8.is_signed and not torch.uint8.is_signed
    assert not hasattr(torch.int8, "sign")


def test_zeros_under_another_name() -> None:
    found = torch._efficientzerotensor(2, 3, dtype=torch.float64)
    assert found.dtype is torch.float64 and found.tolist() == [[0.0] * 3] * 2


def test_a_default_type_is_a_floating_one() -> None:
    for value in (torch.float32, 5, None, torch.Tensor, "torch.IntTensor"):
        with pytest.warns(UserWarning), pytest.raises(TypeError, match="only floating-point types"):
            torch.set_default_tensor_type(value)


def test_the_index_of_a_device_is_a_small_whole_number() -> None:
    for given in (("cpu", -1), ("cuda", -2), (-1,)):
        with pytest.raises(RuntimeError, match="must not be negative"):
            torch.device(*given)
    with pytest.raises(RuntimeError, match="Invalid device string: 'cuda:01'"):
        torch.device("cuda:01")
    with pytest.raises(RuntimeError, match="Could not parse device index"):
        torch.device("cuda:99999999999")
    assert torch.device("cuda:0").index == 0 and torch.device("cuda", 3).index == 3


def test_the_index_of_a_device_is_a_signed_byte() -> None:
    assert str(torch.device("cpu", 128)) == "cpu:-128"
    assert torch.device("cuda", 300) == torch.device("cuda:44")
    assert torch.device("cuda:255").index is None
    with pytest.raises(ValueError, match="Overflow when unpacking"):
        torch.device("cuda", 2**63)
    with pytest.raises(TypeError, match="must be int, not bool"):
        torch.device("cpu", True)
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none"):
        torch.device(0)


def test_a_random_module_lists_what_pytorch_lists() -> None:
    assert "Generator" not in torch.random.__all__ and torch.random.__all__[0] == "set_rng_state"


def test_the_first_point_of_a_sequence_is_always_made() -> None:
    engine = torch.quasirandom.SobolEngine(2)
    with pytest.raises(RuntimeError, match=r"negative dimension -1: \[-1, 2\]"):
        engine.draw(0)
    assert engine.draw(2).shape == (2, 2) and engine.draw(0).shape == (0, 2)
