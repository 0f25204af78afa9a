"""Actor-critic in a corridor: one network, two heads, smooth L1 for the value."""

import random
from collections import namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

SavedAction = namedtuple("SavedAction", ["log_prob", "value"])


class Corridor:
    """Nine cells; the right end pays 1, the left end -1, a move costs 0.01."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def reset(self):
        self.place = 4 + self.random.choice((-1, 0, 1))
        return self.observe()

    def observe(self):
        cells = torch.zeros(9)
        cells[self.place] = 1.0
        return cells

    def step(self, action):
        self.place += 1 if (action == 1) != (self.random.random() < 0.1) else -1
        done = self.place in (0, 8)
        reward = -0.01 + (1.0 if self.place == 8 else -1.0 if self.place == 0 else 0.0)
        return self.observe(), reward, done


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine = nn.Linear(9, 32)
        self.action_head = nn.Linear(32, 2)
        self.value_head = nn.Linear(32, 1)

    def forward(self, x):
        x = F.relu(self.affine(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


def main():
    torch.manual_seed(5)
    env, model = Corridor(5), ActorCritic()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    numbers, wins, steps = {}, 0, 0
    for _ in range(40):
        state, saved, rewards = env.reset(), [], []
        for _ in range(60):
            probs, value = model(state)
            m = Categorical(probs)
            action = m.sample()
            saved.append(SavedAction(m.log_prob(action), value))
            state, reward, done = env.step(action.item())
            rewards.append(reward)
            steps += 1
            if done:
                wins += reward > 0
                break
        R, returns = 0.0, []
        for r in rewards[::-1]:
            R = r + 0.99 * R
            returns.insert(0, R)
        policy_losses, value_losses = [], []
        for (log_prob, value), R in zip(saved, torch.tensor(returns)):
            policy_losses.append(-log_prob * (R - value.item()))
            value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
        optimizer.zero_grad()
        loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
        loss.backward()
        optimizer.step()
    numbers["wins"], numbers["steps"], numbers["last loss"] = wins, steps, loss.item()
    return numbers
