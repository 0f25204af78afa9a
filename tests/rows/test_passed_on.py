"""Misuse of functions that are Python in PyTorch: the words are those of what they call."""

import warnings

import pytest

import rushlight as torch

F = torch.nn.functional
X = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: F.soft_margin_loss(3, X), "soft_margin_loss(): argument 'input' (position 1)"),
        (lambda: F.nll_loss(X, [1]), "nll_loss_nd(): argument 'target' (position 2)"),
        (lambda: F.kl_div([1], X, reduction="sum"), "kl_div(): argument 'input' (position 1)"),
        (lambda: F.grid_sample(X, {}), "grid_sampler(): argument 'grid' (position 2)"),
        (lambda: F.triplet_margin_loss(X, X, 1.0), "argument 'negative' (position 3) must be Ten"),
        (lambda: F.ctc_loss(X, X, X, -5), "ctc_loss() received an invalid combination"),
        (
            lambda: X.stft(X, center=False),
            "stft() received an invalid combination of arguments - got (Tensor, T",
        ),
        (lambda: torch.cdist(X, 3), "cdist(): argument 'x2' (position 2) must be Tensor"),
        (lambda: torch.istft(X, [1]), "istft(): argument 'n_fft' (position 2) must be int"),
        (lambda: F.batch_norm(X, X, X, {}), "batch_norm(): argument 'weight' (position 2) must"),
        (lambda: F.cross_entropy(X, X, [1]), "cross_entropy_loss(): argument 'weight' (position 3"),
        (lambda: F.embedding(X, X, 1.5), "embedding(): argument 'padding_idx' (position 3) must"),
        (lambda: F.kl_div(X, X, log_target=X), "kl_div(): argument 'log_target' must be bool"),
        (lambda: F.leaky_relu(X, {}), "leaky_relu(): argument 'negative_slope' (position 2) must"),
        (lambda: F.pad(X, X), "pad(): argument 'pad' (position 2) must be tuple of ints, not Ten"),
        (lambda: F.pad(X, [1, 1], value=X), "pad(): argument 'value' (position 4) must be float"),
        (lambda: F.poisson_nll_loss(X, 1.5), "poisson_nll_loss(): argument 'target' (position 2)"),
        (lambda: torch.reshape(X, X), "reshape(): argument 'shape' (position 2) must be tuple of"),
        (lambda: X.reshape(1.5), "reshape(): argument 'shape' (position 1) must be tuple of ints"),
        (lambda: X.unflatten(1j, (3, 1)), "unflatten(): argument 'dim' (position 1) must be int"),
    ],
)
def test_what_is_passed_on_is_refused_by_what_it_is_passed_to(call, text):
    with warnings.catch_warnings(), pytest.raises(TypeError) as error:
        warnings.simplefilter("ignore")
        call()
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x.transpose_(1.5, 0), "transpose_(): argument 'dim0' (position 1) must be int"),
        (lambda x: x.unsqueeze_(X), "unsqueeze_(): argument 'dim' (position 1) must be int, not T"),
        (lambda x: x.squeeze_(X), "squeeze_() received an invalid combination of arguments"),
        (lambda x: x.view_as("a"), "view_as(): argument 'other' (position 1) must be Tensor"),
        (lambda x: x.reshape_as(), 'reshape_as() missing 1 required positional arguments: "other"'),
        (lambda x: x.type_as(X, 1), "type_as() takes 1 positional argument but 2 were given"),
        (lambda x: torch.zero_({}), "zero_(): argument 'input' (position 1) must be Tensor"),
    ],
)
def test_wrong_types_are_found_before_a_leaf_is_refused(call, text):
    with pytest.raises(TypeError) as error:
        call(torch.ones(2, 3, requires_grad=True))
    assert text in str(error.value)


def test_a_warning_names_the_line_of_the_program():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        F.kl_div(X, X)
        torch.nn.KLDivLoss()(X, X)
    assert [w.filename for w in seen] == [__file__, __file__]


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "feature_alpha_dropout"])
def test_dropouts_say_what_their_operators_take(name: str) -> None:
    function, x = getattr(F, name), torch.ones(2, 3)
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'train' \(position 3\) must be b"):
        function(x, 0.5, 1)
    with pytest.raises(TypeError, match=rf"{name}_\(\): argument 'train' \(position 3\) must be b"):
        function(x, 0.5, float("nan"), True)
    with pytest.raises(TypeError, match=rf"{name}_\(\): argument 'input' \(position 1\) must be T"):
        function(1, 0.5, True, True)


def test_dropout_of_integers_draws_before_it_is_refused() -> None:
    torch.manual_seed(1)
    with pytest.raises(RuntimeError, match="result type Float can't be cast"):
        F.dropout(torch.ones(24, dtype=torch.int16))
    after = torch.rand(1)
    torch.manual_seed(1)
    F.dropout(torch.ones(24))
    assert torch.equal(torch.rand(1), after)


def test_alpha_dropout_adds_in_place() -> None:
    assert F.alpha_dropout(torch.ones(2, 3), training=True)._version == 1


def test_rrelu_says_what_its_operator_takes() -> None:
    with pytest.raises(TypeError, match=r"rrelu\(\): argument 'lower' \(position 2\) must be Num"):
        F.rrelu(X, "a")
    with pytest.raises(
        TypeError, match=r"rrelu_\(\): argument 'training' \(position 4\) must be b"
    ):
        F.rrelu(X, training=1, inplace=True)
    x = torch.ones(2, requires_grad=True)
    assert F.rrelu_(x * 1).grad_fn.name() == "RreluWithNoiseBackward1"


def test_losses_that_are_bounded_or_added_to_in_place_count_it() -> None:
    assert torch.margin_ranking_loss(X, X, X)._version == 1
    assert torch.poisson_nll_loss(X, X, True, True, 0.0, 0)._version == 1
