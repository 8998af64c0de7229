"""A program as plain dense arrays, so that it can be taken apart, and written down as code that makes it again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from relift import ConicRows, Program
from relift.program.cones import Cone, PowerND, SecondOrder

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Draft:
    """The arguments of a :class:`relift.Program`, dense."""

    q: Array
    A: Array
    l: Array
    u: Array
    lb: Array
    ub: Array
    P: Array | None = None
    r: float = 0.0
    sense: Literal["min", "max"] = "min"
    quadratic: tuple[tuple[Array, Array, float], ...] = ()
    cones: tuple[tuple[Cone, Array, Array], ...] = ()
    """Each cone with its own rows (C, b): b - Cx lies in it."""
    words: dict[str, Any] = field(default_factory=dict)
    """How it was drawn."""

    @property
    def n(self) -> int:
        return int(self.q.size)

    @property
    def m(self) -> int:
        return int(self.l.size)

    @property
    def is_linear(self) -> bool:
        return self.P is None and not self.quadratic and not self.cones

    @property
    def kind(self) -> str:
        if self.cones:
            return "SOCP" if all(isinstance(cone, SecondOrder) for cone, _, _ in self.cones) else "conic"
        return "QCQP" if self.quadratic else "LP" if self.P is None else "QP"

    def program(self) -> Program:
        conic = None
        if self.cones:
            stacked = np.vstack([C for _, C, _ in self.cones]), np.concatenate([b for _, _, b in self.cones])
            conic = ConicRows(*stacked, [cone for cone, _, _ in self.cones])
        return Program(
            self.P, self.q, self.A, self.l, self.u, self.lb, self.ub, self.r,
            sense=self.sense, quadratic=list(self.quadratic), conic=conic,
        )  # fmt: skip

    def with_rows(self, rows: Any) -> Draft:
        return replace(self, A=self.A[rows], l=self.l[rows], u=self.u[rows])

    def with_columns(self, columns: Any) -> Draft:
        """Without the other variables: they are set to zero."""
        return replace(
            self,
            q=self.q[columns], A=self.A[:, columns], lb=self.lb[columns], ub=self.ub[columns],
            P=None if self.P is None else self.P[np.ix_(columns, columns)],
            quadratic=tuple((P[np.ix_(columns, columns)], q[columns], r) for P, q, r in self.quadratic),
            cones=tuple((cone, C[:, columns], b) for cone, C, b in self.cones),
        )  # fmt: skip

    def code(self) -> str:
        """The lines that make the program again."""
        arguments = [f"P={_list(self.P)}"] if self.P is not None else []
        arguments += [f"{name}={_list(getattr(self, name))}" for name in ("q", "A", "l", "u", "lb", "ub")]
        if self.m == 0:
            arguments = [word for word in arguments if not word.startswith(("A=", "l=", "u="))]
        if self.r:
            arguments.append(f"r={self.r!r}")
        if self.sense != "min":
            arguments.append(f"sense={self.sense!r}")
        if self.quadratic:
            triples = ", ".join(f"({_list(P)}, {_list(q)}, {float(r)!r})" for P, q, r in self.quadratic)
            arguments.append(f"quadratic=[{triples}]")
        if self.cones:
            C, b = np.vstack([C for _, C, _ in self.cones]), np.concatenate([b for _, _, b in self.cones])
            kinds = ", ".join(f"relift.{_cone_code(cone)}" for cone, _, _ in self.cones)
            arguments.append(f"conic=relift.ConicRows({_list(C)}, {_list(b)}, [{kinds}])")
        return "import relift\nfrom math import inf\nprogram = relift.Program(" + ", ".join(arguments) + ")\n"


def _cone_code(cone: Cone) -> str:
    return f"PowerND({list(cone.alphas)})" if isinstance(cone, PowerND) else repr(cone)


def _list(values: Any) -> str:
    return repr(np.asarray(values).tolist())
