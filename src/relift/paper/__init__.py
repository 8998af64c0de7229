"""The experiments of the paper, run again: ``relift reproduce NAME``.

:mod:`~relift.paper.framework` says what an experiment is, :mod:`~relift.paper.registry` which there are,
:mod:`~relift.paper.runner` runs one and keeps its finished parts, :mod:`~relift.paper.results` writes what
came out. Needs scikit-learn and matplotlib (``pip install "relift[ml,plot]"``).
"""
