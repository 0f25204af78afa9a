"""torch_geometric: graph convolution and attention on a random graph, message passing in Python."""

NEEDS = [
    "torch-geometric==2.8.1",
    "urllib3==2.7.0",
    "charset-normalizer==3.4.7",
    "xxhash==4.1.0",
    "aiohttp==3.14.5",
    "fsspec==2026.9.0",
    "jinja2==3.1.6",
    "psutil==7.2.2",
    "pyparsing==3.3.3",
    "requests==2.34.2",
    "tqdm==4.70.1",
]
RTOL = 1e-3


def main():
    import torch
    from torch_geometric.data import Data
    from torch_geometric.nn import GATConv, GCNConv, SAGEConv, global_mean_pool
    from torch_geometric.utils import add_self_loops, degree, to_undirected

    torch.manual_seed(0)
    edges = to_undirected(torch.randint(0, 30, (2, 60)))
    data = Data(x=torch.randn(30, 8), edge_index=edges, y=torch.randint(0, 3, (30,)))
    results = {"degree": degree(edges[0], 30), "loops": add_self_loops(edges)[0].shape[1]}
    for kind in (GCNConv, SAGEConv, GATConv):
        torch.manual_seed(1)
        first, second = kind(8, 16), kind(16, 3)
        optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
        losses = []
        for _ in range(5):
            optimizer.zero_grad()
            out = second(first(data.x, data.edge_index).relu(), data.edge_index)
            loss = torch.nn.functional.cross_entropy(out, data.y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        results[kind.__name__] = losses
    results["pooled"] = global_mean_pool(data.x, torch.arange(30) // 10)
    return results
