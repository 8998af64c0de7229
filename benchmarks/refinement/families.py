"""Families of graphs and programs of any size, with what is known of their classes.

Each is shuffled, so that neither the numbering nor the order of entries helps. ``is_tuned`` marks those that were
looked at while the kernel was written; the others are there to see what it does with strangers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, spatial

from relift.symmetry import finite_field as field

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
FIVE_VALUES = np.array([1.0, 2.5, -3.0, 0.1, 7.0])


@dataclass(frozen=True, eq=False)
class Instance:
    """A program as `refine` takes it; ``known_classes`` counts variables and rows together, if known."""

    P: Any
    A: Any
    l: Floats
    u: Floats
    known_classes: int | None = None
    q: Floats | None = None

    @property
    def n_entries(self) -> int:
        return int(self.A.nnz + (0 if self.P is None else self.P.nnz))

    @property
    def n_vertices(self) -> int:
        return int(sum(self.A.shape))

    def arguments(self) -> tuple[Any, ...]:
        costs = [] if self.q is None else [field.images(self.q)]
        return self.P, self.A, costs, field.images(self.l), field.images(self.u), self.l, self.u


@dataclass(frozen=True)
class Family:
    name: str
    build: Callable[[int, np.random.Generator], Instance]
    kind: Literal["rounds", "tail"]
    """Whether hash rounds are expected to settle it, or a long tail is left to the worklist."""
    is_tuned: bool = True


FAMILIES: dict[str, Family] = {}


def register(name: str, kind: Literal["rounds", "tail"], is_tuned: bool = True) -> Callable[[Any], Any]:
    def keep(build: Callable[[int, np.random.Generator], Instance]) -> Any:
        FAMILIES[name] = Family(name, build, kind, is_tuned)
        return build

    return keep


def graph(n: int, source: Any, target: Any, random: np.random.Generator, known_classes: int | None = None) -> Instance:
    """The graph with these edges (each given once), vertices renamed at random."""
    names = random.permutation(n).astype(np.int32)
    source, target = names[source], names[target]
    both = np.concatenate([source, target]), np.concatenate([target, source])
    order = random.permutation(both[0].size)
    P = sparse.coo_array((np.ones(order.size), (both[0][order], both[1][order])), shape=(n, n)).tocsc()
    return Instance(P, sparse.csc_array((0, n)), np.empty(0), np.empty(0), known_classes)


def program(
    shape: tuple[int, int],
    row: Any,
    column: Any,
    value: Any,
    random: np.random.Generator,
    bounds: tuple[Floats, Floats] | None = None,
    known_classes: int | None = None,
    q: Floats | None = None,
) -> Instance:
    """The program with these entries, rows and variables renamed at random; by default all rows are alike."""
    m, n = shape
    row_names = random.permutation(m).astype(np.int32)
    column_names = random.permutation(n).astype(np.int32)
    entries = (np.asarray(value, dtype=float), (row_names[row], column_names[column]))
    A = sparse.coo_array(entries, shape=shape).tocsc()
    l, u = bounds if bounds is not None else (np.full(m, -np.inf), np.ones(m))
    back = np.argsort(row_names)
    costs = None if q is None else q[np.argsort(column_names)]
    return Instance(None, A, l[back], u[back], known_classes, costs)


def distinct_rows_per_column(n: int, m: int, k: int, random: np.random.Generator) -> Ints:
    """For each of n columns k different rows of m."""
    rows = np.sort(random.integers(m, size=(n, k)), axis=1)
    while (bad := np.flatnonzero((np.diff(rows, axis=1) == 0).any(axis=1))).size:
        rows[bad] = np.sort(random.integers(m, size=(bad.size, k)), axis=1)
    return rows.astype(np.int64)


# ---------------------------------------------------------------------------------------------- graphs
def lattice(entries: int, random: np.random.Generator, is_torus: bool) -> Instance:
    k = max(2 * round((entries / 4) ** 0.5 / 2), 4)
    i, j = np.divmod(np.arange(k * k), k)
    down, right = (i + 1) % k * k + j, i * k + (j + 1) % k
    keep_down, keep_right = (is_torus | (i + 1 < k)), (is_torus | (j + 1 < k))
    here = np.arange(k * k)
    half = k // 2
    return graph(
        k * k,
        np.concatenate([here[keep_down], here[keep_right]]),
        np.concatenate([down[keep_down], right[keep_right]]),
        random,
        1 if is_torus else half * (half + 1) // 2,
    )


@register("torus", "rounds")
def torus(entries: int, random: np.random.Generator) -> Instance:
    return lattice(entries, random, True)


@register("grid", "tail")
def grid(entries: int, random: np.random.Generator) -> Instance:
    return lattice(entries, random, False)


@register("tree", "tail")
def tree(entries: int, random: np.random.Generator) -> Instance:
    """A binary tree as full as can be."""
    child = np.arange(1, entries // 2 + 1)
    return graph(child.size + 1, child, (child - 1) // 2, random)


@register("path", "tail")
def path(entries: int, random: np.random.Generator) -> Instance:
    n = entries // 2 + 1
    return graph(n, np.arange(n - 1), np.arange(1, n), random, (n + 1) // 2)


@register("preferential_attachment", "rounds")
def preferential_attachment(entries: int, random: np.random.Generator) -> Instance:
    """Four links from each new vertex to ends of earlier links (Barabasi and Albert)."""
    n = entries // 8
    # Link 4 (v - 5) + t of vertex v copies a random earlier end: its own source, or where that link points.
    n_links = 4 * (n - 5)
    source = np.repeat(np.arange(5, n), 4)
    drawn = (random.random(n_links) * (20 + 8 * (np.arange(n_links) // 4))).astype(np.int64)
    start_ends = np.array([end for i in range(5) for j in range(i) for end in (i, j)])
    target = np.where(drawn < 20, start_ends[np.minimum(drawn, 19)], -1)
    later = np.maximum(drawn - 20, 0)
    target = np.where((target < 0) & (later % 2 == 0), source[later // 2], target)
    follow = np.flatnonzero(target < 0)
    while follow.size:
        target[follow] = target[later[follow] // 2]
        follow = follow[target[follow] < 0]
    pairs = np.unique(
        np.stack([np.maximum(source, target), np.minimum(source, target)], axis=1)[source != target], axis=0
    )
    return graph(n, pairs[:, 0], pairs[:, 1], random)


@register("cubic_with_pendant", "tail", is_tuned=False)
def cubic_with_pendant(entries: int, random: np.random.Generator) -> Instance:
    """A random cubic graph with one vertex hung on: everything is told apart by the distance from it."""
    n = entries // 6 * 2
    while True:
        ends = random.permutation(np.repeat(np.arange(n), 3)).reshape(-1, 2)
        for _ in range(200):  # loops and double edges exchange ends with random other edges
            low, high = ends.min(axis=1), ends.max(axis=1)
            _, first = np.unique(low * n + high, return_index=True)
            bad = np.setdiff1d(np.arange(len(ends)), first[low[first] != high[first]])
            if bad.size == 0:
                source, target = np.append(ends[:, 0], 0), np.append(ends[:, 1], n)
                return graph(n + 1, source, target, random)
            for edge, other in zip(bad.tolist(), random.integers(len(ends), size=bad.size).tolist(), strict=True):
                ends[edge, 1], ends[other, 1] = ends[other, 1], ends[edge, 1]


@register("caterpillar", "tail", is_tuned=False)
def caterpillar(entries: int, random: np.random.Generator) -> Instance:
    """A path with two leaves at each vertex."""
    n = max(entries // 6, 2)
    spine = np.arange(n)
    source = np.concatenate([spine[:-1], spine, spine])
    target = np.concatenate([spine[1:], n + spine, 2 * n + spine])
    return graph(3 * n, source, target, random, 2 * ((n + 1) // 2))


@register("hypercube", "rounds", is_tuned=False)
def hypercube(entries: int, random: np.random.Generator) -> Instance:
    dimension = 2
    while (dimension + 1) << (dimension + 1) <= 1.5 * entries:
        dimension += 1
    corner = np.arange(1 << dimension)
    source = np.concatenate([corner[(corner >> bit & 1) == 0] for bit in range(dimension)])
    target = np.concatenate([corner[(corner >> bit & 1) == 0] | (1 << bit) for bit in range(dimension)])
    return graph(corner.size, source, target, random, 1)


@register("random_geometric", "rounds", is_tuned=False)
def random_geometric(entries: int, random: np.random.Generator) -> Instance:
    """Points in a square, joined when near: eight neighbours on average."""
    n = entries // 8
    pairs = spatial.cKDTree(random.random((n, 2))).query_pairs((8 / (np.pi * n)) ** 0.5, output_type="ndarray")
    return graph(n, pairs[:, 0], pairs[:, 1], random)


# ---------------------------------------------------------------------------------------------- programs
def random_program(entries: int, random: np.random.Generator, values: Floats | None) -> Instance:
    n = entries // 8
    rows = distinct_rows_per_column(n, n // 2, 8, random)
    drawn = random.choice(values, size=rows.size) if values is not None else random.normal(size=rows.size)
    return program((n // 2, n), rows.ravel(), np.repeat(np.arange(n), 8), drawn, random)


@register("random_01", "rounds")
def random_01(entries: int, random: np.random.Generator) -> Instance:
    return random_program(entries, random, np.ones(1))


@register("random_5_values", "rounds")
def random_5_values(entries: int, random: np.random.Generator) -> Instance:
    return random_program(entries, random, FIVE_VALUES)


@register("random_all_values", "rounds")
def random_all_values(entries: int, random: np.random.Generator) -> Instance:
    return random_program(entries, random, None)


def block_copies(entries: int, random: np.random.Generator, values: Floats) -> Instance:
    """A hundred copies of one random program."""
    n_copies = 100
    n = max(entries // (8 * n_copies), 16)
    m = n // 2
    rows = distinct_rows_per_column(n, m, min(8, m), random)
    column, value = np.repeat(np.arange(n), rows.shape[1]), random.choice(values, size=rows.size)
    copy = np.repeat(np.arange(n_copies), rows.size)
    return program(
        (m * n_copies, n * n_copies),
        copy * m + np.tile(rows.ravel(), n_copies),
        copy * n + np.tile(column, n_copies),
        np.tile(value, n_copies),
        random,
    )


@register("blocks", "rounds")
def blocks(entries: int, random: np.random.Generator) -> Instance:
    return block_copies(entries, random, np.ones(1))


@register("blocks_5_values", "rounds")
def blocks_5_values(entries: int, random: np.random.Generator) -> Instance:
    return block_copies(entries, random, FIVE_VALUES)


def bipartite_flow(entries: int, random: np.random.Generator, supplies: int, demands: int) -> Instance:
    """Send along k x k variables, with a row for each source and each sink."""
    k = round((entries / 2) ** 0.5)
    i, j = np.divmod(np.arange(k * k), k)
    u = np.concatenate([1.0 + np.arange(k) % supplies, (100.0 if demands > 1 else 1.0) + np.arange(k) % demands])
    known = 2 if supplies == demands == 1 else min(k, supplies) * min(k, demands) + min(k, supplies) + min(k, demands)
    return program(
        (2 * k, k * k),
        np.concatenate([i, k + j]),
        np.tile(np.arange(k * k), 2),
        np.ones(2 * k * k),
        random,
        (u.copy(), u),
        known,
    )


@register("assignment", "rounds")
def assignment(entries: int, random: np.random.Generator) -> Instance:
    return bipartite_flow(entries, random, 1, 1)


@register("transport", "rounds")
def transport(entries: int, random: np.random.Generator) -> Instance:
    """Twenty different supplies, thirty different demands."""
    return bipartite_flow(entries, random, 20, 30)


@register("multi_commodity", "tail")
def multi_commodity(entries: int, random: np.random.Generator) -> Instance:
    """Sixteen equal commodities on a random digraph of three arcs out of each node: flow and capacity rows."""
    n_goods = 16
    n_nodes = max(entries // (9 * n_goods), 3)
    n_arcs = 3 * n_nodes
    tail = np.repeat(np.arange(n_nodes), 3)
    head = (tail + 1 + random.integers(n_nodes - 1, size=n_arcs)) % n_nodes
    good, arc = np.divmod(np.arange(n_goods * n_arcs), n_arcs)
    variable = np.arange(n_goods * n_arcs)
    n_flow = n_goods * n_nodes
    zeros, free = np.zeros(n_flow), np.full(n_arcs, -np.inf)
    return program(
        (n_flow + n_arcs, n_goods * n_arcs),
        np.concatenate([good * n_nodes + tail[arc], good * n_nodes + head[arc], n_flow + arc]),
        np.tile(variable, 3),
        np.repeat([1.0, -1.0, 1.0], variable.size),
        random,
        (np.concatenate([zeros, free]), np.concatenate([zeros, np.ones(n_arcs)])),
    )


@register("staircase", "tail", is_tuned=False)
def staircase(entries: int, random: np.random.Generator) -> Instance:
    """Stages in a row, each joined to the next by the same small random program."""
    n, m, per_column = 20, 20, 4
    n_stages = max(entries // (2 * n * per_column), 2)
    own, coming = (distinct_rows_per_column(n, m, per_column, random).ravel() for _ in range(2))
    column, value = np.repeat(np.arange(n), per_column), random.choice(FIVE_VALUES, size=own.size)
    stage = np.repeat(np.arange(n_stages), own.size)
    joined = stage < n_stages - 1
    return program(
        (m * n_stages, n * n_stages),
        np.concatenate([stage * m + np.tile(own, n_stages), ((stage + 1) * m + np.tile(coming, n_stages))[joined]]),
        np.concatenate([stage * n + np.tile(column, n_stages), (stage * n + np.tile(column, n_stages))[joined]]),
        np.concatenate([np.tile(value, n_stages), np.full(joined.sum(), -1.0)]),
        random,
    )


@register("set_cover", "rounds", is_tuned=False)
def set_cover(entries: int, random: np.random.Generator) -> Instance:
    """Random sets of eight elements, each offered ten times."""
    n_sets = max(entries // 80, 10)
    n = 10 * n_sets
    rows = np.repeat(distinct_rows_per_column(n_sets, max(n_sets // 2, 20), 8, random), 10, axis=0)
    m = max(n_sets // 2, 20)
    ones = np.ones(m)
    return program(
        (m, n), rows.ravel(), np.repeat(np.arange(n), 8), np.ones(rows.size), random, (ones, np.full(m, np.inf))
    )


# ------------------------------------------------------------------------------- programs without much symmetry
@register("svm", "rounds")
def svm(entries: int, random: np.random.Generator) -> Instance:
    """A linear support vector machine of 1-norm on random points: weights in two parts, one slack for each point."""
    n_features = 20
    n_points = max(entries // (2 * n_features + 3), 4)
    n_weights = 2 * n_features + 2
    values = random.normal(size=(n_points, n_features + 1))
    values[:, -1] = np.sign(values[:, -1])
    point, feature = np.divmod(np.arange(values.size), n_features + 1)
    spread = np.arange(n_points)
    return program(
        (n_points, n_weights + n_points),
        np.concatenate([point, point, spread]),
        np.concatenate([feature, feature + n_features + 1, n_weights + spread]),
        np.concatenate([values.ravel(), -values.ravel(), np.ones(n_points)]),
        random,
        (np.ones(n_points), np.full(n_points, np.inf)),
        q=np.concatenate([np.ones(n_weights), np.full(n_points, 10.0)]),
    )


@register("svm_weighted", "rounds")
def svm_weighted(entries: int, random: np.random.Generator) -> Instance:
    """A linear support vector machine of 2-norm on random points of random weights, to two decimals."""
    n_features = 20
    n_points = max(entries // (n_features + 2), 4)
    n = n_features + 1 + n_points
    values = random.normal(size=(n_points, n_features + 1))
    values[:, -1] = np.sign(values[:, -1])
    point, feature = np.divmod(np.arange(values.size), n_features + 1)
    slack = np.arange(n_points)
    A = sparse.coo_array(
        (
            np.concatenate([values.ravel(), np.ones(n_points)]),
            (np.concatenate([point, slack]), np.concatenate([feature, n_features + 1 + slack])),
        ),
        shape=(n_points, n),
    ).tocsc()
    P = sparse.coo_array((np.ones(n_features), (np.arange(n_features),) * 2), shape=(n, n)).tocsc()
    costs = np.concatenate([np.zeros(n_features + 1), np.round(random.uniform(1, 1000, n_points), 2)])
    return Instance(P, A, np.ones(n_points), np.full(n_points, np.inf), q=costs)


@register("distinct_costs", "rounds")
def distinct_costs(entries: int, random: np.random.Generator) -> Instance:
    """A random program in which no two variables cost the same."""
    n = entries // 8
    rows = distinct_rows_per_column(n, n // 2, 8, random)
    value = random.choice(FIVE_VALUES, size=rows.size)
    return program((n // 2, n), rows.ravel(), np.repeat(np.arange(n), 8), value, random, q=np.arange(n) / 100)


@register("distinct_bounds", "rounds")
def distinct_bounds(entries: int, random: np.random.Generator) -> Instance:
    """A random transport in which supplies and demands differ, to two decimals."""
    k = round((entries / 2) ** 0.5)
    i, j = np.divmod(np.arange(k * k), k)
    u = np.round(random.uniform(1, 1000, size=2 * k), 2)
    ends = np.concatenate([i, k + j])
    return program((2 * k, k * k), ends, np.tile(np.arange(k * k), 2), np.ones(2 * k * k), random, (u.copy(), u))


# ---------------------------------------------------------------------------------- never looked at while tuning
@register("time_expanded", "tail", is_tuned=False)
def time_expanded(entries: int, random: np.random.Generator) -> Instance:
    """A network of twenty nodes over many periods, with storage at the nodes and ten commodities alike."""
    n_nodes, n_arcs, n_goods = 20, 60, 10
    n_periods = max(entries // (n_goods * (3 * n_arcs + 2 * n_nodes)), 2)
    tail, head = random.integers(n_nodes, size=n_arcs), random.integers(n_nodes, size=n_arcs)
    tail, head = np.append(tail, np.arange(n_nodes)), np.append(head, np.arange(n_nodes))  # storage last
    good, period, arc = (axis.ravel() for axis in np.indices((n_goods, n_periods - 1, n_arcs + n_nodes)))
    variable = np.arange(good.size)
    balance = (good * n_periods + period) * n_nodes
    n_balances = n_goods * n_periods * n_nodes
    limited = arc < n_arcs
    capacity = n_balances + period * n_arcs + arc
    n_rows = n_balances + (n_periods - 1) * n_arcs
    u = np.concatenate([np.zeros(n_balances), np.tile(random.choice([5.0, 10.0, 20.0], n_arcs), n_periods - 1)])
    return program(
        (n_rows, variable.size),
        np.concatenate([balance + tail[arc], balance + n_nodes + head[arc], capacity[limited]]),
        np.concatenate([variable, variable, variable[limited]]),
        np.repeat([1.0, -1.0, 1.0], [variable.size, variable.size, limited.sum()]),
        random,
        (np.where(np.arange(n_rows) < n_balances, 0.0, -np.inf), u),
    )


@register("power_grid_copies", "rounds", is_tuned=False)
def power_grid_copies(entries: int, random: np.random.Generator) -> Instance:
    """Fifty hours of a grid: flows by angles over the same lines, whose reactances take 373 values to five decimals."""
    n_hours = 50
    n_buses = max(entries // (n_hours * 9), 6)
    n_lines = 3 * n_buses // 2
    start = random.integers(n_buses, size=n_lines)
    end = (start + 1 + random.integers(n_buses - 1, size=n_lines)) % n_buses
    susceptance = random.choice(np.round(random.uniform(1, 100, 373), 5), n_lines)
    line, bus = np.arange(n_lines), np.arange(n_buses)
    row = np.concatenate([line, line, line, n_lines + start, n_lines + end])
    column = np.concatenate([n_lines + start, n_lines + end, line, line, line])
    value = np.concatenate([susceptance, -susceptance, -np.ones(n_lines), np.ones(n_lines), -np.ones(n_lines)])
    hour = np.repeat(np.arange(n_hours), row.size)
    size = n_lines + n_buses
    side = np.concatenate([np.zeros(n_lines), np.round(random.uniform(-50, 50, bus.size), 2)])
    sides = np.tile(side, n_hours)
    return program(
        (size * n_hours, size * n_hours),
        hour * size + np.tile(row, n_hours),
        hour * size + np.tile(column, n_hours),
        np.tile(value, n_hours),
        random,
        (sides, sides),
    )


@register("rmat", "rounds", is_tuned=False)
def rmat(entries: int, random: np.random.Generator) -> Instance:
    """A graph of quadrants in quadrants (R-MAT, 0.57, 0.19, 0.19, 0.05): a few hubs and many leaves."""
    levels = max(int(np.log2(max(entries // 8, 4))), 2)
    quadrant = random.choice(4, size=(levels, entries // 2), p=[0.57, 0.19, 0.19, 0.05])
    powers = 1 << np.arange(levels)
    source, target = powers @ (quadrant >> 1), powers @ (quadrant & 1)
    low, high = np.minimum(source, target), np.maximum(source, target)
    pairs = np.unique((low << levels | high)[low != high])
    return graph(1 << levels, pairs >> levels, pairs & ((1 << levels) - 1), random)


@register("heavy_rows", "rounds", is_tuned=False)
def heavy_rows(entries: int, random: np.random.Generator) -> Instance:
    """Four rows over all variables, of costs and weights to three decimals, beside short rows."""
    n = max(entries // 7, 8)
    short = distinct_rows_per_column(n, max(n // 4, 8), 3, random)
    m = max(n // 4, 8)
    heavy = np.round(random.uniform(0, 10, size=4 * n), 3)
    return program(
        (m + 4, n),
        np.concatenate([short.ravel(), np.repeat(m + np.arange(4), n)]),
        np.concatenate([np.repeat(np.arange(n), 3), np.tile(np.arange(n), 4)]),
        np.concatenate([np.ones(short.size), heavy]),
        random,
    )


@register("dense", "rounds", is_tuned=False)
def dense(entries: int, random: np.random.Generator) -> Instance:
    """A full matrix of whole numbers, each column twice."""
    m = max(round((entries / 2) ** 0.5), 4)
    half = random.integers(1, 1000, size=(m, m)).astype(float)
    full = np.hstack([half, half])
    row, column = np.divmod(np.arange(full.size), full.shape[1])
    return program(full.shape, row, column, full.ravel(), random)
