"""A graph convolutional network on a random graph of communities.

With a sparse adjacency matrix.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


class GraphConv(nn.Module):
    def __init__(self, input_dim, output_dim):
        super().__init__()
        self.kernel = nn.Parameter(torch.Tensor(input_dim, output_dim))
        nn.init.xavier_normal_(self.kernel)
        self.bias = nn.Parameter(torch.zeros(output_dim))

    def forward(self, x, adj):
        return torch.spmm(adj, torch.mm(x, self.kernel)) + self.bias


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super().__init__()
        self.gc1 = GraphConv(nfeat, nhid)
        self.gc2 = GraphConv(nhid, nclass)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, adj):
        x = self.dropout(F.relu(self.gc1(x, adj)))
        return F.log_softmax(self.gc2(x, adj), dim=1)


def community_graph(nodes, classes):
    labels = torch.arange(nodes) % classes
    same = labels[:, None] == labels[None, :]
    probability = torch.where(same, torch.tensor(0.2), torch.tensor(0.02))
    upper = torch.triu(torch.bernoulli(probability), diagonal=1)
    adj = upper + upper.T + torch.eye(nodes)
    d = adj.sum(1).pow(-0.5)
    return d[:, None] * adj * d[None, :], labels


def main():
    torch.manual_seed(42)
    adj, labels = community_graph(120, 4)
    indices = adj.nonzero().T
    sparse = torch.sparse_coo_tensor(indices, adj[indices[0], indices[1]], adj.shape)
    features = F.one_hot(labels, 4).float() + 0.8 * torch.randn(120, 4)
    features = torch.cat([features, torch.randn(120, 12)], 1)
    model = GCN(16, 16, 4, 0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-4)
    train, test = torch.arange(0, 40), torch.arange(40, 120)
    for _ in range(30):
        model.train()
        optimizer.zero_grad()
        loss = F.nll_loss(model(features, sparse)[train], labels[train])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        output = model(features, sparse)
    accuracy = output[test].argmax(1).eq(labels[test]).double().mean()
    return {
        "edges": int(indices.shape[1]),
        "loss": loss.item(),
        "accuracy": accuracy.item(),
        "test loss": F.nll_loss(output[test], labels[test]).item(),
    }
