"""Random numbers: the same seed gives the same numbers; states; generators."""

import torch
from observation import each, outcome


def uniform_numbers() -> None:
    print(
        torch.rand(5),
        torch.rand(2, 3),
        torch.rand(()),
        torch.rand(3, dtype=torch.float64),
        torch.rand(0),
    )


def normal_numbers_of_small_and_large_tensors() -> None:
    for n in (1, 2, 15, 16, 17, 20, 32, 40):
        torch.manual_seed(n)
        print(torch.randn(n))


def normal_numbers_in_double() -> None:
    for n in (3, 16, 21):
        print(torch.randn(n, dtype=torch.float64))


def mixing_kinds_of_draws() -> None:
    print(
        torch.randn(3),
        torch.rand(2),
        torch.randn(1),
        torch.randint(10, (3,)),
        torch.randn(17),
        torch.rand(1),
        torch.randn(2),
    )


def the_cached_second_normal() -> None:
    torch.manual_seed(3)
    a = torch.randn(1), torch.randn(1), torch.randn(1)
    torch.manual_seed(3)
    b = torch.randn(3)
    torch.manual_seed(3)
    c = torch.randn(1), torch.rand(1), torch.randn(1)
    print(a, b, c)


def integers_in_a_range() -> None:
    print(
        torch.randint(10, (5,)),
        torch.randint(-5, 5, (2, 3)),
        torch.randint(0, 2, (4,), dtype=torch.int32),
        torch.randint(0, 2**40, (2,)),
        torch.randint(3, (2,), dtype=torch.float32),
        torch.randint_like(torch.zeros(2), 9),
    )


def permutations() -> None:
    for n in (0, 1, 5, 10, 20):
        print(torch.randperm(n))
    print(torch.randperm(4, dtype=torch.int32))


def normal_with_parameters() -> None:
    each(
        numbers=lambda: torch.normal(5.0, 2.0, (3,)),
        mean=lambda: torch.normal(torch.arange(3.0), 1.0),
        std=lambda: torch.normal(0.0, torch.arange(1.0, 4.0)),
        both=lambda: torch.normal(torch.zeros(3), torch.ones(3)),
        method=lambda: torch.zeros(3).normal_(1, 0.5),
        large=lambda: torch.zeros(16).normal_(1, 0.5),
    )


def in_place_draws() -> None:
    each(
        uniform=lambda: torch.zeros(3).uniform_(-1, 1),
        bernoulli=lambda: torch.zeros(5).bernoulli_(0.3),
        random=lambda: torch.zeros(3).random_(),
        random_to=lambda: torch.zeros(3).random_(7),
        random_from=lambda: torch.zeros(3, dtype=torch.int64).random_(2, 5),
        exponential=lambda: torch.zeros(3).exponential_(),
        geometric=lambda: torch.zeros(3).geometric_(0.5),
        cauchy=lambda: torch.zeros(3).cauchy_(),
        log_normal=lambda: torch.zeros(3).log_normal_(),
        random_int=lambda: torch.zeros(3, dtype=torch.int32).random_(),
        random_bool=lambda: torch.zeros(5, dtype=torch.bool).random_(),
    )


def distributions_of_counts() -> None:
    p = torch.tensor([0.1, 0.2, 0.7])
    each(
        bernoulli=lambda: torch.bernoulli(p),
        one=lambda: torch.multinomial(p, 1),
        many=lambda: torch.multinomial(p, 5, replacement=True),
        without=lambda: torch.multinomial(p, 3),
        rows=lambda: torch.multinomial(torch.ones(2, 3), 2),
        too_many=lambda: torch.multinomial(p, 4),
        poisson=lambda: torch.poisson(torch.tensor([1.0, 5.0])),
    )


def draws_like_another() -> None:
    x = torch.zeros(2, 2, dtype=torch.float64)
    print(
        torch.rand_like(x),
        torch.randn_like(x),
        torch.randn_like(x, dtype=torch.float32),
        torch.rand(2, 2).t().contiguous(),
        torch.rand_like(torch.zeros(2, 3).t()).stride(),
    )


def states_can_be_saved_and_restored() -> None:
    torch.randn(3)
    state = torch.get_rng_state()
    a = torch.randn(4), torch.rand(2)
    torch.set_rng_state(state)
    b = torch.randn(4), torch.rand(2)
    print(a[0].equal(b[0]), a[1].equal(b[1]), state.dtype, state.shape)
    outcome(torch.set_rng_state, torch.zeros(3, dtype=torch.uint8))
    outcome(torch.set_rng_state, torch.zeros(5056))


def a_state_remembers_the_cached_normal() -> None:
    torch.randn(1)
    state = torch.get_rng_state()
    a = torch.randn(1)
    torch.set_rng_state(state)
    print(a.equal(torch.randn(1)))


