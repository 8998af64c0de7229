"""The running example of the paper: two partitions of four variables, and what they look like in space.

Minimise x'Qx over x >= 1. Renamings of Q and counting tell {1,3} from {2,4}; sums see one class {1,2,3,4}. In the
factor B of Q = BB' the renaming is half a turn; the coarser partition comes from a map M that is no rotation, yet moves
each row of B to the place of another.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from relift.arrays import Matrix
from relift.paper.coloured_graph import draw_coloured_graph
from relift.paper.figures import COLOURS, new_figure
from relift.paper.framework import Comparison, Experiment, Figure, Part, Report, Request, Row, Setup, Table
from relift.pipeline import lift, solve
from relift.program.program import Program
from relift.settings import LiftMethod
from relift.symmetry.partition import Partition

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

Q: Matrix = np.array([[1.0, 0, -1, 0], [0, 2, 0, -2], [-1, 0, 1, 0], [0, -2, 0, 2]])
POINT: Matrix = np.array([2.0, 1, 1, 2])
METHODS = ("orbits", "counting", "equitable")

_S = 1 / np.sqrt(2)
B: Matrix = np.array([[_S, _S], [-1, 1], [-_S, -_S], [1, -1]])


def turn(degrees: float) -> Matrix:
    """What turns row vectors by an angle: x -> x turn(angle)."""
    cos, sin = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return np.array([[cos, sin], [-sin, cos]])


M: Matrix = turn(-45) @ np.diag([np.sqrt(2), _S]) @ turn(-45)
"""Turn, stretch, turn again: B M has rows 4, 1, 2, 3 of B."""


def running_program() -> Program:
    """The running example; note that P = 2Q."""
    return Program(P=2 * Q, lb=np.ones(4))


def classes_as_text(partition: Partition) -> str:
    """Write classes as the paper does, counted from 1.

    Examples
    --------
    >>> classes_as_text(Partition.from_labels([0, 1, 0, 1]))
    '{1,3} {2,4}'
    """
    members = (partition.members(k) for k in range(partition.n_classes))
    return " ".join("{" + ",".join(str(i + 1) for i in each) + "}" for each in members)


def averaging_matrix(partition: Partition) -> Matrix:
    """X = S (S'S)^-1 S'."""
    S = partition.indicator.toarray()
    return np.asarray(S @ np.diag(1.0 / partition.class_sizes) @ S.T)


def settings(request: Request) -> Row:
    """Nothing to choose: quick and full are the same."""
    return {"Q": Q.tolist(), "point": POINT.tolist()}


def parts(setup: Setup) -> list[Part]:
    """One for each way to find classes, one for the geometry."""
    return [Part(f"classes-{method}", f"classes by {method}", {"method": method}, 0.3) for method in METHODS] + [
        Part("geometry", "the rows of B", {"method": ""}, 0.1)
    ]


def run(setup: Setup, part: Part) -> list[Row]:
    """Lift and solve, or take the residuals of what is said about B and M."""
    return [_classes_row(part["method"])] if part["method"] else _geometry_rows()


def _classes_row(method: LiftMethod) -> Row:
    if method == "orbits" and find_spec("igraph") is None:
        return {"kind": "classes", "method": method, "missing": 'pip install "relift[orbits]"'}
    program = running_program()
    partition = lift(program, lift=method).variables
    X = averaging_matrix(partition)
    answer = solve(program, lift=method)
    return {
        "kind": "classes",
        "method": method,
        "labels": partition.labels.tolist(),
        "classes": classes_as_text(partition),
        "value_at_point": float(POINT @ Q @ POINT),
        "average": (X @ POINT).tolist(),
        "value_at_average": float((X @ POINT) @ Q @ (X @ POINT)),
        "commutator": float(np.abs(X @ Q - Q @ X).max()),
        "optimum": float(answer.objective),
        "proved": bool(answer.certificate.is_optimal),
    }


def _geometry_rows() -> list[Row]:
    powers = [np.linalg.matrix_power(M, k) for k in (1, 2, 3, 4)]
    shift = np.eye(4)[[3, 0, 1, 2]]
    X = sum(np.linalg.matrix_power(shift, k) for k in range(4)) / 4
    half = [2, 3, 0, 1]
    claims: list[tuple[str, Matrix, Matrix, bool]] = [
        ("B B' = Q", B @ B.T, Q, True),
        ("B M = rows 4, 1, 2, 3 of B", B @ M, B[[3, 0, 1, 2]], True),
        ("M⁴ = I", powers[3], np.eye(2), True),
        ("M + M² + M³ + M⁴ = 0", np.sum(powers, axis=0), np.zeros((2, 2)), True),
        ("B M M' B' = Q, so that M would rename Q", B @ M @ M.T @ B.T, Q, False),
        ("X Q = Q X for the average X over the powers of M", X @ Q, Q @ X, True),
        ("half a turn of B gives rows 3, 4, 1, 2", B @ turn(180), B[half], True),
        ("half a turn renames Q", Q[np.ix_(half, half)], Q, True),
    ]
    return [
        {"kind": "geometry", "claim": claim, "residual": float(np.abs(left - right).max()), "expected": expected}
        for claim, left, right, expected in claims
    ]


def report(setup: Setup, rows: list[Row]) -> Report:
    """Both partitions beside the paper's, and three figures."""
    found = {row["method"]: row for row in rows if row["kind"] == "classes"}
    some = found["equitable"]
    lines = [
        Comparison("value of x'Qx at (2,1,1,2)", 3.0, some["value_at_point"]),
        Comparison("value at its average over {1,3} {2,4}", 0.0, found["counting"]["value_at_average"]),
        Comparison("value at its average over {1,2,3,4}", 0.0, some["value_at_average"]),
    ]
    wanted = {"orbits": "{1,3} {2,4}", "counting": "{1,3} {2,4}", "equitable": "{1,2,3,4}"}
    names = {"orbits": "orbits of renamings", "counting": "counting partition", "equitable": "coarsest equitable"}
    for method in METHODS:
        lines.append(Comparison(f"classes: {names[method]}", wanted[method], found[method].get("classes")))
    geometry = [row for row in rows if row["kind"] == "geometry"]
    table = Table(
        "The geometry of Theorem 2, checked",
        ("claim", "largest residual", "holds"),
        [
            (row["claim"], f"{row['residual']:.1e}", "yes" if row["residual"] < 1e-12 else "no, as it should be")
            if (row["residual"] < 1e-12) == row["expected"]
            else (row["claim"], f"{row['residual']:.1e}", "**unexpected**")
            for row in geometry
        ],
    )
    text = [
        "Minimise x'Qx over x ≥ 1 (the matrix of the paper's figure, reconstructed from its text). The point (2,1,1,2) "
        "has value 3; averaging it over the classes of **either** partition keeps it feasible and brings it to value "
        "0, the optimum. Renamings of the variables, and colour refinement that counts entries, give {1,3} {2,4}; "
        "colour refinement that adds entries gives one class, since every row of Q adds up to 0.",
        "With Q = BB' the four variables are points in the plane. Half a turn exchanges 1 with 3 and 2 with 4: a "
        "renaming. The map M turns, stretches and turns again; it moves every point to the place of the next and is no "
        "rotation, so it does not rename Q (BMM'B' ≠ Q). Yet the average over its powers is the matrix X with all "
        "entries 1/4, and XQ = QX: a fractional symmetry that no renaming explains.",
    ]
    if "missing" in found["orbits"]:
        text.append(f"Orbits need the package igraph, which is not installed: {found['orbits']['missing']}.")
    figures = [
        Figure("geometry", "Rows of B as points. Left: as they are. Middle: half a turn, a renaming of Q, exchanges 1 "
               "with 3 and 2 with 4. Right: M moves each point to the place of another (1→4→3→2→1); the circle becomes "
               "the ellipse, so M is no rotation.", _draw_geometry),
        Figure("averaging", "Q and what averages over classes do. Left: Q. Middle: the averaging matrices X of both "
               "partitions; both commute with Q. Right: on the way from (2,1,1,2) to its average the value falls "
               "from 3 to 0.", _draw_averaging),
        Figure("coloured_graph", "The program as a coloured graph: circles are variables with their entry Qᵢᵢ, squares "
               "are the constraints x ≥ 1, lines are entries Qᵢⱼ (equal entries, equal lines) and, in grey, entries of "
               "A. Colour refinement that counts gives {1,3} and {2,4} a colour each, and their constraints another; "
               "one vertex for each colour is the quotient, with n(Qᵢᵢ + Qᵢⱼ) = 0 left at each variable. By sums there "
               "is one colour for variables and one for constraints.",
               lambda: draw_coloured_graph(Program(P=2 * Q, A=np.eye(4), l=np.ones(4)))),
    ]  # fmt: skip
    return Report(lines, text, [table], figures)


def _draw_geometry() -> Picture:
    figure, panels = new_figure(3, size=(3.7, 3.9))
    circle = np.column_stack([np.cos(np.linspace(0, 2 * np.pi, 200)), np.sin(np.linspace(0, 2 * np.pi, 200))])
    steps = [(None, "the rows of B"), (turn(180), "turned by 180°"), (M, "mapped by M")]
    for axes, (move, title) in zip(panels, steps, strict=True):
        axes.set_title(title)
        axes.plot(*circle.T, color="#999999", lw=1.2, ls="--")
        axes.plot(*B[[0, 1, 2, 3, 0]].T, color="#bbbbbb", lw=1.2)
        if move is not None:
            axes.plot(*(circle @ move).T, color=COLOURS[1], lw=1.6)
            for start, end in zip(B, B @ move, strict=True):
                axes.annotate(
                    "", end, start,
                    arrowprops={"arrowstyle": "-|>", "color": "#555555", "lw": 1.4, "shrinkA": 10, "shrinkB": 10,
                                "connectionstyle": "arc3,rad=0.28"},
                )  # fmt: skip
        for k, (x, y) in enumerate(B):
            axes.plot(x, y, "o", ms=17, color=COLOURS[k % 2 * 3 if move is None or title.startswith("turned") else 0])
            axes.annotate(str(k + 1), (x, y), color="white", ha="center", va="center", weight="bold", fontsize=11)
        axes.set_aspect("equal")
        axes.set_xlim(-1.75, 1.75)
        axes.set_ylim(-1.75, 1.75)
        axes.set_xticks([-1, 0, 1])
        axes.set_yticks([-1, 0, 1])
    return figure


def _draw_averaging() -> Picture:
    figure, panels = new_figure(4, size=(3.0, 3.2))
    pairs, one = Partition.from_labels([0, 1, 0, 1]), Partition.one_class(4)
    shown = [(Q, "Q"), (averaging_matrix(pairs), "X of {1,3} {2,4}"), (averaging_matrix(one), "X of {1,2,3,4}")]
    for axes, (matrix, title) in zip(panels, shown, strict=False):
        axes.imshow(matrix, cmap="PuOr", vmin=-2.6, vmax=2.6)
        for i, j in np.ndindex(4, 4):
            ink = "white" if abs(matrix[i, j]) > 1.5 else "black"
            axes.text(j, i, f"{matrix[i, j]:g}".replace("-", "−"), ha="center", va="center", fontsize=11, color=ink)
        axes.set_title(title)
        axes.set_xticks(range(4), ["1", "2", "3", "4"])
        axes.set_yticks(range(4), ["1", "2", "3", "4"])
        axes.tick_params(length=0)
        axes.grid(False)
    way = np.linspace(0, 1, 50)
    points = (1 - way)[:, None] * POINT + way[:, None] * np.full(4, 1.5)
    values = np.einsum("ki,ij,kj->k", points, Q, points)
    panels[3].plot(way, values, color=COLOURS[0])
    panels[3].plot([0, 1], [values[0], values[-1]], "o", color=COLOURS[0])
    panels[3].annotate("(2,1,1,2): 3", (0, 3), xytext=(0.12, 2.9), va="center")
    panels[3].annotate("average: 0", (1, 0), xytext=(1, 0.35), ha="right", va="center")
    panels[3].set_title("x'Qx")
    panels[3].set_xlabel("way to the average")
    return figure


EXPERIMENT = Experiment(
    name="example",
    title="The running example",
    shows="Two partitions of four variables, averaging from value 3 to 0, and the geometry behind them.",
    full_seconds=2,
    quick_seconds=2,
    settings=settings,
    parts=parts,
    run=run,
    report=report,
)
