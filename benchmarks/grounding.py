"""Grounding a transductive SVM over Cora-shaped tables: relift against builds by hand and other modelling tools.

    python -m benchmarks.grounding --scale 1,10,100 --keys int,text

Tables have the size of Cora (2708 papers, 1433 words, 49,216 word facts, 5429 citations) times the scale; four papers
of five are labelled, all are queried. Every contender starts from the same data frames in memory and ends with the same
program; relift's and the hand-written ones are compared entry by entry, or no time is given. CPU seconds of all
threads, smallest of several runs, one process; the peak of memory above the tables is measured in a process of its own.
CVXPY, linopy and Pyomo are given the matrices of the quickest build by hand, which is part of their time.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

MODEL = """
relation word/2, cite/2, query/1;   param label/1, c1 = 1, c2 = 0.5;
feature(J)    if word(_,J);
linked(I1,I2) if label(I1) & query(I2) & (cite(I1,I2) | cite(I2,I1));
var weight(J) in feature(J), bias, slack(I) in label(I) >= 0, coslack(I1,I2) in linked(I1,I2) >= 0;
def predict(I) = sum{J in word(I,J)} weight(J) + bias;
minimize loss: sum{J in feature(J)} weight(J)**2 + c1*sum{I in label(I)} slack(I)
             + c2*sum{I1,I2 in linked(I1,I2)} coslack(I1,I2);
