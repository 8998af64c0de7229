"""PyTorch, where a device is asked for; relift does not require it."""

from __future__ import annotations

from types import ModuleType

from relift.errors import MissingPackageError, OptionError


def import_torch(device: str) -> ModuleType:
    """PyTorch, if it is installed and has the device.

    Raises
    ------
    MissingPackageError
        If PyTorch is not installed.
    OptionError
        If PyTorch does not have the device.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingPackageError(f"device={device!r} needs PyTorch.", "Install it: pip install torch") from error
    try:
        torch.empty(1, dtype=torch.float64, device=device)
    # A failed assertion says that PyTorch was built without CUDA, a TypeError that there is no double precision.
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise OptionError(
            f"device={device!r} cannot be used: {reason}.", "Give a device of this machine, such as 'cuda' or 'cpu'."
        ) from error
    module: ModuleType = torch
    return module