def seeds() -> None:
    print(torch.initial_seed())
    torch.manual_seed(42)
    print(torch.initial_seed(), torch.rand(2))
    torch.manual_seed(-1)
    print(torch.initial_seed(), torch.rand(2))
    torch.manual_seed(2**40 + 5)
    print(torch.rand(2))
    each(
        text=lambda: torch.manual_seed("a"),
        floating=lambda: torch.manual_seed(1.5) and None,
        big=lambda: torch.manual_seed(2**64),
        kind=lambda: isinstance(torch.seed(), int),
    )


def a_generator_is_independent() -> None:
    g = torch.Generator()
    g.manual_seed(5)
    a = torch.rand(3, generator=g)
    b = torch.rand(3)
    print(
        a,
        b,
        torch.randn(2, generator=g),
        torch.randint(9, (2,), generator=g),
        torch.randperm(4, generator=g),
    )
    print(
        g.initial_seed(),
        g.device,
        torch.zeros(2).uniform_(generator=g),
        torch.zeros(2).normal_(generator=g),
    )
    print(g.manual_seed(5) is g, torch.rand(3, generator=g).equal(a))


def a_generators_state_moves_to_another() -> None:
    g, h = torch.Generator().manual_seed(1), torch.Generator()
    torch.rand(3, generator=g)
    h.set_state(g.get_state())
    print(
        torch.rand(3, generator=g).equal(torch.rand(3, generator=h)),
        torch.default_generator.initial_seed(),
    )
    outcome(torch.rand, 2, generator=5)


def fork_rng_restores_the_state() -> None:
    before = torch.rand(1)
    with torch.random.fork_rng():
        torch.manual_seed(99)
        print(torch.rand(1))
    print(before, torch.rand(1))


def initialisers() -> None:
    init = torch.nn.init
    for name, arguments in (
        ("uniform_", (-1, 1)),
        ("normal_", (0, 0.1)),
        ("constant_", (3,)),
        ("ones_", ()),
        ("eye_", ()),
        ("xavier_uniform_", ()),
        ("xavier_normal_", (2.0,)),
        ("kaiming_uniform_", ()),
        ("kaiming_normal_", (0, "fan_out")),
        ("trunc_normal_", ()),
        ("orthogonal_", ()),
        ("sparse_", (0.5,)),
        ("dirac_", ()),
    ):
        w = torch.empty(3, 3)
        outcome(getattr(init, name), w, *arguments)
    print(
        init.calculate_gain("relu"),
        init.calculate_gain("leaky_relu", 0.2),
        init.calculate_gain("tanh"),
    )
    outcome(init.xavier_uniform_, torch.empty(3))
    outcome(init.calculate_gain, "nothing")


def layers_draw_their_weights_in_order() -> None:
    nn = torch.nn
    for m in (
        nn.Linear(2, 3),
        nn.Conv2d(1, 2, 2),
        nn.Embedding(3, 2),
        nn.LSTM(2, 1),
        nn.Bilinear(1, 2, 2),
        nn.MultiheadAttention(2, 1),
        nn.ConvTranspose1d(1, 1, 2),
        nn.RNNCell(2, 2),
    ):
        print([(n, p.flatten()[:3]) for n, p in m.named_parameters()])


def dropout_follows_the_seed() -> None:
    print(
        torch.nn.functional.dropout(torch.ones(10), 0.3),
        torch.nn.functional.dropout(torch.ones(20), 0.9),
        torch.nn.Dropout2d(0.5)(torch.ones(1, 4, 1, 2)),
    )


def large_draws_have_the_same_sum() -> None:
    print(
        f"{torch.rand(1000).sum().item():.3f} {torch.randn(1000).sum().item():.3f} {torch.randint(100, (1000,)).sum().item()} {torch.randperm(1000)[:5].tolist()} {torch.bernoulli(torch.full((1000,), 0.3)).sum().item()} {torch.zeros(1000).exponential_().sum().item():.2f}"
    )


def draws_in_half_precision() -> None:
    each(
        rand=lambda: torch.rand(4, dtype=torch.float16),
        randn=lambda: torch.randn(4, dtype=torch.bfloat16),
        many=lambda: torch.randn(17, dtype=torch.float16),
        cplx=lambda: torch.randn(3, dtype=torch.complex64),
    )


def random_split_and_samplers() -> None:
    data = torch.utils.data
    a, b = data.random_split(list(range(6)), [4, 2])
    print(list(a), list(b))
    print(
        list(data.RandomSampler(range(5))),
        list(data.DataLoader(list(range(6)), batch_size=4, shuffle=True)),
    )
