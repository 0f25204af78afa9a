"""The memory behind tensors, and operations on lists of tensors."""

import copy
import gc
import pathlib
import warnings
import weakref

import pytest

import rushlight as torch

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")


def test_bytes_written_to_a_storage_are_seen_in_the_tensor() -> None:
    x = torch.arange(3, dtype=torch.uint8)
    x.untyped_storage()[1] = 9
    assert x.tolist() == [0, 9, 2]


def test_views_share_one_storage_and_copies_do_not() -> None:
    x = torch.arange(6.0)
    own = x.untyped_storage()
    assert x.view(2, 3).t()[1].untyped_storage() is own
    assert x.clone().untyped_storage() is not own
    assert own.nbytes() == 24


def test_a_storage_with_attributes_lives_as_long_as_its_tensor() -> None:
    class Mine(torch.UntypedStorage):
        pass

    x, y = torch.ones(2), torch.tensor(Mine(8))
    x.untyped_storage().note = "kept"
    gone = weakref.ref(x.untyped_storage())
    assert x.untyped_storage().note == "kept"
    assert type(y.untyped_storage()) is Mine
    del x
    assert gone() is None


def test_only_classes_made_from_the_base_have_instances() -> None:
    with pytest.raises(RuntimeError, match="Cannot directly construct StorageBase"):
        torch.StorageBase()

    class Slotted(torch.StorageBase):
        __slots__ = ("extra",)

    assert Slotted(torch.UntypedStorage(2)) is not None


def test_bytes_are_read_and_written_within_bounds() -> None:
    s = torch.UntypedStorage([1, 2, 300, -1])
    assert s.tolist() == [1, 2, 44, 255]
    s[1:3] = 7
    s[-1] = 256
    assert s[:3].tolist() == [1, 7, 7] and s[-1] == 0
    with pytest.raises(IndexError, match="index 4 out of range for storage of size 4"):
        s[4]
    with pytest.raises(RuntimeError, match="with a step of 2, but only a step of 1"):
        s[::2]
    with pytest.raises(RuntimeError, match="storage content with a int types, but got float"):
        s[0] = 1.0
    with pytest.raises(TypeError, match=r"can't index a torch\.UntypedStorage with str"):
        s["a"]


def test_the_bytes_of_elements_are_turned() -> None:
    s = torch.UntypedStorage(list(range(8)))
    s.byteswap(torch.complex64)
    assert s.tolist() == [3, 2, 1, 0, 7, 6, 5, 4]
    with pytest.raises(RuntimeError, match="the length of data is not a multiple of 8"):
        s[:4].byteswap(torch.float64)


def test_storages_without_data() -> None:
    s = torch.TypedStorage([1, 2], dtype=torch.int16, device="meta")
    assert s.device.type == "meta" and s.size() == 2 and s.nbytes() == 4 and s.data_ptr() == 0
    assert torch.ones(3, device="meta").storage().device.type == "meta"
    for call in (lambda: s[0], s.tolist, lambda: s.untyped()[0]):
        with pytest.raises(NotImplementedError, match="Not available for 'meta' device type"):
            call()
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        s.cpu()
    with pytest.raises(RuntimeError, match="only available on CPU"):
        s.share_memory_()


def test_old_classes_make_storages_of_their_type() -> None:
    s = torch.FloatStorage([1, 2, 3])
    assert type(s) is torch.TypedStorage and isinstance(s, torch.FloatStorage)
    assert not isinstance(s, torch.IntStorage) and torch.FloatStorage.dtype is torch.float32
    assert s.type() == "torch.FloatStorage" and torch.ones(1).storage_type() is torch.FloatStorage
    s[1:] = 9
    assert s.tolist() == [1.0, 9.0, 9.0] and s.int().dtype is torch.int32
    q = torch.QInt8Storage([1, 2])
    q[0] = 5
    assert q[0] == 5
    with pytest.raises(RuntimeError, match="'dtype' cannot be specified"):
        torch.FloatStorage(dtype=torch.float32)
    with pytest.raises(RuntimeError, match="slices are only supported in UntypedStorage"):
        s[:2]
    with pytest.raises(TypeError, match="Argument type not recognized"):
        torch.TypedStorage(torch.ones(1))


