"""The command line: ``relift solve``, ``lift``, ``expand``, ``check``, ``inspect``, ``backends``, ``info``.

For models in the modelling language (``.rlp``): ``solve``, ``ground``, ``check``, ``fmt``, ``show``.
``relift reproduce`` runs the experiments of the paper again.

Exit codes: 0 solved (or: checked and right), 2 wrong usage or a file that cannot be read, 3 infeasible,
4 unbounded, 5 stopped by a limit, 6 failure (also an answer that does not pass its check), 130 interrupted (Ctrl-C),
143 terminated (SIGTERM).

Results go to stdout, everything else to stderr. Heavy libraries are imported when a command runs, not before.
"""

from relift.cli.run import main

__all__ = ["main"]
