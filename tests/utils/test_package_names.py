"""Names that packages take from PyTorch's corners, and what they do."""

import pytest

import rushlight as torch
from rushlight.nn.utils._named_member_accessor import swap_tensor
from rushlight.nn.utils._per_sample_grad import call_for_per_sample_grads
from rushlight.utils.data import DataLoader
from rushlight.utils.data._utils.worker import _generate_state
from rushlight.utils.data.dataloader import _SingleProcessDataLoaderIter


@pytest.mark.parametrize(
    ("check", "error"),
    [("_check", RuntimeError), ("_check_index", IndexError), ("_check_value", ValueError),
     ("_check_type", TypeError), ("_check_not_implemented", NotImplementedError)],
)  # fmt: skip
def test_a_stated_condition_raises_its_error(check, error):
    state = getattr(torch, check)
    state(True)
    with pytest.raises(error, match="Expected cond to be True"):
        state(False)
    with pytest.raises(error, match="because"):
        state(False, lambda: "because")


def test_a_condition_is_a_bool_and_its_message_a_function():
    with pytest.raises(TypeError, match="cond must be a bool"):
        torch._check(3)
    with pytest.raises(TypeError, match="message must be a callable"):
        torch._check(False, "text")
    with pytest.raises(RuntimeError, match="some"):
        torch._check_tensor_all(torch.tensor([True, False]), lambda: "some")


def test_functions_of_numbers_that_may_be_symbols():
    assert (torch.sym_int(-2.7), torch.sym_float(3), torch.sym_not(True)) == (-2, 3.0, False)
    assert (torch.sym_max(3, 4.0), torch.sym_min(3, 4.0), torch.sym_sum([1, 2])) == (4.0, 3.0, 3)
    assert isinstance(torch.sym_min(3, 4.0), float)
    assert torch.sym_ite(True, 1, 2) == 1


def test_places_of_rows_and_coordinates_convert():
    starts = torch._convert_indices_from_coo_to_csr(torch.tensor([0, 0, 2]), 4)
    assert starts.tolist() == [0, 2, 2, 3, 3]
    columns = torch.tensor([0, 1, 1])
    places = torch._convert_indices_from_csr_to_coo(starts, columns, out_int32=True)
    assert places.tolist() == [[0, 0, 2], [0, 1, 1]]
    assert places.dtype is torch.int32


def test_a_sparse_tensor_can_be_said_to_be_in_order():
    x = torch.sparse_coo_tensor(torch.tensor([[1, 0], [0, 1]]), torch.tensor([1.0, 2.0]), (2, 2))
    assert x._coalesced_(True) is x
    assert x.is_coalesced()
    assert x.indices().tolist() == [[1, 0], [0, 1]]


def test_a_tensor_of_a_module_is_swapped():
    linear = torch.nn.Linear(2, 1)
    old = linear.weight
    assert swap_tensor(linear, "weight", torch.zeros(1, 2)) is old
    assert linear(torch.ones(1, 2)).item() == linear.bias.item()
    with pytest.raises(KeyError):
        swap_tensor(linear, "a.b", torch.zeros(1))
    with pytest.raises(AttributeError):
        swap_tensor(linear, "absent", torch.zeros(1))


def test_each_sample_gets_a_gradient_of_its_own():
    linear = torch.nn.Linear(2, 1)
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    call_for_per_sample_grads(linear)(x).sum().backward()
    assert linear.weight.grad is None
    assert linear.weight.grad_sample.tolist() == [[[1.0, 2.0]], [[3.0, 4.0]]]
    with pytest.raises(RuntimeError, match="accumulates the gradients"):
        call_for_per_sample_grads(linear)
    other = torch.nn.Linear(2, 1)
    call_for_per_sample_grads(other, loss_reduction="mean")(x).mean().backward()
    assert other.weight.grad_sample.tolist() == [[[1.0, 2.0]], [[3.0, 4.0]]]


def test_a_worker_starts_its_stream_from_four_words():
    assert _generate_state(123, 4) == [3133042655, 609701789, 3156826794, 1639029168]


def test_an_iterator_takes_whatever_has_the_attributes_of_a_loader():
    class Loader(DataLoader):
        pass

    class Lookalike:
        _IterableDataset_len_called, _auto_collation, drop_last, in_order = None, False, False, True
        _dataset_kind, num_workers, pin_memory, timeout = 1, 0, False, 0
        generator, prefetch_factor, persistent_workers = None, 2, False
        pin_memory_device, worker_init_fn = "", None
        _index_sampler = range(10)

        def __init__(self, dataset):
            self.dataset = dataset

        def collate_fn(self, item):
            return item * 2

    assert list(_SingleProcessDataLoaderIter(Lookalike([1, 2, 3]))) == [2, 4, 6]


def test_normal_with_a_size_takes_tensors_for_numbers():
    torch.manual_seed(0)
    drawn = torch.normal(0.0, torch.tensor(2.0), (3, 4))
    torch.manual_seed(0)
    assert torch.equal(drawn, torch.normal(0.0, 2.0, (3, 4)))
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        torch.normal(0.0, torch.ones(2), (2,))


@pytest.mark.parametrize("write", ["mul_", "div_"])
def test_a_write_by_whole_numbers_keeps_the_type_of_gradients(write):
    leaf = torch.ones(3, requires_grad=True)
    getattr(leaf * 1.5, write)(torch.tensor([1, 2, 4])).sum().backward()
    assert leaf.grad.dtype is torch.float32


def test_a_single_number_that_two_steps_send_becomes_a_gradient():
    scale = torch.ones((), requires_grad=True)
    ((torch.ones(3) * scale).sum() + scale * 2).backward()
    assert scale.grad.item() == 5.0


@pytest.mark.parametrize(("mode", "expected"), [("floor", [3, 2]), ("trunc", [3, 2])])
def test_a_number_is_divided_by_a_tensor_and_rounded(mode, expected):
    assert torch.div(7, torch.tensor([2, 3]), rounding_mode=mode).tolist() == expected
    assert torch.div(7, torch.tensor([2.0, 4.0]), rounding_mode=None).tolist() == [3.5, 1.75]
