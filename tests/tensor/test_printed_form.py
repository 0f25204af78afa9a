"""The printed form of arrays, rule by rule, against texts recorded from PyTorch 2.13."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rushlight._array import printing as text

nan, inf = float("nan"), float("inf")


def raw_array(values: Any, dtype: str) -> Any:
    if dtype == "bfloat16" or dtype.startswith("float8"):
        small_floats = pytest.importorskip("ml_dtypes")
        return np.array(values, dtype=np.float64).astype(getattr(small_floats, dtype))
    return np.array(values, dtype=dtype)


def shown(
    values: Any,
    dtype: str = "float32",
    *,
    suffixes: list[str] | None = None,
    default_dtype: str = "float32",
    name: str = "tensor",
    **options: Any,
) -> str:
    return text.tensor_text(
        raw_array(values, dtype),
        dtype,
        suffixes=suffixes,
        default_dtype=default_dtype,
        name=name,
        options=text.PrintOptions(**options),
    )


def test_whole_floats_end_in_a_point() -> None:
    assert shown([1.0, -2.0, 100.0]) == "tensor([  1.,  -2., 100.])"
    assert shown(3.0) == "tensor(3.)"
    assert shown([0.0, -0.0]) == "tensor([0., -0.])"


def test_one_fraction_gives_every_float_the_full_precision() -> None:
    assert shown([1.0, 2.5, -0.0]) == "tensor([1.0000, 2.5000, -0.0000])"
    assert shown(2.5) == "tensor(2.5000)"
    assert (
        shown([0.12345678, 123.456], "float64", precision=6)
        == "tensor([  0.123457, 123.456000], dtype=torch.float64)"
    )
    assert shown([0.5, 1.5, 2.5], precision=0) == "tensor([0, 2, 2])"


def test_integers_stand_in_a_common_column() -> None:
    assert shown([1, -20, 300], "int64") == "tensor([  1, -20, 300])"
    assert (
        shown([[1, 2], [30, 4]], "int32")
        == """\
tensor([[ 1,  2],
        [30,  4]], dtype=torch.int32)"""
    )
    assert shown([0, 255], "uint8") == "tensor([  0, 255], dtype=torch.uint8)"
    assert (
        shown([1, 9223372036854775813], "uint64")
        == "tensor([                  1, 9223372036854775813], dtype=torch.uint64)"
    )
    assert shown(-128, "int8") == "tensor(-128, dtype=torch.int8)"


def test_bools_stand_in_a_common_column() -> None:
    assert shown([True, False], "bool") == "tensor([ True, False])"
    assert shown([True, True], "bool") == "tensor([True, True])"
    assert shown(False, "bool") == "tensor(False)"


def test_an_infinity_or_a_nan_leaves_whole_numbers_whole() -> None:
    assert shown([1.0, nan, inf, -inf]) == "tensor([1., nan, inf, -inf])"
    assert (
        shown([[0.0, nan], [1.0, 100.0]])
        == """\
tensor([[  0.,  nan],
        [  1., 100.]])"""
    )
    assert shown(nan) == "tensor(nan)"


def test_a_ratio_above_a_thousand_turns_to_scientific_notation() -> None:
    assert shown([1000.0, 1.0]) == "tensor([1000.,    1.])"
    assert shown([1001.0, 1.0]) == "tensor([1.0010e+03, 1.0000e+00])"
    assert shown([1000.5, 1.0]) == "tensor([1.0005e+03, 1.0000e+00])"
    assert shown([0.0, 999.5, 1.0]) == "tensor([  0.0000, 999.5000,   1.0000])"


def test_a_value_above_a_hundred_million_turns_to_scientific_notation() -> None:
    assert shown([1e8]) == "tensor([100000000.])"
    assert shown([100000008.0]) == "tensor([1.0000e+08])"
    assert shown([123456789.0], "float64") == "tensor([1.2346e+08], dtype=torch.float64)"
    assert shown(99999999.5, "float64") == "tensor(99999999.5000, dtype=torch.float64)"


def test_a_fraction_below_a_ten_thousandth_turns_to_scientific_notation() -> None:
    assert shown([0.0001], "float64") == "tensor([0.0001], dtype=torch.float64)"
    assert shown([0.0001]) == "tensor([1.0000e-04])"
    assert shown([0.00005, 0.0, 0.01]) == "tensor([5.0000e-05, 0.0000e+00, 1.0000e-02])"
    assert (
        shown([5e-324, 1.7e308], "float64")
        == "tensor([4.9407e-324, 1.7000e+308], dtype=torch.float64)"
    )


def test_sci_mode_overrules_the_values() -> None:
    assert shown([0.0, 1.0, 25.0], sci_mode=True) == "tensor([0.0000e+00, 1.0000e+00, 2.5000e+01])"
    assert (
        shown([1e10, nan, 0.0, 1.0], sci_mode=False)
        == "tensor([10000000000.,          nan,           0.,           1.])"
    )
    assert shown([1e-10, nan, 1.5], sci_mode=False) == "tensor([0.0000,    nan, 1.5000])"
    assert shown([0.0, nan], sci_mode=True) == "tensor([0., nan])"
    assert shown([1, 2], "int64", sci_mode=True) == "tensor([1, 2])"
    assert shown([1.5, 2.5], sci_mode=True, precision=0) == "tensor([2e+00, 2e+00])"


def test_zeros_and_nans_have_no_width_when_lines_are_counted() -> None:
    assert (
        shown(np.zeros(9), linewidth=30)
        == """\
