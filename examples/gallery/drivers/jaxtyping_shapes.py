"""jaxtyping, with beartype: shapes checked at run time."""

NEEDS = ["jaxtyping==0.3.11", "wadler_lindig==0.1.8", "beartype==0.23.1"]


def main():
    import torch
    from beartype import beartype

    # ruff: noqa: F722  (the strings are shapes)
    from jaxtyping import Float, Int, TypeCheckError, jaxtyped
    from torch import Tensor

    @jaxtyped(typechecker=beartype)
    def attend(
        q: Float[Tensor, "batch n d"], k: Float[Tensor, "batch m d"]
    ) -> Float[Tensor, "batch n m"]:
        return (q @ k.mT).softmax(-1)

    @jaxtyped(typechecker=beartype)
    def count(x: Int[Tensor, "*shape"]) -> int:
        return x.numel()

    torch.manual_seed(0)
    refused = 0
    for bad in (
        (torch.randn(2, 3, 4), torch.randn(2, 3, 5)),
        (torch.randn(2, 3), torch.randn(2, 3)),
    ):
        try:
            attend(*bad)
        except TypeCheckError:
            refused += 1
    return {
        "scores": attend(torch.randn(2, 3, 4), torch.randn(2, 5, 4)),
        "count": count(torch.arange(6)),
        "refused": refused,
        "float": isinstance(torch.ones(3), Float[Tensor, "3"]),
        "int": isinstance(torch.ones(3), Int[Tensor, "3"]),
    }
