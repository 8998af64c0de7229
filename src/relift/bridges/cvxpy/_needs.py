"""The version of CVXPY that the rest of this package relies on; checked before anything else is imported."""

from importlib.metadata import PackageNotFoundError, version

from relift.errors import MissingPackageError
from relift.solvers.osqp_library import load_quietly

OLDEST = (1, 9)
"""Before 1.9 CVXPY keeps the last instance of a solver under its name, so that its options leak."""

try:
    FOUND = version("cvxpy")
except PackageNotFoundError as error:
    raise MissingPackageError(
        "relift.cvxpy needs the package cvxpy.", 'Install it: pip install "relift[cvxpy]".'
    ) from error

if tuple(int(part) for part in FOUND.split(".")[:2]) < OLDEST:
    raise MissingPackageError(
        f"relift.cvxpy needs CVXPY {OLDEST[0]}.{OLDEST[1]} or newer; this is {FOUND}.",
        'Install it: pip install --upgrade "relift[cvxpy]".',
    )

load_quietly()  # CVXPY imports OSQP, when it lists its solvers