tensor([0., 0., 0., 0., 0., 0., 0.,
        0., 0.])"""
    )
    assert (
        shown(np.full(6, nan), linewidth=20)
        == """\
tensor([nan, nan, nan, nan,
        nan, nan])"""
    )


def test_complex_parts_choose_their_notation_apart() -> None:
    assert shown([1 + 2j, 3 - 4j], "complex64") == "tensor([1.+2.j, 3.-4.j])"
    assert shown([1 + 2j, 3.5 - 4j], "complex64") == "tensor([1.0000+2.j, 3.5000-4.j])"
    assert (
        shown([1e-5 + 2e9j, 3 - 4j], "complex64")
        == "tensor([1.0000e-05+2.0000e+09j, 3.0000e+00-4.0000e+00j])"
    )
    assert shown([1 + 2j, 100 - 200j], "complex64") == "tensor([  1.+2.j, 100.-200.j])"
    assert (
        shown([complex(nan, -inf), complex(-0.0, -0.0)], "complex64")
        == "tensor([nan-infj, -0.-0.j])"
    )
    assert shown(1.5 - 2j, "complex128") == "tensor(1.5000-2.j, dtype=torch.complex128)"
    assert (
        shown(np.full(6, 1.5 - 2.5j), "complex64")
        == """\
tensor([1.5000-2.5000j, 1.5000-2.5000j, 1.5000-2.5000j, 1.5000-2.5000j,
        1.5000-2.5000j, 1.5000-2.5000j])"""
    )


def test_small_float_types_print_as_floats() -> None:
    assert shown([1.5, 2.0], "float16") == "tensor([1.5000, 2.0000], dtype=torch.float16)"
    assert (
        shown([65504.0, 6e-8], "float16") == "tensor([6.5504e+04, 5.9605e-08], dtype=torch.float16)"
    )
    assert (
        shown([1.5, 2.0, 0.1], "bfloat16")
        == "tensor([1.5000, 2.0000, 0.1001], dtype=torch.bfloat16)"
    )
    assert (
        shown([1.5, 2.0, nan], "float8_e4m3fn")
        == "tensor([1.5000, 2.0000,    nan], dtype=torch.float8_e4m3fn)"
    )
    assert shown([1.0, 2.0, inf], "float8_e5m2") == "tensor([1., 2., inf], dtype=torch.float8_e5m2)"
    assert (
        shown([1.0, nan], "float8_e8m0fnu")
        == "tensor([1.0000,    nan], dtype=torch.float8_e8m0fnu)"
    )
    assert (
        shown([2.0**-127, 1.0], "float8_e8m0fnu") == "tensor([0., 1.], dtype=torch.float8_e8m0fnu)"
    )


def test_a_long_row_breaks_under_its_first_element() -> None:
    assert (
        shown(np.arange(30), "int64")
        == """\
tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,
        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])"""
    )
    assert (
        shown(np.arange(24).reshape(2, 12) / 4.0)
        == """\
tensor([[0.0000, 0.2500, 0.5000, 0.7500, 1.0000, 1.2500, 1.5000, 1.7500, 2.0000,
         2.2500, 2.5000, 2.7500],
        [3.0000, 3.2500, 3.5000, 3.7500, 4.0000, 4.2500, 4.5000, 4.7500, 5.0000,
         5.2500, 5.5000, 5.7500]])"""
    )
    assert (
        shown([[1, 2], [3, 4]], "int64", linewidth=10)
        == """\
tensor([[1,
         2],
        [3,
         4]])"""
    )
    assert (
        shown([1.5, 2.5], linewidth=0)
        == """\
