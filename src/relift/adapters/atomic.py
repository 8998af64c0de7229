"""Files that appear all at once, or not at all; see :mod:`relift.atomic`."""

from relift.atomic import write_atomically

__all__ = ["write_atomically"]
