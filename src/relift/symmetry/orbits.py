"""Orbits of the automorphism group of a program, by BLISS through igraph (the extra ``orbits``).

An automorphism renames variables and rows so that P, A and all vectors stay. Its orbits refine the counting partition,
which refines the equitable one; orbits are what commercial solvers' symmetry detection finds, cost more, and serve here
as a further method and as an oracle in tests.

Weighted entries become coloured gadget vertices: one for each nonzero whose value is not the most frequent one. Only
vertices that counting refinement leaves in company are passed to BLISS as distinguishable by more than their class.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from relift.arrays import FieldElements, Indices
from relift.errors import MissingPackageError
from relift.program.program import Program
from relift.settings import Reading
from relift.symmetry import finite_field as field
from relift.symmetry.colour_refinement import Refinement
from relift.symmetry.partition import Partition


def orbits(program: Program, counting: Refinement, reading: Reading = "decimal") -> tuple[Partition, Partition]:
    """Orbits of variables and of rows.

    Parameters
    ----------
    program
        A minimisation.
    counting
        Its counting partition, from which the search starts, with the exact scales of the rows.
    reading
        How floats are read.

    Raises
    ------
    MissingPackageError
        If igraph is not installed.
    """
    try:
        import igraph
    except ImportError as error:
        raise MissingPackageError(
            "orbits need the package igraph.", 'Install it with: pip install "relift[orbits]"'
        ) from error
    n, m = program.n_variables, program.n_rows
    if counting.variables.is_discrete and counting.rows.is_discrete:
        return counting.variables, counting.rows
    ends, values = _coloured_edges(program, counting, reading)
    vertex_colour = np.concatenate([counting.variables.labels, counting.variables.n_classes + counting.rows.labels])
    _, edge_kind, frequency = np.unique(values, return_inverse=True, return_counts=True)
    plain = edge_kind == np.argmax(frequency) if frequency.size else np.zeros(0, bool)
    gadget = np.flatnonzero(~plain)
    middle = n + m + np.arange(gadget.size)
    edges = np.concatenate(
        [ends[plain], np.column_stack([ends[gadget, 0], middle]), np.column_stack([middle, ends[gadget, 1]])]
    )
    colours = np.concatenate([vertex_colour, vertex_colour.max(initial=-1) + 1 + edge_kind[gadget]])
    graph = igraph.Graph(n=int(n + m + gadget.size), edges=edges.tolist())
    generators = graph.automorphism_group(color=colours.tolist())
    labels = _orbit_labels(generators, n + m + gadget.size)
    return Partition.from_labels(labels[:n]), Partition.from_labels(labels[n : n + m])


def _coloured_edges(program: Program, counting: Refinement, reading: Reading) -> tuple[Indices, FieldElements]:
    """Pairs of vertices and the exact value between them; the diagonal of P is in the vertex colours already."""
    n = program.n_variables
    A = program.A.tocoo()
    inverse = field.inverse(counting.row_scale_images)
    parts = [np.column_stack([A.coords[1], n + A.coords[0]])]
    words = [field.multiply(field.images(A.data, reading), inverse[A.coords[0]])]
    if program.P is not None:
        P = program.P.tocoo()
        upper = P.coords[0] < P.coords[1]
        parts.append(np.column_stack([P.coords[0][upper], P.coords[1][upper]]))
        words.append(field.images(P.data[upper], reading))
    ends, values = np.concatenate(parts).astype(np.int64), np.concatenate(words)
    present = values != 0
    return ends[present], values[present]


def _orbit_labels(generators: list[list[int]], size: int) -> NDArray[np.int64]:
    """Connected components of the graph that joins each vertex with its images."""
    from scipy.sparse import csgraph

    if not generators:
        return np.arange(size, dtype=np.int64)
    images = np.asarray(generators, dtype=np.int64)
    start = np.tile(np.arange(size), len(generators))
    joined = coo_array((np.ones(images.size, np.int8), (start, images.ravel())), shape=(size, size))
    _, labels = csgraph.connected_components(joined, directed=False)
    return np.asarray(labels, dtype=np.int64)
