"""DLPack: memory that comes from other libraries, and what of a tensor may not go to them."""

import numpy as np
import torch
from observation import each, outcome

DLDeviceType = torch.utils.dlpack.DLDeviceType
from_dlpack, to_dlpack = torch.utils.dlpack.from_dlpack, torch.utils.dlpack.to_dlpack
KINDS = (torch.bool, torch.uint8, torch.int64, torch.uint16, torch.float16, torch.bfloat16,
         torch.float32, torch.complex64)  # fmt: skip


class Held:
    """Something else that gives a tensor's memory."""

    def __init__(self, held: torch.Tensor) -> None:
        self.held = held

    def __dlpack__(self, **wishes: object) -> object:
        return self.held.__dlpack__(**wishes)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.held.__dlpack_device__()


def every_type_comes_back_over_the_same_memory() -> None:
    for kind in KINDS:
        x = torch.ones(2, 3).to(kind)
        for given in (to_dlpack(x), Held(x), Held(x.t()), Held(x[1, 1]), Held(x[:0])):
            y = torch.from_dlpack(given)
            print(y.dtype, y.shape, y.stride(), y.tolist())
        torch.asarray(to_dlpack(x)).zero_()
        torch.from_dlpack(Held(x), copy=True).fill_(1)
        print(x)


def a_capsule_is_read_once() -> None:
    x = torch.ones(3)
    capsule = to_dlpack(x)
    outcome(from_dlpack, capsule)
    outcome(from_dlpack, capsule)
    print(x.__dlpack_device__(), DLDeviceType.kDLCUDA)


def what_does_not_go_out() -> None:
    x = torch.ones(2, requires_grad=True)
    each(
        grad=lambda: x.__dlpack__(),
        grad_directly=lambda: torch.from_dlpack(x),
        no_data=lambda: torch.ones(2, device="meta").__dlpack__(),
        no_place=lambda: torch.from_dlpack(torch.ones(2, device="meta")),
        layout=lambda: torch.ones(2).to_sparse().__dlpack__(),
        stream=lambda: torch.ones(2).__dlpack__(stream=1),
        no_stream=lambda: torch.ones(2).__dlpack__(stream="0"),
        no_tensor=lambda: to_dlpack(1),
    )


def what_does_not_come_in() -> None:
    each(
        text=lambda: torch.from_dlpack(np.array(["a"])),
        order=lambda: torch.from_dlpack(np.array([1.0], dtype=">f4")),
        list=lambda: torch.from_dlpack([1, 2]),
        nothing=lambda: torch.from_dlpack(None),
        device=lambda: torch.from_dlpack(torch.ones(1), device="meta"),
    )


def what_can_not_be_shared() -> None:
    x, a = torch.ones(3), np.ones(3)
    each(
        types=lambda: torch.asarray(x, dtype=torch.float64, copy=False),
        array_types=lambda: torch.asarray(a, dtype=torch.float32, copy=False),
        capsule=lambda: torch.asarray(to_dlpack(x), dtype=torch.int32, copy=False),
        devices=lambda: torch.asarray(x, device="meta", copy=False),
        numbers=lambda: torch.asarray([1.0], copy=False),
        same=lambda: torch.asarray(x, dtype=torch.float32, device="cpu", copy=False) is x,
    )
