"""stable-baselines3: PPO, A2C and DQN on a pole, SAC on a small continuous task."""

NEEDS = [
    "stable_baselines3==2.9.2",
    "gymnasium==1.4.0",
    "farama_notifications==0.0.6",
    "cloudpickle==3.1.2",
    "pandas==3.1.1",
    "python-dateutil==4.0.0",
    "six==1.17.0",
    "pytz==2026.6",
    "typing_extensions==4.16.0",
    "matplotlib==3.11.2",
]
RTOL = 1e-2


def main():
    import gymnasium
    import numpy
    import torch
    from stable_baselines3 import A2C, DQN, PPO, SAC

    class Point(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-2, 2, (2,), numpy.float32)
        action_space = gymnasium.spaces.Box(-1, 1, (2,), numpy.float32)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at, self.left = numpy.full(2, 0.5, numpy.float32), 20
            return self.at.copy(), {}

        def step(self, action):
            self.at = numpy.clip(self.at + 0.1 * action, -2, 2).astype(numpy.float32)
            self.left -= 1
            return self.at.copy(), -float(numpy.square(self.at).sum()), self.left == 0, False, {}

    def weights(model):
        return [p.norm() for p in model.policy.parameters()]

    shared = {"seed": 0, "device": "cpu", "policy_kwargs": {"net_arch": [16, 16]}}
    results = {}
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2, **shared)
    results["ppo"] = weights(model.learn(128))
    results["a2c"] = weights(A2C("MlpPolicy", "CartPole-v1", **shared).learn(60))
    model = DQN("MlpPolicy", "CartPole-v1", learning_starts=30, batch_size=16, **shared)
    results["dqn"] = weights(model.learn(100))
    model = SAC("MlpPolicy", Point(), learning_starts=10, batch_size=8, **shared)
    results["sac"] = weights(model.learn(30))
    action, _ = model.predict(numpy.array([0.3, -0.2], numpy.float32), deterministic=True)
    results["action"] = torch.tensor(action)
    return results