def test_tensors_are_made_over_a_storage() -> None:
    s = torch.arange(4.0).untyped_storage()
    for made in (
        torch.tensor(s, dtype=torch.float32),
        torch.FloatTensor(s),
        torch.ones(1).new(s),
        torch.empty(0).set_(s),
    ):
        assert made.tolist() == [0.0, 1.0, 2.0, 3.0] and made.untyped_storage() is s
    assert torch.tensor(s).dtype is torch.int64
    ints = torch.IntStorage([1])
    with pytest.raises(RuntimeError, match="Storage of type Float or an UntypedStorage, but got"):
        torch.FloatTensor(ints)
    with pytest.raises(RuntimeError, match=r"of type float or an .*, but got type Int for"):
        torch.empty(0).set_(ints)


def test_a_storage_grows_for_what_is_set_to_it() -> None:
    a = torch.arange(2.0)
    b = torch.empty(0).set_(a.untyped_storage(), 1, (3,))
    assert b.tolist() == [1.0, 0.0, 0.0] and a.untyped_storage().nbytes() == 16
    b[0] = 7.0
    assert a.tolist() == [0.0, 7.0]
    with pytest.raises(RuntimeError, match="requiring a storage size of 28 are out of bounds"):
        torch.empty(3).set_(a.untyped_storage(), 4, (3,))
    with pytest.raises(RuntimeError, match="invalid storage offset -1"):
        b.set_(a, -1, (1,))
    with pytest.raises(RuntimeError, match=r"unequal size length \(1\) and stride length \(2\)"):
        b.set_(a, 0, (1,), (1, 1))


def test_memory_moves_past_objects_that_hide_their_class() -> None:
    class Hiding:
        @property
        def __class__(self) -> type:
            raise RuntimeError("asked for its class")

    hiding = Hiding()
    a = torch.arange(2.0)
    b = torch.empty(0).set_(a.untyped_storage(), 1, (3,))
    b[0] = 7.0
    assert a.tolist() == [0.0, 7.0] and type(hiding) is Hiding


def test_memory_moves_for_tensors_the_collector_has_frozen() -> None:
    a = torch.arange(2.0)
    gc.freeze()
    b = torch.empty(0).set_(a.untyped_storage(), 1, (3,))
    b[0] = 7.0
    assert a.tolist() == [0.0, 7.0]


def test_copies_share_memory_as_the_originals_do() -> None:
    a = torch.arange(4.0)
    x, s, y = copy.deepcopy([a, a.storage(), a.view(torch.int32)[2:]])
    x[2] = 0.0
    assert s[2] == 0.0 and y[0] == 0 and a[2] == 2.0


def test_sharing_a_storage_moves_all_who_look_at_it() -> None:
    a = torch.arange(3.0)
    part = a[1:]
    assert a.untyped_storage().share_memory_().is_shared()
    part[0] = 5.0
    assert part.is_shared() and a.tolist() == [0.0, 5.0, 2.0]


def test_the_warning_is_given_once_or_always() -> None:
    torch.storage._reset_warn_typed_storage_removal()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.ones(1).storage().size()
        assert len(seen) == 1 and seen[0].filename == __file__
        torch.storage._set_always_warn_typed_storage_removal(True)
        torch.FloatStorage(1)
        torch.storage._set_always_warn_typed_storage_removal(False)
        assert len(seen) == 2


def test_memory_that_a_tensor_looks_at_keeps_its_size() -> None:
    x = torch.ones(2)
    with pytest.raises(NotImplementedError, match="a tensor looks at this memory"):
        x.untyped_storage().resize_(0)
    s = torch.UntypedStorage(8)
    assert s.resize_(3).nbytes() == 3


def test_a_tensor_is_set_to_a_storage() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # once in a process: TypedStorage will go
        s = torch.FloatStorage([1.0, 2.0, 3.0])
    x = torch.tensor([]).set_(s, 1, (2,), (1,))
    s[1] = 7.0
    assert x.tolist() == [7.0, 3.0]