tensor([1.5000,
        2.5000])"""
    )


def test_outer_dimensions_are_set_apart_by_blank_lines() -> None:
    assert (
        shown(np.arange(8).reshape(2, 2, 2), "int64")
        == """\
tensor([[[0, 1],
         [2, 3]],

        [[4, 5],
         [6, 7]]])"""
    )
    assert (
        shown(np.arange(4).reshape(2, 1, 2, 1), "int64")
        == """\
tensor([[[[0],
          [1]]],


        [[[2],
          [3]]]])"""
    )


def test_more_elements_than_the_threshold_are_summarised() -> None:
    assert shown(np.arange(1000)[:4], "int64", threshold=3, edgeitems=1) == "tensor([0,  ..., 3])"
    assert shown(np.arange(1001), "int64") == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    assert (
        shown(np.arange(2000))
        == """\
tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.9970e+03, 1.9980e+03,
        1.9990e+03])"""
    )
    assert (
        shown(np.arange(2000).reshape(1000, 2), "int64")
        == """\
tensor([[   0,    1],
        [   2,    3],
        [   4,    5],
        ...,
        [1994, 1995],
        [1996, 1997],
        [1998, 1999]])"""
    )
    assert (
        shown(np.arange(64).reshape(8, 8), "int64", threshold=10)
        == """\
tensor([[ 0,  1,  2,  ...,  5,  6,  7],
        [ 8,  9, 10,  ..., 13, 14, 15],
        [16, 17, 18,  ..., 21, 22, 23],
        ...,
        [40, 41, 42,  ..., 45, 46, 47],
        [48, 49, 50,  ..., 53, 54, 55],
        [56, 57, 58,  ..., 61, 62, 63]])"""
    )
    assert (
        shown(np.arange(60).reshape(3, 4, 5), "int64", threshold=10, edgeitems=1)
        == """\
tensor([[[ 0,  ...,  4],
         ...,
         [15,  ..., 19]],

        ...,

        [[40,  ..., 44],
         ...,
         [55,  ..., 59]]])"""
    )
    assert (
        shown(np.arange(6).reshape(2, 3), "int64", threshold=0)
        == """\
tensor([[0, 1, 2],
        [3, 4, 5]])"""
    )


def test_only_the_shown_elements_decide_the_notation() -> None:
    assert shown([1.0, 0.5e-9, 2.0], threshold=0, edgeitems=1) == "tensor([1.,  ..., 2.])"
    assert shown([10, 123456, 20], "int64", threshold=0, edgeitems=1) == "tensor([10,  ..., 20])"


def test_without_edge_items_a_summary_gives_the_size() -> None:
    assert shown(np.arange(7), "int64", threshold=0, edgeitems=0) == "tensor([...], size=(7,))"
    assert (
        shown(np.arange(6).reshape(2, 3), "int64", threshold=0, edgeitems=0)
        == "tensor([...], size=(2, 3))"
    )
    assert (
        shown([1.0, 2.0], "float64", edgeitems=0)
        == "tensor([1., 2.], size=(2,), dtype=torch.float64)"
    )
    assert shown(3, "int64", edgeitems=0) == "tensor(3, size=())"
    assert shown(np.zeros((0, 3)), edgeitems=0) == "tensor([], size=(0, 3))"


def test_an_empty_tensor_gives_its_size_unless_it_has_one_dimension() -> None:
    assert shown([]) == "tensor([])"
    assert shown(np.zeros((0, 3))) == "tensor([], size=(0, 3))"
    assert (
        shown(np.zeros((2, 0, 3)), "complex64")
        == "tensor([], size=(2, 0, 3), dtype=torch.complex64)"
    )
    assert shown([], "int64") == "tensor([], dtype=torch.int64)"
    assert (
        shown(np.zeros((3, 0)), "float64", suffixes=["requires_grad=True"])
        == "tensor([], size=(3, 0), dtype=torch.float64, requires_grad=True)"
    )


def test_a_dtype_that_the_values_do_not_tell_is_added() -> None:
    assert shown([1.0], "float64") == "tensor([1.], dtype=torch.float64)"
    assert shown([1], "int32") == "tensor([1], dtype=torch.int32)"
    assert shown([1 + 1j], "complex128") == "tensor([1.+1.j], dtype=torch.complex128)"
    assert shown([1.0], "float64", default_dtype="float64") == "tensor([1.])"
    assert shown([1.0], default_dtype="float64") == "tensor([1.], dtype=torch.float32)"
    assert shown([1 + 1j], "complex128", default_dtype="float64") == "tensor([1.+1.j])"
    assert shown([1 + 1j], "complex64", default_dtype="bfloat16") == "tensor([1.+1.j])"
    assert shown([], "complex64") == "tensor([], dtype=torch.complex64)"


def test_a_suffix_that_passes_the_line_width_begins_a_new_line() -> None:
    assert (
        shown(np.arange(12) + 0.5, "float64")
        == """\