subject to margin forall {I in label(I)}: label(I)*predict(I) >= 1 - slack(I);
subject to collective forall {I1,I2 in linked(I1,I2)}: label(I1)*predict(I2) >= 1 - coslack(I1,I2);
"""
PAPERS, WORDS, FACTS, CITES = 2708, 1433, 49_216, 5429
Tables = dict[str, pd.DataFrame]


def cora_shaped(scale: int, keys: str, seed: int = 0) -> Tables:
    """Random tables of the size of Cora times a scale, without duplicates, in random order."""
    rng = np.random.default_rng(seed)
    papers, words = PAPERS * scale, WORDS * scale

    def pairs(size: int, first: int, second: int) -> Any:
        codes = np.unique(rng.integers(0, first * second, int(size * 1.2) + 10))
        codes = rng.permutation(codes)[:size]
        return codes // second, codes % second

    paper, word = pairs(FACTS * scale, papers, words)
    citing, cited = pairs(CITES * scale, papers, papers)
    labelled = rng.permutation(papers)[: papers * 4 // 5]
    name = (lambda kind, codes: codes) if keys == "int" else (lambda kind, codes: _texts(kind, codes))
    return {
        "word": pd.DataFrame({"paper": name("paper", paper), "word": name("word", word)}),
        "cite": pd.DataFrame({"citing": name("paper", citing), "cited": name("paper", cited)}),
        "query": pd.DataFrame({"paper": name("paper", np.arange(papers))}),
        "label": pd.DataFrame({"paper": name("paper", labelled), "value": rng.choice([-1.0, 1.0], labelled.size)}),
    }


def _texts(kind: str, codes: Any) -> Any:
    return pd.Series([f"{kind}{code:08d}" for code in codes], dtype="str")


# --- contenders ------------------------------------------------------------------------------------


def by_relift(tables: Tables) -> Any:
    from relift.grounding.ground import ground
    from relift.language.check_model import check_text

    with ground(check_text(MODEL), tables) as grounded:
        program = grounded.program
    return program.P, program.q, program.A, program.l, program.lb


def by_rows_of_a_matrix(tables: Tables) -> Any:
    """By hand, knowing the structure: the word matrix once, then its rows are taken by number."""
    word, cite, label = tables["word"], tables["cite"], tables["label"]
    papers = pd.Index(tables["query"]["paper"]).sort_values()
    words = pd.Index(word["word"].unique()).sort_values()
    n_papers, n_words = len(papers), len(words)
    paper_codes, word_codes = papers.get_indexer(word["paper"]), words.get_indexer(word["word"])
    W = sparse.csr_array((np.ones(len(word)), (paper_codes, word_codes)), shape=(n_papers, n_words))
    labelled = papers.get_indexer(label["paper"])
    order = np.argsort(labelled)
    labelled, sign = labelled[order], label["value"].to_numpy()[order]
    sign_of = np.zeros(n_papers)
    sign_of[labelled] = sign
    citing, cited = papers.get_indexer(cite["citing"]), papers.get_indexer(cite["cited"])
    first, second = np.concatenate([citing, cited]), np.concatenate([cited, citing])
    is_linked = sign_of[first] != 0
    pairs = np.unique(first[is_linked].astype(np.int64) * n_papers + second[is_linked])
    return _svm(W, labelled, sign, pairs // n_papers, pairs % n_papers, sign_of)


def _svm(W: Any, labelled: Any, sign: Any, first: Any, second: Any, sign_of: Any) -> Any:
    n, m, k = W.shape[1], labelled.size, first.size
    margin = sparse.diags_array(sign) @ W[labelled]
    collective = sparse.diags_array(sign_of[first]) @ W[second]
    A = sparse.block_array(
        [
            [margin, sign.reshape(-1, 1), sparse.eye_array(m), None],
            [collective, sign_of[first].reshape(-1, 1), None, sparse.eye_array(k)],
        ],
        format="csr",
    )
    P = sparse.diags_array(np.concatenate([np.full(n, 2.0), np.zeros(1 + m + k)])).tocsc()
    q = np.concatenate([np.zeros(n + 1), np.ones(m), np.full(k, 0.5)])
    lb = np.concatenate([np.full(n + 1, -np.inf), np.zeros(m + k)])
    return P, q, A, np.ones(m + k), lb


def by_merges(tables: Tables) -> Any:
    """By hand with joins, as the text of the model reads: pandas merges give triplets, SciPy one matrix."""
    word, cite, label = tables["word"], tables["cite"], tables["label"]
    words = np.sort(word["word"].unique())
    weight = pd.DataFrame({"word": words, "column": np.arange(words.size)})
    rows = label.sort_values("paper").reset_index(drop=True)
    rows["row"] = np.arange(len(rows))
    both = pd.concat([cite, cite.rename(columns={"citing": "cited", "cited": "citing"})[["citing", "cited"]]])
    linked = both.merge(label, left_on="citing", right_on="paper")[["citing", "cited", "value"]]
    linked = linked.merge(tables["query"], left_on="cited", right_on="paper")[["citing", "cited", "value"]]
    linked = linked.drop_duplicates(["citing", "cited"]).sort_values(["citing", "cited"]).reset_index(drop=True)
    linked["row"] = np.arange(len(linked)) + len(rows)
    indexed = word.merge(weight, on="word")
    margin = rows.merge(indexed, on="paper")
    collective = linked.merge(indexed, left_on="cited", right_on="paper")
    n, m, k = words.size, len(rows), len(linked)
    numbers = np.arange(m + k)
    signs = np.concatenate([rows["value"], linked["value"]])
    row = np.concatenate([margin["row"], collective["row"], numbers, numbers])
    column = np.concatenate([margin["column"], collective["column"], np.full(m + k, n), n + 1 + numbers])
    value = np.concatenate([margin["value"], collective["value"], signs, np.ones(m + k)])
    A = sparse.csr_array((value, (row, column)), shape=(m + k, n + 1 + m + k))
    P = sparse.diags_array(np.concatenate([np.full(n, 2.0), np.zeros(1 + m + k)])).tocsc()
    q = np.concatenate([np.zeros(n + 1), np.ones(m), np.full(k, 0.5)])
    lb = np.concatenate([np.full(n + 1, -np.inf), np.zeros(m + k)])
    return P, q, A, np.ones(m + k), lb


def by_cvxpy(tables: Tables) -> Any:
    import cvxpy as cp

    P, q, A, _, _ = by_rows_of_a_matrix(tables)
    n = int((P.diagonal() > 0).sum())
    m = int((q == 1).sum())
    weight, bias = cp.Variable(n), cp.Variable()
    slack, coslack = cp.Variable(m, nonneg=True), cp.Variable(q.size - n - 1 - m, nonneg=True)
    margin, collective = A[:m, : n + 1], A[m:, : n + 1]
    x = cp.hstack([weight, bias])
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(weight) + cp.sum(slack) + 0.5 * cp.sum(coslack)),
        [margin @ x >= 1 - slack, collective @ x >= 1 - coslack],
    )
    problem.get_problem_data(cp.OSQP)


def by_linopy(tables: Tables) -> Any:
    import linopy
    import xarray as xr

    _, q, A, _, lb = by_rows_of_a_matrix(tables)
    model = linopy.Model()
    numbers = pd.RangeIndex(q.size, name="j")
    x = model.add_variables(lower=xr.DataArray(lb, coords=[numbers]), coords=[numbers], name="x")
    entries = A.tocoo()
    terms = x.isel(j=xr.DataArray(entries.coords[1], dims="entry")) * xr.DataArray(entries.data, dims="entry")
    of_row = pd.Series(entries.coords[0], index=pd.RangeIndex(entries.nnz, name="entry"), name="row")
    model.add_constraints(terms.groupby(of_row).sum() >= 1, name="rows")
    model.add_objective((x * xr.DataArray(q, coords=[numbers])).sum())
    return model.matrices.A


def by_pyomo(tables: Tables) -> Any:
    import pyomo.environ as pyo

    _, q, A, _, lb = by_rows_of_a_matrix(tables)
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(q.size), bounds=lambda m, j: (None if lb[j] < 0 else 0, None))
    rows = A.tocsr()

    def row(m: Any, i: int) -> Any:
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        return sum(a * m.x[j] for a, j in zip(rows.data[part], rows.indices[part], strict=True)) >= 1

    model.rows = pyo.Constraint(range(rows.shape[0]), rule=row)


CONTENDERS: dict[str, Callable[[Tables], Any]] = {
    "relift": by_relift,
    "scipy (rows of W)": by_rows_of_a_matrix,
    "scipy + pandas merges": by_merges,
    "cvxpy": by_cvxpy,
    "linopy": by_linopy,
    "pyomo": by_pyomo,
}
PACKAGES = {"cvxpy": "cvxpy", "linopy": "linopy", "pyomo": "pyomo"}
LARGEST_SCALE = {"pyomo": 10, "linopy": 100, "cvxpy": 100}


def measure(contender: str, tables: Tables, repeats: int) -> tuple[float, float, Any]:
    """Smallest CPU and wall seconds, and the result."""
    build = CONTENDERS[contender]
    best, wall, result = np.inf, np.inf, None
    for _ in range(repeats):
        result = None
        gc.collect()
        start, clock = time.process_time(), time.perf_counter()
        result = build(tables)
        best, wall = min(best, time.process_time() - start), min(wall, time.perf_counter() - clock)
    return best, wall, result


def differs(found: Any, expected: Any) -> str:
    for name, one, other in zip(["P", "q", "A", "l", "lb"], found, expected, strict=True):
        if sparse.issparse(other):
            one, other = one.tocsr(), other.tocsr()
            one.sort_indices()
            other.sort_indices()
            if one.shape != other.shape or (one.nnz != other.nnz and (one != other).nnz):
                return f"{name} has shape {one.shape} and not {other.shape}"
            if one.nnz == other.nnz and np.array_equal(one.indices, other.indices):
                if not np.array_equal(one.data, other.data):
                    return f"{name} has other values"
            elif (one != other).nnz:
                return f"{name} has other entries"
        elif not np.array_equal(one, other):
            return f"{name} has other entries"
    return ""


def peak_memory(contender: str, scale: int, keys: str) -> float:
    """GB above the tables, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.grounding", "--peak", contender, "--scale", str(scale), "--keys", keys]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return float(json.loads(answer.stdout)["gigabytes"]) if answer.returncode == 0 else float("nan")