def test_lists_are_operated_on_together_and_recorded() -> None:
    a = [torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)]
    out = torch._foreach_mul(a, [2.0, 3.0])
    sum(t.sum() for t in out).backward()
    assert [t.grad.tolist() for t in a] == [[2.0, 2.0], [3.0, 3.0, 3.0]]
    with pytest.raises(RuntimeError, match="same number of tensors, got 2 and 1"):
        torch._foreach_add(a, a[:1])


def test_quantisation_says_what_to_do_instead() -> None:
    with pytest.raises(NotImplementedError, match="doesn't quantise"):
        torch.ao.quantization.quantize_dynamic(None)


def test_a_file_is_looked_at_in_place_and_stays_as_it_is(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(16)))
    s = torch.UntypedStorage.from_file(str(path), False, 8)
    assert s.tolist() == list(range(8)) and s.is_shared() and not s.resizable()
    s[0] = 99
    assert path.read_bytes()[0] == 0


def test_a_shared_file_is_written_to_and_grows(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "numbers")
    x = torch.from_file(path, shared=True, size=3, dtype=torch.int32)
    x[2] = 7
    assert torch.from_file(path, size=3, dtype=torch.int32).tolist() == [0, 0, 7]


def test_a_file_that_is_missing_or_too_short_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(RuntimeError, match=r"in read-only mode: No such file or directory \(2\)"):
        torch.from_file(str(tmp_path / "none"), size=1)
    (tmp_path / "short").write_bytes(b"abcd")
    with pytest.raises(RuntimeError, match="size <4> is smaller than the required mapping size <8"):
        torch.UntypedStorage.from_file(str(tmp_path / "short"), False, 8)


def test_asarray_reads_bytes_as_elements_and_shares_them() -> None:
    data = bytearray(range(8))
    assert torch.asarray(data, dtype=torch.int16).tolist() == [256, 770, 1284, 1798]
    x = torch.asarray(data, dtype=torch.uint8)
    s = torch.UntypedStorage([1, 0, 2, 0])
    y = torch.asarray(s[:], dtype=torch.int16)
    data[0], s[0] = 9, 5
    assert x[0] == 9 and y.tolist() == [5, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # once in a process: TypedStorage will go
        floats = torch.FloatStorage([1.0])
    assert torch.asarray(floats).tolist() == [1.0]
    with pytest.raises(RuntimeError, match="Storage of type Double or an UntypedStorage, but got"):
        torch.asarray(floats, dtype=torch.float64)


def test_asarray_keeps_the_history_of_a_tensor_unless_told() -> None:
    x = torch.ones(2, requires_grad=True) * 2
    with pytest.warns(UserWarning, match="unspecified requires_grad now defaults"):
        assert torch.asarray(x) is x
    assert not torch.asarray(x, requires_grad=False).requires_grad
    copy = torch.asarray(x, copy=True, requires_grad=True)
    assert copy.grad_fn is not None and copy.data_ptr() != x.data_ptr()


def test_no_two_living_tensors_have_the_same_number() -> None:
    a, b = torch.ones(1), torch.ones(1)
    assert a._cdata == a._cdata != b._cdata


def test_zeros_are_laid_out_like_another_tensor_for_each_of_the_first_dimensions() -> None:
    other = torch.randn(10)[2:6]
    made = torch.ops.aten._new_zeros_with_same_feature_meta(
        torch.ones(3, 2, 7), other, self_num_batch_dims=2
    )
    assert made.shape == (3, 2, 4)
    assert made.stride() == (20, 10, 1)
    assert made.storage_offset() == 2
    assert len(made.untyped_storage()) == 4 * 60
    nothing = torch.zeros(0, 3)
    made = torch.ops.aten._new_zeros_with_same_feature_meta(torch.ones(2), nothing)
    assert len(made.untyped_storage()) == 0


def test_a_result_in_another_order_of_dimensions_shares_its_memory_with_its_storage() -> None:
    x = torch.rand(2, 3, 4).permute(2, 0, 1).exp()
    assert x.stride() == (1, 12, 4)
    storage = x.untyped_storage()
    assert storage.data_ptr() == x.data_ptr()
    seen = torch.empty(0).set_(storage, 0, x.shape, x.stride())
    assert torch.equal(seen, x)
    seen[3, 1, 2] = 7.0
    assert x[3, 1, 2] == 7.0
