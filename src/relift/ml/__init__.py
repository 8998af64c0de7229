"""Lifted machine learning, as scikit-learn estimators.

Support vector machines: ``LiftedSVC``, ``LiftedSVR``, ``LiftedLinearSVC``, ``LiftedNuSVC``, ``LiftedNuSVR``,
``LiftedOneClassSVM``, ``LPSVC`` and ``LiftedSVCCV``. Linear models for data with repeated rows:
``LiftedLogisticRegression``, ``LiftedPoissonRegressor``, ``LiftedQuantileRegressor``, ``LiftedLasso`` and
``LiftedElasticNet``. :func:`approximate_orbits` for points.
Needs scikit-learn (``pip install relift[ml]``), except for what is used by :mod:`relift` itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from relift.errors import MissingPackageError

if TYPE_CHECKING:
    from relift.ml.cross_validation import LiftedSVCCV
    from relift.ml.elastic_net import LiftedElasticNet, LiftedLasso
    from relift.ml.linear_svc import LiftedLinearSVC
    from relift.ml.logistic import LiftedLogisticRegression
    from relift.ml.lp_svc import LPSVC
    from relift.ml.nu_machines import LiftedNuSVC, LiftedNuSVR, LiftedOneClassSVM
    from relift.ml.point_signatures import PointClasses, approximate_orbits
    from relift.ml.poisson import LiftedPoissonRegressor
    from relift.ml.quantile import LiftedQuantileRegressor
    from relift.ml.svc import LiftedSVC
    from relift.ml.svr import LiftedSVR

_HOME = {
    "LPSVC": "lp_svc",
    "LiftedElasticNet": "elastic_net",
    "LiftedLasso": "elastic_net",
    "LiftedLinearSVC": "linear_svc",
    "LiftedLogisticRegression": "logistic",
    "LiftedNuSVC": "nu_machines",
    "LiftedNuSVR": "nu_machines",
    "LiftedOneClassSVM": "nu_machines",
    "LiftedPoissonRegressor": "poisson",
    "LiftedQuantileRegressor": "quantile",
    "LiftedSVC": "svc",
    "LiftedSVCCV": "cross_validation",
    "LiftedSVR": "svr",
    "PointClasses": "point_signatures",
    "approximate_orbits": "point_signatures",
}

__all__ = [
    "LPSVC",
    "LiftedElasticNet",
    "LiftedLasso",
    "LiftedLinearSVC",
    "LiftedLogisticRegression",
    "LiftedNuSVC",
    "LiftedNuSVR",
    "LiftedOneClassSVM",
    "LiftedPoissonRegressor",
    "LiftedQuantileRegressor",
    "LiftedSVC",
    "LiftedSVCCV",
    "LiftedSVR",
    "PointClasses",
    "approximate_orbits",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        try:
            value = getattr(import_module(f"relift.ml.{_HOME[name]}"), name)
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith("sklearn"):
                raise
            raise MissingPackageError(
                f"relift.ml.{name} needs scikit-learn.", 'Install it with: pip install "relift[ml]"'
            ) from error
        globals()[name] = value
        return value
    raise AttributeError(f"module 'relift.ml' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
