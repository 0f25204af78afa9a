"""opt_einsum: contractions along their best paths, with gradients."""

NEEDS = ["opt_einsum==3.4.0"]


def main():
    import opt_einsum
    import torch

    torch.manual_seed(0)
    a, b, c, d = (torch.randn(12, 12, dtype=torch.float64, requires_grad=True) for _ in range(4))
    cube = torch.randn(12, 12, 12, dtype=torch.float64)
    value = opt_einsum.contract("ij,jk,kl,lm,imn->n", a, b, c, d, cube)
    value.square().sum().backward()
    expression = opt_einsum.contract_expression("ab,bc,cd->ad", (12, 12), (12, 12), (12, 12))
    path, info = opt_einsum.contract_path("ij,jk,kl,lm,imn->n", a, b, c, d, cube)
    return {
        "value": value,
        "gradients": [x.grad.norm() for x in (a, b, c, d)],
        "expression": expression(a, b, c),
        "cost": float(info.opt_cost),
        "path": [list(step) for step in path],
    }
