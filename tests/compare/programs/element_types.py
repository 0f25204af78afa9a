"""Memory read as elements of another type: which layouts allow it, and what the view is."""

import numpy as np
import torch
from observation import each

KINDS = (torch.int8, torch.bool, torch.bfloat16, torch.int32, torch.float64, torch.complex64)


def _told(view: torch.Tensor) -> tuple[object, ...]:
    return tuple(view.shape), view.stride(), view.storage_offset(), view.dtype


def wider_and_narrower_views() -> None:
    for kind in KINDS:
        for wanted in KINDS:
            a = torch.ones(2, 3, 16).to(kind)
            print(kind, wanted)
            each(
                whole=lambda a=a, wanted=wanted: _told(a.view(wanted)),
                odd_size=lambda a=a, wanted=wanted: _told(a[:, :, 1:].view(wanted)),
                odd_start=lambda a=a, wanted=wanted: _told(a[:, :, 1:9].view(wanted)),
                turned=lambda a=a, wanted=wanted: _told(a.permute(1, 0, 2).view(wanted)),
                one_wide=lambda a=a, wanted=wanted: _told(a.permute(2, 0, 1).view(wanted)),
                spread=lambda a=a, wanted=wanted: _told(a[:, :, ::2].view(wanted)),
                odd_rows=lambda a=a, wanted=wanted: _told(
                    a.as_strided((1, 16), (3, 1)).view(wanted)
                ),
                no_rows=lambda a=a, wanted=wanted: _told(a[:0].view(wanted)),
                empty=lambda a=a, wanted=wanted: _told(a.new_zeros(0, 5, 16).view(wanted)),
                spread_empty=lambda a=a, wanted=wanted: _told(a[:0, :, ::2].view(wanted)),
                number=lambda a=a, wanted=wanted: _told(a.new_zeros(()).view(wanted)),
                repeated=lambda a=a, wanted=wanted: _told(a.expand(4, 2, 3, 16).view(wanted)),
            )


def parts_as_complex_numbers() -> None:
    z = torch.zeros(30)
    each(
        odd_rows=lambda: _told(torch.view_as_complex(z.as_strided((2, 2), (3, 1)))),
        one_row=lambda: _told(torch.view_as_complex(z.as_strided((1, 2), (3, 1)))),
        no_row=lambda: _told(torch.view_as_complex(z.as_strided((0, 2), (3, 1)))),
        no_even_row=lambda: _told(torch.view_as_complex(z.as_strided((0, 2), (4, 1)))),
        spread=lambda: _told(torch.view_as_complex(z.as_strided((0, 2), (4, 2)))),
        odd_start=lambda: _told(torch.view_as_complex(z.as_strided((2, 2), (2, 1), 1))),
        same_row=lambda: _told(torch.view_as_complex(z.as_strided((3, 2), (0, 1)))),
        empty_parts=lambda: _told(torch.view_as_real(torch.zeros(0, 3, dtype=torch.complex64))),
    )


def parts_of_an_array_from_outside() -> None:
    whole = np.zeros(22, np.float32)
    part = torch.from_numpy(whole[1:9])
    print(part.view(torch.complex64).shape, torch.view_as_complex(part.view(4, 2)).shape)
