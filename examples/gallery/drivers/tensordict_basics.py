"""tensordict: dictionaries of tensors with a batch size, nested, stacked and through modules."""

NEEDS = [
    "tensordict==0.15.3",
    "pyvers==0.2.3",
    "orjson==3.8.3",
    "cloudpickle==3.1.2",
    "packaging==26.3",
    "importlib_metadata==10.2.0",
]


def main():
    import torch
    from tensordict import TensorDict
    from tensordict.nn import TensorDictModule, TensorDictSequential
    from torch import nn

    torch.manual_seed(0)
    td = TensorDict({"x": torch.randn(6, 4), "nested": {"y": torch.arange(6.0)}}, batch_size=[6])
    net = TensorDictSequential(
        TensorDictModule(nn.Linear(4, 8), in_keys=["x"], out_keys=["h"]),
        TensorDictModule(nn.Linear(8, 2), in_keys=["h"], out_keys=["z"]),
    )
    out = net(td)
    stacked = torch.stack([td, td.clone() * 2], 0)
    part = stacked[1, 2:4]
    return {
        "z": out["z"],
        "part": part["nested", "y"],
        "size": list(stacked.batch_size),
        "flat": td.flatten_keys(".")["nested.y"],
        "mean": td["x"].mean(),
        "split": [piece["x"].sum() for piece in td.split(2)],
    }
