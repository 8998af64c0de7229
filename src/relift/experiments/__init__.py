"""The experiments of the paper, run again: ``relift reproduce NAME``.

:mod:`~relift.experiments.framework` says what an experiment is, :mod:`~relift.experiments.registry` which there are,
:mod:`~relift.experiments.runner` runs one and keeps its finished parts, :mod:`~relift.experiments.results` writes what
came out. Needs scikit-learn and matplotlib (``pip install "relift[ml,plot]"``).
"""
