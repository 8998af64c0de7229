"""Programs whose classes one can count by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import relift
from relift.program.program import Program
from relift.testing.examples import friends_and_smokers, ring_of_springs, transport


def torus(side: int) -> Any:
    """Adjacency of a square grid whose borders are joined."""
    ring = sparse.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(side, side)).tolil()
    ring[0, side - 1] = ring[side - 1, 0] = 1.0
    eye = sparse.eye_array(side)
    return (sparse.kron(ring, eye) + sparse.kron(eye, ring)).tocsc()


def cover(graph: Any, seen: tuple[int, ...] = ()) -> Program:
    """Fractional vertex cover; vertices that were seen cost twice as much."""
    upper = sparse.triu(graph).tocoo()
    edges = np.arange(upper.nnz)
    A = sparse.coo_array(
        (np.ones(2 * upper.nnz), (np.r_[edges, edges], np.r_[upper.coords])), shape=(upper.nnz, graph.shape[0])
    )
    q = np.ones(graph.shape[0])
    q[list(seen)] = 2.0
    return Program(q=q, A=A, l=np.ones(upper.nnz), lb=0)


@pytest.mark.parametrize(
    ("program", "variables", "rows"),
    [
        (ring_of_springs(50), 1, 1),
        (transport(12), 1, 1),
        (friends_and_smokers(9), 8, 5),
        (cover(torus(7)), 1, 1),
        # With one vertex marked, a vertex of the torus is known by its distances in both directions, in either order.
        (cover(torus(7), seen=(0,)), 10, 16),
    ],
    ids=["springs", "transport", "smokers", "torus", "torus seen"],
)
def test_classes_are_those_one_counts_by_hand(program: Program, variables: int, rows: int) -> None:
    result = relift.solve(program)
    assert (result.lifting.small.n_variables, result.lifting.small.n_rows) == (variables, rows)
    ground = relift.solve(program, lift="none")
    assert result.status == ground.status == "optimal"
    assert result.objective == pytest.approx(ground.objective, rel=1e-6, abs=1e-6)


def test_a_regular_graph_has_one_class_though_it_may_have_no_symmetry_at_all() -> None:
    pytest.importorskip("igraph", reason="orbits need igraph")
    # The Frucht graph: every vertex has three neighbours, and no renaming but the identity keeps the edges.
    rim = [(k, (k + 1) % 7) for k in range(7)]
    ends = [*rim, (0, 7), (1, 7), (2, 8), (3, 9), (4, 9), (5, 10), (6, 10), (7, 11), (8, 11), (8, 9), (10, 11)]
    i, j = np.array(ends).T
    graph = sparse.coo_array((np.ones(36), (np.r_[i, j], np.r_[j, i])), shape=(12, 12)).tocsc()
    assert np.all(graph.sum(axis=0) == 3)
    program = Program(P=graph + 3 * sparse.eye_array(12), q=-np.ones(12), lb=0)
    assert relift.lift(program).small.n_variables == 1
    assert relift.lift(program, lift="counting").small.n_variables == 1
    assert relift.lift(program, lift="orbits").small.n_variables == 12
