"""Random states of devices other than the CPU, which checkpoints would keep: there are none."""

from __future__ import annotations


class DefaultDeviceType:
    """The kind of device whose random state is kept where the arguments are on none: the CPU.

    Example:
        >>> torch.utils.checkpoint.DefaultDeviceType.get_device_type()
        'cpu'
    """

    _default_device_type = "cpu"

    @staticmethod
    def set_device_type(device: str = "cpu") -> None:
        """Sets it."""
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type() -> str:
        """The one in force."""
        return DefaultDeviceType._default_device_type


def get_device_states(*args: object) -> tuple[list[int], list[object]]:
    """The random states of the devices, other than the CPU, that the arguments are on: none.

    Parameters:
        args: any values.
    Returns: two empty lists.
    Raises: nothing.
    Example:
        >>> torch.utils.checkpoint.get_device_states(torch.ones(1))
        ([], [])
    """
    return [], []


def set_device_states(devices: object, states: object, *, device_type: str | None = None) -> None:
    """Sets the random states of devices other than the CPU: there are none.

    Parameters:
        devices, states: what `get_device_states` has given.
        device_type: their kind.
    Raises: nothing.
    Example:
        >>> torch.utils.checkpoint.set_device_states([], [])
    """
