"""Convolution, pooling and resampling: results, graphs, layouts, refusals."""

import copy
import io

import torch
from observation import each, outcome
from torch import nn

F = nn.functional


def _ramp(*shape: int) -> torch.Tensor:
    count = 1
    for n in shape:
        count *= n
    return ((torch.arange(count) * 7) % 23 - 11.0).reshape(shape)


def _names(function: object, depth: int = 3) -> list:
    if function is None or not depth:
        return []
    inner = [_names(f, depth - 1) for f, _ in function.next_functions]
    return [type(function).__name__, *inner]


def convolutions_of_small_integers() -> None:
    x, w, b = _ramp(2, 2, 5, 4), _ramp(4, 2, 2, 3), _ramp(4)
    print(F.conv2d(x, w, b))
    print(F.conv2d(x, w, b, stride=(2, 1), padding=(1, 2), dilation=(2, 1)))
    print(F.conv2d(x, _ramp(4, 1, 2, 2), groups=2))
    print(F.conv_transpose2d(x, _ramp(2, 3, 2, 2), stride=2, output_padding=1))
    print(F.conv1d(x[0], _ramp(3, 5, 2), padding="same").shape)
    print(F.conv3d(_ramp(1, 1, 3, 3, 3), _ramp(2, 1, 2, 2, 2)))
    print(F.conv2d(x.long(), w.long()).dtype, F.conv2d(x.double(), w.double()).dtype)


def graphs_of_convolutions() -> None:
    x = _ramp(2, 2, 4).requires_grad_()
    w, b = _ramp(3, 2, 2).requires_grad_(), _ramp(3).requires_grad_()
    y = F.conv1d(x, w, b)
    print(_names(y.grad_fn))
    print(_names(F.conv1d(x[0], w, b).grad_fn))
    print(_names(F.conv_transpose1d(x, _ramp(2, 3, 2).requires_grad_()).grad_fn))
    node = y.grad_fn
    print(node._saved_stride, node._saved_padding, node._saved_dilation, node._saved_groups)
    print(node._saved_transposed, node._saved_output_padding, node._saved_bias_sym_sizes_opt)
    print(torch.equal(node._saved_input, x), torch.equal(node._saved_weight, w))


def gradients_of_convolutions_to_third_order() -> None:
    x = _ramp(1, 2, 4).div(8).double().requires_grad_()
    w = _ramp(2, 2, 2).div(8).double().requires_grad_()
    y = (F.conv1d(x, w, stride=1, padding=1) ** 3).sum()
    for _ in range(3):
        gx, gw = torch.autograd.grad(y, (x, w), create_graph=True)
        print(gx, gw)
        y = (gx.sum() + (gw**2).sum()) / 4


def the_graph_is_freed_after_backward() -> None:
    x, w = _ramp(1, 1, 4).requires_grad_(), _ramp(1, 1, 2).requires_grad_()
    y = F.conv1d(x, w).sum()
    y.backward()
    print(x.grad, w.grad)
    each(again=lambda: y.backward())


def a_weight_changed_in_place_is_found() -> None:
    x, w = _ramp(1, 1, 4).requires_grad_(), _ramp(1, 1, 2).requires_grad_()
    y = F.conv1d(x, w)
    with torch.no_grad():
        w.add_(1)
    each(backward=lambda: y.sum().backward())


def maxima_and_their_places() -> None:
    x = _ramp(1, 2, 5, 6)
    x[0, 0, 1, 1] = float("nan")
    print(*F.max_pool2d(x, 2, return_indices=True))
    print(*F.max_pool2d(x, 3, 2, 1, ceil_mode=True, return_indices=True))
    print(F.max_pool1d(x[0], 3, 1, dilation=2))
    print(*F.adaptive_max_pool2d(x, (2, 4), return_indices=True))
    values, places = F.max_pool2d(_ramp(1, 1, 4, 4), 2, return_indices=True)
    print(F.max_unpool2d(values, places, 2))
    y = F.max_pool2d(_ramp(1, 1, 4, 4).requires_grad_(), 2)
    print(type(y.grad_fn).__name__, y.grad_fn._saved_result1, y.grad_fn._saved_kernel_size)


def means_over_windows() -> None:
    x = _ramp(1, 2, 5, 6)
    print(F.avg_pool2d(x, 2))
    print(F.avg_pool2d(x, 3, 2, 1, True, False))
    print(F.avg_pool2d(x, 2, divisor_override=3))
    print(F.avg_pool1d(x[0], 2, 1, 1))
    print(F.adaptive_avg_pool2d(x, (None, 4)))
    print(_names(F.adaptive_avg_pool2d(x.requires_grad_(), 1).grad_fn, 1))
    print(F.lp_pool2d(x.detach().abs(), 2, 2))


def interpolation_in_all_modes() -> None:
    x = _ramp(1, 1, 3, 4)
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
        print(mode, F.interpolate(x, size=(4, 6), mode=mode))
        y = F.interpolate(x.clone().requires_grad_(), scale_factor=2, mode=mode)
        print(type(y.grad_fn).__name__, tuple(y.shape))
    print(F.interpolate(x, size=(5, 5), mode="bilinear", align_corners=True))
    print(F.interpolate(x, size=(2, 2), mode="bicubic", antialias=True))
    print(F.interpolate(x[0], scale_factor=1.5, mode="linear", recompute_scale_factor=True))