def _report_peak(contender: str, scale: int, keys: str) -> None:
    CONTENDERS[contender](cora_shaped(1, keys))  # imports are no part of it
    tables = cora_shaped(scale, keys)
    gc.collect()
    # The peak is set back to what is resident now: making the tables is no part of it. (The maximum of getrusage
    # cannot be set back, and a child process even starts with that of its parent.)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = _status("VmRSS")
    result = CONTENDERS[contender](tables)
    print(json.dumps({"gigabytes": (_status("VmHWM") - before) / 1e9, "kept": result is not None}))


def _status(name: str) -> int:
    """A size of this process in bytes."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(f"{name}:"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--scale", default="1,10")
    parser.add_argument("--keys", default="int,text")
    parser.add_argument("--only", default="", help="contenders, separated by commas")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", action="store_true", help="measure the peak of memory as well")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak:
        _report_peak(arguments.peak, int(arguments.scale), arguments.keys)
        return
    wanted = arguments.only.split(",") if arguments.only else list(CONTENDERS)
    for keys in arguments.keys.split(","):
        for scale in map(int, arguments.scale.split(",")):
            tables = cora_shaped(scale, keys)
            expected = by_rows_of_a_matrix(tables)
            nonzeros = expected[2].nnz + int((expected[0].diagonal() > 0).sum())
            print(f"{keys} keys, scale {scale}: {nonzeros:,} nonzeros", flush=True)
            base = None
            for contender in ["scipy (rows of W)", *(c for c in CONTENDERS if c != "scipy (rows of W)")]:
                if contender not in wanted and contender != "scipy (rows of W)":
                    continue
                package = PACKAGES.get(contender)
                if scale > LARGEST_SCALE.get(contender, 10**9) or (package and not importlib.util.find_spec(package)):
                    continue
                cpu, wall, result = measure(contender, tables, arguments.repeats if scale < 100 else 1)
                fault = differs(result, expected) if contender in {"relift", "scipy + pandas merges"} else ""
                base = cpu if base is None else base
                memory = f"  peak +{peak_memory(contender, scale, keys):.2f} GB" if arguments.memory else ""
                print(
                    f"  {contender:24s}"
                    + (
                        f" WRONG: {fault}"
                        if fault
                        else f"cpu {cpu:8.3f} s  wall {wall:8.3f} s  {cpu / base:6.2f}x{memory}"
                    ),
                    flush=True,
                )


if __name__ == "__main__":
    main()
