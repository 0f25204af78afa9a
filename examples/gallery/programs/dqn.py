"""Deep Q-learning on a grid world: replay memory, a target network, Huber loss, value clipping."""

import math
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.optim as optim

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class DQN(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1, self.layer2, self.layer3 = (
            nn.Linear(2, 32),
            nn.Linear(32, 32),
            nn.Linear(32, 4),
        )

    def forward(self, x):
        return self.layer3(torch.relu(self.layer2(torch.relu(self.layer1(x)))))


def main():
    torch.manual_seed(1)
    rng = random.Random(1)
    policy_net, target_net = DQN(), DQN()
    target_net.load_state_dict(policy_net.state_dict())
    optimizer = optim.AdamW(policy_net.parameters(), lr=1e-3, amsgrad=True)
    memory, steps_done, total_reward, loss = deque(maxlen=1000), 0, 0.0, None
    moves = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    for _ in range(6):
        place = [0, 0]
        for _ in range(30):
            state = torch.tensor(place, dtype=torch.float32).unsqueeze(0)
            threshold = 0.05 + 0.85 * math.exp(-steps_done / 50)
            steps_done += 1
            if rng.random() > threshold:
                with torch.no_grad():
                    action = policy_net(state).max(1).indices.view(1, 1)
            else:
                action = torch.tensor([[rng.randrange(4)]], dtype=torch.long)
            dx, dy = moves[action.item()]
            place = [min(max(place[0] + dx, 0), 4), min(max(place[1] + dy, 0), 4)]
            done = place == [4, 4]
            reward = torch.tensor([10.0 if done else -0.1])
            total_reward += reward.item()
            memory.append(
                Transition(
                    state,
                    action,
                    None if done else torch.tensor([place], dtype=torch.float32),
                    reward,
                )
            )
            if len(memory) >= 32:
                batch = Transition(*zip(*rng.sample(memory, 32)))
                mask = torch.tensor(
                    tuple(s is not None for s in batch.next_state), dtype=torch.bool
                )
                non_final = torch.cat([s for s in batch.next_state if s is not None])
                values = policy_net(torch.cat(batch.state)).gather(1, torch.cat(batch.action))
                nxt = torch.zeros(32)
                with torch.no_grad():
                    nxt[mask] = target_net(non_final).max(1).values
                expected = nxt * 0.99 + torch.cat(batch.reward)
                loss = nn.SmoothL1Loss()(values, expected.unsqueeze(1))
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
                optimizer.step()
                target, policy = target_net.state_dict(), policy_net.state_dict()
                for key in policy:
                    target[key] = policy[key] * 0.005 + target[key] * 0.995
                target_net.load_state_dict(target)
            if done:
                break
    return {"reward": total_reward, "loss": loss.item(), "steps": steps_done}