def sampling_on_a_grid() -> None:
    x = _ramp(1, 1, 3, 4)
    theta = torch.tensor([[[0.5, 0.25, 0.1], [0.0, 1.0, -0.3]]])
    grid = F.affine_grid(theta, (1, 1, 3, 3), align_corners=False)
    print(grid)
    for padding in ("zeros", "border", "reflection"):
        print(F.grid_sample(x, grid * 1.5, "nearest", padding, align_corners=True))


def patches_and_shuffles() -> None:
    x = _ramp(1, 4, 4, 4)
    print(F.unfold(x, 3))
    print(F.fold(F.unfold(x, 2, stride=2), (4, 4), 2, stride=2).equal(x))
    print(F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2).shape, F.channel_shuffle(x, 2)[0, :, 0, 0])


def layers_print_and_remember_their_settings() -> None:
    for layer in (
        nn.Conv2d(2, 4, 3, padding="same", groups=2, bias=False, dilation=2),
        nn.ConvTranspose2d(2, 4, 3, 2, 1, 1),
        nn.Conv1d(2, 4, 3, 2, 1, padding_mode="circular"),
        nn.MaxPool3d((2, 1, 2), stride=1, padding=1, dilation=2),
        nn.AvgPool2d(2),
        nn.AdaptiveMaxPool2d(3),
        nn.LPPool2d(2, 3),
        nn.FractionalMaxPool2d(2, output_size=3),
        nn.Upsample(size=(2, 3), mode="bilinear"),
        nn.Fold((4, 4), 2),
    ):
        print(layer, list(layer.state_dict()))
        print(copy.deepcopy(layer))


def weights_from_a_seed() -> None:
    torch.manual_seed(7)
    for layer in (nn.Conv2d(2, 3, 2), nn.ConvTranspose1d(2, 4, 3, groups=2), nn.Conv3d(1, 2, 2)):
        for name, parameter in layer.named_parameters():
            print(name, parameter)


def a_saved_network_loads() -> None:
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2))
    file = io.BytesIO()
    torch.save(net.state_dict(), file)
    file.seek(0)
    other = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2))
    print(other.load_state_dict(torch.load(file)))
    x = _ramp(1, 1, 6, 6)
    print(torch.equal(net(x), other(x)))


def shapes_that_do_not_fit() -> None:
    z = torch.zeros
    each(
        channels=lambda: F.conv2d(z(1, 3, 4, 4), z(2, 2, 3, 3)),
        groups=lambda: F.conv2d(z(1, 2, 4, 4), z(3, 1, 3, 3), groups=2),
        bias=lambda: F.conv2d(z(1, 2, 4, 4), z(2, 2, 3, 3), z(3)),
        kernel=lambda: F.conv2d(z(1, 2, 4, 4), z(2, 2, 5, 5)),
        dimensions=lambda: F.conv2d(z(2, 4), z(2, 2, 3, 3)),
        stride=lambda: F.conv2d(z(1, 2, 4, 4), z(2, 2, 3, 3), stride=(1, 1, 1)),
        same=lambda: F.conv2d(z(1, 2, 4, 4), z(2, 2, 3, 3), stride=2, padding="same"),
        word=lambda: F.conv2d(z(1, 2, 4, 4), z(2, 2, 3, 3), padding="foo"),
        types=lambda: F.conv2d(z(1, 2, 4, 4), z(2, 2, 3, 3).double()),
        small=lambda: F.conv_transpose2d(z(1, 2, 2, 2), z(2, 2, 3, 3), padding=5),
        extra=lambda: F.conv_transpose2d(z(1, 2, 4, 4), z(2, 2, 3, 3), output_padding=1),
        size=lambda: nn.ConvTranspose2d(2, 2, 3, 2)(z(1, 2, 4, 4), output_size=(20, 20)),
        pad=lambda: F.max_pool2d(z(1, 2, 4, 4), 2, padding=2),
        window=lambda: F.avg_pool2d(z(1, 2, 4, 4), 9),
        divisor=lambda: F.avg_pool2d(z(1, 2, 4, 4), 2, divisor_override=0),
        fold=lambda: F.fold(z(1, 9, 9), (4, 4), 2),
        unfold=lambda: F.unfold(z(1, 2, 4, 4), 5),
        shuffle=lambda: F.pixel_shuffle(z(1, 2, 4, 4), 2),
        mode=lambda: F.interpolate(z(1, 2, 4, 4), 2, mode="linear"),
        both=lambda: F.interpolate(z(1, 2, 4, 4), 2, 2),
        grid=lambda: F.grid_sample(z(1, 2, 4, 4), z(2, 3, 3, 2), align_corners=False),
    )


def channels_last_stays_last() -> None:
    x = _ramp(1, 4, 4, 4).contiguous(memory_format=torch.channels_last)
    for f in (
        lambda: F.conv2d(x, _ramp(2, 4, 3, 3)),
        lambda: F.max_pool2d(x, 2),
        lambda: F.avg_pool2d(x, 2),
        lambda: F.adaptive_avg_pool2d(x, 2),
        lambda: F.interpolate(x, size=5),
    ):
        y = f()
        print(y.stride(), y.is_contiguous(memory_format=torch.channels_last))


def integers_and_bools_are_refused_where_torch_does() -> None:
    x = torch.ones(1, 2, 4, 4)
    outcome(lambda: F.conv2d(x.bool(), x.bool()))
    outcome(lambda: F.avg_pool2d(x.int(), 2))
    outcome(lambda: F.max_pool1d(x[0].long(), 2))
    outcome(lambda: F.max_pool2d(x.int(), 2))
    outcome(lambda: F.interpolate(x.int(), 2))
    outcome(lambda: F.unfold(x.int(), 2))
