"""vmap and random numbers: refused, one draw for all, or one for each example."""

import torch
from observation import each, outcome

F, vmap = torch.nn.functional, torch.func.vmap
X = torch.zeros(3, 2)
ACTIONS = {
    "rand": lambda a: torch.rand(2),
    "like": torch.rand_like,
    "normal": lambda a: torch.randn_like(a),
    "integers": lambda a: torch.randint(5, (2,)),
    "fill": lambda a: a.clone().uniform_(),
    "dropout": lambda a: F.dropout(a + 1),
    "bernoulli": lambda a: torch.bernoulli(a + 0.5),
}


def _shown(mode: str) -> None:
    for name, action in ACTIONS.items():
        torch.manual_seed(0)
        print(name, end=": ")
        outcome(vmap(action, randomness=mode), X)


def random_operations_are_refused() -> None:
    _shown("error")


def the_same_draw_for_all() -> None:
    _shown("same")


def a_draw_for_each() -> None:
    _shown("different")


def other_words_are_refused() -> None:
    each(word=lambda: vmap(torch.sin, randomness="x"))


def a_tensor_without_a_batch_cannot_be_filled_differently() -> None:
    each(
        different=lambda: vmap(lambda a: torch.zeros(2).uniform_(), randomness="different")(X),
        normal=lambda: vmap(lambda a: torch.zeros(2).normal_(), randomness="different")(X),
    )


def dropout_outside_of_training_draws_nothing() -> None:
    print(vmap(lambda a: F.dropout(a + 1, 0.5, False))(X), vmap(lambda a: F.dropout(a + 1, 0.0))(X))


def chunks_repeat_the_same_draw() -> None:
    torch.manual_seed(0)
    out = vmap(lambda a: a + torch.rand(2), randomness="same", chunk_size=2)(X)
    print(out)


def nested_randomness_is_the_innermost() -> None:
    torch.manual_seed(0)
    inner = vmap(lambda a: torch.rand(()), randomness="different")
    outcome(vmap(inner), X)
    print(
        vmap(inner, randomness="same")(X).unique().numel(),
        vmap(inner, randomness="different")(X).unique().numel(),
    )
