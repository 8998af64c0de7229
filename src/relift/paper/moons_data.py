"""Two moons: two coordinates that matter, many that do not, and links between neighbours."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.neighbors import kneighbors_graph

from relift.paper.svm_learners import Network


def moons_network(n_examples: int, n_noise: int, n_neighbours: int, spread: float, seed: int) -> Network:
    """Make two moons with noise features; each point is linked to its nearest neighbours on the moons.

    Parameters
    ----------
    n_examples
        Points, half of them on each moon.
    n_noise
        Further features, standard normal, that say nothing.
    n_neighbours
        Links of each point, by the two coordinates of the moons alone.
    spread
        Standard deviation of the points around their moon.
    seed
        Of everything.

    Examples
    --------
    >>> network = moons_network(40, 3, 4, 0.1, seed=0)
    >>> network.attributes.shape, network.links.shape, int(network.labels.sum())
    ((40, 5), (160, 2), 0)
    """
    places, side = make_moons(n_examples, noise=spread, random_state=seed)
    noise = np.random.default_rng([seed, 1]).standard_normal((n_examples, n_noise))
    graph = sparse.coo_array(kneighbors_graph(places, n_neighbours))
    links = np.column_stack([graph.row, graph.col]).astype(np.int64)
    attributes = sparse.csr_array(np.column_stack([places, noise]))
    return Network(attributes, np.where(side == 1, 1, -1).astype(np.int64), links)
