"""The memory behind tensors."""

import importlib
import pickle

import torch


def _told(f):
    try:
        print(f())
    except Exception as error:
        print(type(error).__name__, error)


def bytes_behind_a_tensor():
    x = torch.arange(4.0)
    u = x.untyped_storage()
    print(len(u), u.nbytes(), u.size(), u.device, u.data_ptr() == x.data_ptr(), u.tolist())
    y = x[2:]
    print(
        y.untyped_storage().data_ptr() == u.data_ptr(),
        y.storage_offset(),
        y.data_ptr() - u.data_ptr(),
    )
    print(u == y.untyped_storage(), u.is_shared(), u[6], u[4:8].tolist(), u.element_size())
    u.fill_(0)
    print(x, x.t().untyped_storage().nbytes())
    print(x[None].expand(3, 4).untyped_storage().nbytes(), torch.is_storage(u))


def bytes_behind_a_tensor_have_one_address():
    x = torch.arange(4.0)
    print(x.untyped_storage().data_ptr() == x.view(2, 2).untyped_storage().data_ptr())
    print(x.untyped_storage().data_ptr() == x.clone().untyped_storage().data_ptr())


def elements_behind_a_tensor():
    x = torch.arange(4)
    s = x.storage()
    print(s.dtype, s.size(), len(s), s.nbytes(), s.tolist(), s[1], s.element_size(), s)
    _told(lambda: s[1:2])
    print(s.pickle_storage_type(), s.type(), s.untyped().nbytes(), s.double().dtype)
    s.fill_(7)
    print(x, x._typed_storage().data_ptr() == x.data_ptr())


def storages_of_their_own():
    print(torch.UntypedStorage(8).nbytes(), torch.UntypedStorage([1, 2, 3]).tolist())
    print(torch.FloatStorage([1.0, 2.0]).tolist(), torch.LongStorage(3).size())
    print(torch.TypedStorage(4, dtype=torch.int64).nbytes())
    print(torch.UntypedStorage(4).resize_(8).nbytes())
    print(torch.tensor([]).set_(torch.FloatStorage([1.0, 2.0, 3.0])))
    print(torch.tensor([]).set_(torch.FloatStorage([1.0, 2.0, 3.0, 4.0]), 1, (2,), (1,)))
    print(torch.UntypedStorage.from_buffer(b"abcd", dtype=torch.uint8).tolist())
    _told(lambda: torch.UntypedStorage(4).copy_(torch.UntypedStorage(5)))
    s = torch.FloatStorage([1.0, 2.0])
    print(pickle.loads(pickle.dumps(s)).tolist(), s.clone().tolist())


def tensors_swap():
    swap = importlib.import_module(f"{torch.__name__}.utils").swap_tensors
    a, b = torch.ones(3), torch.zeros(2, requires_grad=True)
    swap(a, b)
    print(a, b)
    c = a * 2
    _told(lambda: swap(a, b))
    print(c)
