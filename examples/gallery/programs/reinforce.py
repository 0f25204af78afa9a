"""REINFORCE on a cart-pole written here in plain Python."""

import math
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical


class CartPole:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def reset(self):
        self.state = [self.random.uniform(-0.05, 0.05) for _ in range(4)]
        return list(self.state)

    def step(self, action):
        x, v, angle, speed = self.state
        force = 10.0 if action == 1 else -10.0
        c, s = math.cos(angle), math.sin(angle)
        temp = (force + 0.05 * speed**2 * s) / 1.1
        turn = (9.8 * s - c * temp) / (0.5 * (4.0 / 3.0 - 0.1 * c**2 / 1.1))
        push = temp - 0.05 * turn * c / 1.1
        self.state = [x + 0.02 * v, v + 0.02 * push, angle + 0.02 * speed, speed + 0.02 * turn]
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 12 * 2 * math.pi / 360
        return list(self.state), 1.0, done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 64)
        self.dropout = nn.Dropout(p=0.3)
        self.affine2 = nn.Linear(64, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.dropout(self.affine1(x)))), dim=1)


def main():
    torch.manual_seed(543)
    env = CartPole(543)
    policy = Policy()
    optimizer = optim.Adam(policy.parameters(), lr=1e-2)
    running, lengths = 10.0, []
    for _ in range(15):
        state = env.reset()
        for t in range(1, 120):  # noqa: B007
            probs = policy(torch.tensor(state).float().unsqueeze(0))
            m = Categorical(probs)
            action = m.sample()
            policy.saved_log_probs.append(m.log_prob(action))
            state, reward, done = env.step(action.item())
            policy.rewards.append(reward)
            if done:
                break
        running = 0.05 * t + 0.95 * running
        lengths.append(t)
        R, policy_loss, returns = 0.0, [], deque()
        for r in policy.rewards[::-1]:
            R = r + 0.99 * R
            returns.appendleft(R)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + torch.finfo(torch.float32).eps)
        for log_prob, R in zip(policy.saved_log_probs, returns):
            policy_loss.append(-log_prob * R)
        optimizer.zero_grad()
        policy_loss = torch.cat(policy_loss).sum()
        policy_loss.backward()
        optimizer.step()
        del policy.rewards[:]
        del policy.saved_log_probs[:]
    return {"running": running, "sum of lengths": sum(lengths), "last loss": policy_loss.item()}
