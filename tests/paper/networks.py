"""A small citation network in the files of Cora, and the toy programs of which the answers are known."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from scipy import sparse

from relift.paper.svm_learners import Network


def write_cora_like(folder: Path, n_papers: int = 60, n_words: int = 25, seed: int = 0, packed: bool = False) -> None:
    """Papers of three subjects with words and citations that go with them."""
    random = np.random.default_rng(seed)
    subject = random.choice(3, n_papers, p=[0.5, 0.3, 0.2])
    taste = random.random((3, n_words)) ** 3
    words = random.random((n_papers, n_words)) < taste[subject]
    lines = [
        "\t".join([f"p{k}", *("1" if word else "0" for word in words[k]), ("Nets", "Rules", "Theory")[subject[k]]])
        for k in range(n_papers)
    ]
    content = ("\n".join(lines) + "\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    if packed:
        (folder / "cora.content.gz").write_bytes(gzip.compress(content))
    else:
        (folder / "cora.content").write_bytes(content)
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < 3 * n_papers:
        one, other = random.integers(0, n_papers, 2)
        if one != other and (subject[one] == subject[other] or random.random() < 0.15):
            pairs.add((int(one), int(other)))
    (folder / "cora.cites").write_text("".join(f"p{cited}\tp{citing}\n" for cited, citing in sorted(pairs)))


def toy_network() -> tuple[Network, np.ndarray, np.ndarray]:
    """The toy of TC-QP-SVM: four labelled papers, five queries, six words; with the labelled ones and the queries."""
    words = {0: (0, 1), 1: (0, 2), 2: (3, 4), 3: (3, 5), 4: (1,), 5: (2,), 6: (4,), 7: (5,), 8: (0, 3)}
    X = np.zeros((9, 6))
    for paper, own in words.items():
        X[paper, list(own)] = 1.0
    cites = np.array([(0, 4), (5, 1), (2, 6), (7, 3), (0, 8), (8, 2)])
    labels = np.array([1, 1, -1, -1, 1, 1, -1, -1, 1])
    return Network(sparse.csr_array(X), labels, cites), np.arange(4), np.arange(4, 9)
