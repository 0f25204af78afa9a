"""A graph attention network: pairwise scores, LeakyReLU, a masked softmax over neighbours."""

import torch
import torch.nn.functional as F
from torch import nn


class GraphAttentionLayer(nn.Module):
    def __init__(self, in_features, out_features, n_heads, concat=False, dropout=0.4):
        super().__init__()
        self.n_heads, self.concat, self.dropout = n_heads, concat, dropout
        self.n_hidden = out_features // n_heads if concat else out_features
        self.W = nn.Parameter(torch.empty(size=(in_features, self.n_hidden * n_heads)))
        self.a = nn.Parameter(torch.empty(size=(n_heads, 2 * self.n_hidden, 1)))
        self.leakyrelu = nn.LeakyReLU(0.2)
        self.softmax = nn.Softmax(dim=1)
        nn.init.xavier_normal_(self.W)
        nn.init.xavier_normal_(self.a)

    def forward(self, h, adj_mat):
        n_nodes = h.shape[0]
        h = torch.mm(h, self.W)
        h = F.dropout(h, self.dropout, training=self.training)
        h = h.view(n_nodes, self.n_heads, self.n_hidden).permute(1, 0, 2)
        source = torch.matmul(h, self.a[:, : self.n_hidden, :])
        target = torch.matmul(h, self.a[:, self.n_hidden :, :])
        e = self.leakyrelu(source + target.mT)
        mask = -9e16 * torch.ones_like(e)
        attention = torch.where(adj_mat > 0, e, mask)
        attention = F.dropout(F.softmax(attention, dim=-1), self.dropout, training=self.training)
        h_prime = torch.matmul(attention, h)
        if self.concat:
            return h_prime.permute(1, 0, 2).contiguous().view(n_nodes, -1)
        return h_prime.mean(dim=0)


class GAT(nn.Module):
    def __init__(self):
        super().__init__()
        self.gat1 = GraphAttentionLayer(12, 32, 4, concat=True)
        self.elu = nn.ELU(0.2)
        self.gat2 = GraphAttentionLayer(32, 3, 1)

    def forward(self, x, adj):
        return F.log_softmax(self.gat2(self.elu(self.gat1(x, adj)), adj), dim=1)


def main():
    torch.manual_seed(8)
    n = 90
    labels = torch.randint(3, (n,))
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    adj = ((torch.rand(n, n) < 0.15) & same) | (torch.rand(n, n) < 0.02)
    adj = (adj | adj.T | torch.eye(n, dtype=torch.bool)).float()
    features = torch.randn(n, 12)
    features[torch.arange(n), labels] += 1.5
    net = GAT()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.005, weight_decay=5e-4)
    criterion = nn.NLLLoss()
    numbers = {}
    for epoch in range(25):
        net.train()
        optimizer.zero_grad()
        loss = criterion(net(features, adj)[:45], labels[:45])
        loss.backward()
        optimizer.step()
        if epoch % 8 == 0:
            numbers[f"loss {epoch}"] = loss.item()
    net.eval()
    with torch.no_grad():
        out = net(features, adj)
    numbers["accuracy"] = out[45:].argmax(1).eq(labels[45:]).sum().item() / 45
    return numbers