tensor([ 0.5000,  1.5000,  2.5000,  3.5000,  4.5000,  5.5000,  6.5000,  7.5000,
         8.5000,  9.5000, 10.5000, 11.5000], dtype=torch.float64)"""
    )
    assert (
        shown([1.0], suffixes=["grad_fn=<AddBackward0>"]) == "tensor([1.], grad_fn=<AddBackward0>)"
    )
    assert (
        shown(np.arange(7) + 0.5, "float64", suffixes=["requires_grad=True"])
        == """\
tensor([0.5000, 1.5000, 2.5000, 3.5000, 4.5000, 5.5000, 6.5000],
       dtype=torch.float64, requires_grad=True)"""
    )
    assert (
        shown(np.arange(8) / 8.0, suffixes=["grad_fn=<SoftmaxBackward>"])
        == """\
tensor([0.0000, 0.1250, 0.2500, 0.3750, 0.5000, 0.6250, 0.7500, 0.8750],
       grad_fn=<SoftmaxBackward>)"""
    )
    assert (
        shown([[1.0, 2.0], [3.0, 4.0]], "float64", suffixes=["requires_grad=True"], linewidth=40)
        == """\
tensor([[1., 2.],
        [3., 4.]], dtype=torch.float64,
       requires_grad=True)"""
    )
    assert (
        shown([[1.0, 2.0], [3.0, 4.0]], "float64", suffixes=["requires_grad=True"], linewidth=56)
        == """\
tensor([[1., 2.],
        [3., 4.]], dtype=torch.float64,
       requires_grad=True)"""
    )
    assert (
        shown([[1.0, 2.0], [3.0, 4.0]], "float64", suffixes=["requires_grad=True"], linewidth=55)
        == """\
tensor([[1., 2.],
        [3., 4.]], dtype=torch.float64,
       requires_grad=True)"""
    )
    assert (
        shown([[1.0, 2.0], [3.0, 4.0]], "float64", suffixes=["requires_grad=True"], linewidth=64)
        == """\
tensor([[1., 2.],
        [3., 4.]], dtype=torch.float64, requires_grad=True)"""
    )
    assert (
        shown([[1.0, 2.0], [3.0, 4.0]], "float64", suffixes=["requires_grad=True"], linewidth=66)
        == """\
tensor([[1., 2.],
        [3., 4.]], dtype=torch.float64, requires_grad=True)"""
    )
    assert (
        shown([[1.0, 2.0], [3.0, 4.0]], "float64", suffixes=["requires_grad=True"], linewidth=67)
        == """\
tensor([[1., 2.],
        [3., 4.]], dtype=torch.float64, requires_grad=True)"""
    )


def test_a_subclass_name_moves_the_lines() -> None:
    assert (
        shown([[1.0], [2.0]], name="Weights")
        == """\
Weights([[1.],
         [2.]])"""
    )


def test_given_contents_replace_the_values() -> None:
    raw = np.zeros((3, 0))
    assert (
        text.tensor_text(raw, "float64", contents="XX")
        == "tensor(XX, size=(3, 0), dtype=torch.float64)"
    )


def test_the_device_comes_before_the_size_and_the_dtype() -> None:
    raw = np.zeros((3, 0))
    assert (
        text.tensor_text(raw, "float64", device="cuda:0")
        == "tensor([], device='cuda:0', size=(3, 0), dtype=torch.float64)"
    )


def test_a_text_without_values_is_assembled_from_its_parts() -> None:
    parts = ["device='meta'", f"size={text.size_text((3,))}"]
    assert text.assemble_text("...", parts) == "tensor(..., device='meta', size=(3,))"


def test_an_indent_moves_every_line_after_the_first() -> None:
    indices = text.tensor_text(np.array([[0, 1], [2, 0]]), "int64", name="indices=tensor", indent=7)
    values = text.tensor_text(np.array([3.0, 4.0]), "float32", name="values=tensor", indent=7)
    rest = "size=(2, 3), nnz=2, layout=torch.sparse_coo"
    assert (
        text.assemble_text(indices, [values, rest], a_line_each=True)
        == """\
