"""Sparse and dense tensors of different types added, subtracted and multiplied."""

import torch
from observation import outcome

KINDS = (torch.uint8, torch.int16, torch.float32, torch.float64, torch.bfloat16)


def _pair(a: torch.dtype, b: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    first = torch.tensor([[1, 0, 2], [0, 3, 1]]).to(a)
    return first, torch.tensor([[2, 1, 0], [0, 2, 4]]).to(b)


def _dense(t: torch.Tensor) -> torch.Tensor:
    return t if t.layout is torch.strided else t.to_dense()


def the_common_type_holds_the_result() -> None:
    for a in KINDS:
        for b in KINDS:
            x, y = _pair(a, b)
            for name in ("add", "sub", "mul"):
                print(_dense(getattr(x.to_sparse(), name)(y.to_sparse())))
                print(_dense(getattr(x, name)(y.to_sparse())))


def a_result_goes_back_into_its_first_operand() -> None:
    for a, b in ((torch.float32, torch.int16), (torch.uint8, torch.int16), (torch.int16, a_float)):
        for name in ("add_", "sub_", "mul_", "div_"):
            x, y = _pair(a, b)
            outcome(lambda x=x, y=y, name=name: _dense(getattr(x.to_sparse(), name)(y.to_sparse())))
            if name != "mul_" or b is not a_float:
                outcome(lambda x=x, y=y, name=name: _dense(getattr(x, name)(y.to_sparse())))
    print(_pair(torch.float32, torch.float32)[0].to_sparse().mul_(2).to_dense())


a_float = torch.float32


def what_does_not_go_together() -> None:
    x, y = _pair(torch.float32, torch.bool)
    outcome(lambda: x - y.to_sparse())
    outcome(lambda: y.to_sparse() - y.to_sparse())
    outcome(x.copy_, x.to_sparse())
    outcome(x.to_sparse().copy_, x)
    outcome(lambda: x.to_sparse() / x)