tensor(indices=tensor([[0, 1],
                       [2, 0]]),
       values=tensor([3., 4.]),
       size=(2, 3), nnz=2, layout=torch.sparse_coo)"""
    )


def test_views_and_expanded_arrays_print_their_elements() -> None:
    raw = np.arange(6).reshape(2, 3)
    assert (
        text.tensor_text(raw.T[::-1], "int64")
        == """\
tensor([[2, 5],
        [1, 4],
        [0, 3]])"""
    )
    assert (
        text.tensor_text(np.broadcast_to(raw[:1, :2], (2, 2)), "int64")
        == """\
tensor([[0, 1],
        [0, 1]])"""
    )


def test_printing_a_large_array_formats_only_its_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    cells = text._cells

    def counted(values: Any, options: text.PrintOptions) -> tuple[list[str], int]:
        counts.append(values.size)
        return cells(values, options)

    monkeypatch.setattr(text, "_cells", counted)
    text.tensor_text(np.zeros((100, 100, 100)), "float64")
    text.tensor_text(np.broadcast_to(np.zeros(1), (1_000_000_000_000,)), "float64")
    assert counts == [216, 6]


def test_a_profile_comes_first_and_the_other_options_over_it() -> None:
    with text.printoptions():
        text.set_printoptions(linewidth=50, sci_mode=True)
        assert text.get_printoptions() == {
            "precision": 4,
            "threshold": 1000,
            "edgeitems": 3,
            "linewidth": 50,
            "sci_mode": True,
        }
        text.set_printoptions(profile="short", precision=7)
        assert text.get_printoptions() == {
            "precision": 7,
            "threshold": 1000,
            "edgeitems": 2,
            "linewidth": 80,
            "sci_mode": None,
        }
        text.set_printoptions(profile="full")
        assert text.get_printoptions()["threshold"] == inf
        text.set_printoptions(profile="no such profile", edgeitems=5)
        assert text.get_printoptions()["threshold"] == inf
        assert text.get_printoptions()["edgeitems"] == 5


def test_every_call_sets_sci_mode_anew() -> None:
    with text.printoptions(sci_mode=True):
        assert text.get_printoptions()["sci_mode"] is True
        text.set_printoptions(precision=3)
        assert text.get_printoptions()["sci_mode"] is None


def test_the_options_in_force_are_used_and_come_back_after_a_block() -> None:
    raw = np.array([0.125])
    before = text.get_printoptions()
    with pytest.raises(KeyError), text.printoptions(precision=2):
        assert text.tensor_text(raw, "float32") == "tensor([0.12])"
        with text.printoptions(precision=1):
            assert text.tensor_text(raw, "float32") == "tensor([0.1])"
        text.set_printoptions(threshold=7)
        raise KeyError
    assert text.get_printoptions() == before
    assert text.tensor_text(raw, "float32") == "tensor([0.1250])"


def test_changing_the_returned_options_changes_nothing() -> None:
    text.get_printoptions()["precision"] = 9
    assert text.get_printoptions()["precision"] == 4


def test_an_unknown_option_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'bogus'"):
        text.set_printoptions(bogus=1)  # type: ignore[call-arg]


def test_a_0d_element_formats_as_a_python_number() -> None:
    assert text.format_element(np.array(3.14159, "float32"), ".3f") == "3.142"
    assert text.format_element(np.array(3.14159, "float32"), "") == "3.141590118408203"
    assert text.format_element(np.array(3), "d") == "3"
    assert text.format_element(np.array(3), ".2f") == "3.00"
    assert text.format_element(np.array(True), "") == "True"
    assert text.format_element(np.array(True), ">8") == "       1"
    assert text.format_element(np.array(3 + 1j), ".2f") == "3.00+1.00j"
    assert text.format_element(raw_array(3.5, "bfloat16"), ".3f") == "3.500"


def test_formatting_more_than_an_element_raises() -> None:
    message = r"^unsupported format string passed to Tensor\.__format__$"
    with pytest.raises(TypeError, match=message):
        text.format_element(np.array([3.0]), ".3f")
    with pytest.raises(TypeError, match=r"passed to Parameter\.__format__$"):
        text.format_element(np.zeros(0), "d", class_name="Parameter")
    with pytest.raises(ValueError, match="Unknown format code 'd' for object of type 'float'"):
        text.format_element(np.array(3.0), "d")


def test_exactly_as_many_elements_as_the_threshold_are_all_shown() -> None:
    assert "..." not in shown(np.zeros(1000))
    assert "..." in shown(np.zeros(1001))
