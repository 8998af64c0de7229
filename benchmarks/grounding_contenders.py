"""Builds of one program, a transductive SVM, from the same tables: relift, SciPy by hand, and other modelling tools.

Each function takes the tables of :func:`cora_shaped` and gives P, q, A, l and lb of

    min sum weight^2 + sum slack + 1/2 sum coslack   s.t.   A (weight, bias, slack, coslack) >= l,  slack, coslack >= 0

as its tool exports them: the order of rows and columns is its own, bounds may be rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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


# --- relift ------------------------------------------------------------------------------------------------------


def by_relift_from_text(tables: Tables) -> Any:
    """Parsing and checking the text are part of it."""
    from relift.language.checks.check_model import check_text

    return _grounded(check_text(MODEL), tables)


def by_relift(tables: Tables) -> Any:
    """From a checked model, as the others start from code that Python has read already."""
    from relift.language.checks.check_model import check_text

    if not _CHECKED:
        _CHECKED.append(check_text(MODEL))
    return _grounded(_CHECKED[0], tables)


def by_relift_in_duckdb(tables: Tables) -> Any:
    """From a checked model, with every query in DuckDB."""
    from relift.language.checks.check_model import check_text
    from relift.tables.duckdb.engine import DuckDBEngine

    if not _CHECKED:
        _CHECKED.append(check_text(MODEL))
    return _grounded(_CHECKED[0], tables, DuckDBEngine())


_CHECKED: list[Any] = []


def _grounded(model: Any, tables: Tables, engine: Any = None) -> Any:
    from relift.grounding.ground import ground

    with ground(model, tables, engine=engine) as grounded:
        program = grounded.program
    return program.P, program.q, program.A, program.l, program.lb


# --- by hand -----------------------------------------------------------------------------------------------------


@dataclass
class Codes:
    """The tables in numbers: all a build by hand needs to know about keys."""

    W: Any
    labelled: Any
    sign: Any
    first: Any
    second: Any
    sign_of: Any


def coded(tables: Tables) -> Codes:
    """Numbers for papers and words, the word matrix, and the linked pairs in order."""
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
    return Codes(W, labelled, sign, pairs // n_papers, pairs % n_papers, sign_of)


def by_rows_of_a_matrix(tables: Tables) -> Any:
    """Knowing the structure: the word matrix once, its rows taken by number, blocks put together by SciPy."""
    codes = coded(tables)
    W, sign, signs = codes.W, codes.sign, codes.sign_of[codes.first]
    m, k = codes.labelled.size, codes.first.size
    A = sparse.block_array(
        [
            [sparse.diags_array(sign) @ W[codes.labelled], sign.reshape(-1, 1), sparse.eye_array(m), None],
            [sparse.diags_array(signs) @ W[codes.second], signs.reshape(-1, 1), None, sparse.eye_array(k)],
        ],
        format="csr",
    )
    return _with_rest(A, W.shape[1], m, k)


def by_arrays_of_rows(tables: Tables) -> Any:
    """The same, but the arrays of the matrix are filled by hand: no block is copied twice."""
    codes = coded(tables)
    m, k = codes.labelled.size, codes.first.size
    rows = codes.W[np.concatenate([codes.labelled, codes.second])]
    signs = np.concatenate([codes.sign, codes.sign_of[codes.first]])
    n, lengths = rows.shape[1], np.diff(rows.indptr)
    starts = rows.indptr + 2 * np.arange(m + k + 1, dtype=rows.indptr.dtype)
    is_word = np.ones(int(starts[-1]), np.bool_)
    is_word[starts[1:] - 1] = is_word[starts[1:] - 2] = False
    indices, data = np.empty(is_word.size, rows.indices.dtype), np.empty(is_word.size)
    indices[is_word], data[is_word] = rows.indices, np.repeat(signs, lengths)
    indices[starts[1:] - 2], data[starts[1:] - 2] = n, signs
    indices[starts[1:] - 1], data[starts[1:] - 1] = n + 1 + np.arange(m + k), 1.0
    return _with_rest(sparse.csr_array((data, indices, starts), shape=(m + k, n + 1 + m + k)), n, m, k)


def _with_rest(A: Any, n: int, m: int, k: int) -> Any:
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
    return _with_rest(A, n, m, k)


# --- other tools --------------------------------------------------------------------------------------------------


def by_cvxpy(tables: Tables) -> Any:
    """Matrix expressions over the word matrix; the data that OSQP would be given."""
    import cvxpy as cp

    codes = coded(tables)
    weight, bias = cp.Variable(codes.W.shape[1]), cp.Variable()
    slack = cp.Variable(codes.labelled.size, nonneg=True)
    coslack = cp.Variable(codes.first.size, nonneg=True)
    signs = codes.sign_of[codes.first]
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(weight) + cp.sum(slack) + 0.5 * cp.sum(coslack)),
        [
            cp.multiply(codes.sign, codes.W[codes.labelled] @ weight + bias) >= 1 - slack,
            cp.multiply(signs, codes.W[codes.second] @ weight + bias) >= 1 - coslack,
        ],
    )
    data, _, _ = problem.get_problem_data(cp.OSQP)
    n_bounds = slack.size + coslack.size
    A, l = -data["F"].tocsr()[n_bounds:], -data["G"][n_bounds:]
    return data["P"], data["q"], A, l, None


def by_linopy(tables: Tables) -> Any:
    """Labelled expressions: terms of all word facts, grouped by paper, then selected for each row."""
    import linopy
    import xarray as xr

    word, label = tables["word"], tables["label"]
    model = linopy.Model()
    words = pd.Index(np.sort(word["word"].unique()), name="word")
    weight, bias = model.add_variables(coords=[words], name="weight"), model.add_variables(name="bias")
    facts = weight.sel(word=xr.DataArray(word["word"].to_numpy(), dims="fact"))
    of_paper = pd.Series(word["paper"].to_numpy(), index=pd.RangeIndex(len(word), name="fact"), name="paper")
    scores = (facts * xr.DataArray(np.ones(len(word)), dims="fact")).groupby(of_paper).sum()
    both = pd.concat([tables["cite"], tables["cite"].rename(columns={"citing": "cited", "cited": "citing"})])
    linked = both.merge(label, left_on="citing", right_on="paper").drop(columns="paper")
    linked = linked.merge(tables["query"], left_on="cited", right_on="paper").drop_duplicates(["citing", "cited"])
    objective = (weight * weight).sum()
    for name, papers, signs, cost in (
        ("slack", label["paper"], label["value"], 1.0),
        ("coslack", linked["cited"], linked["value"], 0.5),
    ):
        rows = pd.RangeIndex(len(papers), name=f"row of {name}")
        unknown = model.add_variables(lower=0, coords=[rows], name=name)
        sign = xr.DataArray(signs.to_numpy(), coords=[rows])
        score = scores.sel(paper=xr.DataArray(papers.to_numpy(), dims=rows.name)).drop_vars("paper")
        model.add_constraints(score * sign + bias * sign + unknown >= 1, name=f"{name} rows")
        objective = objective + cost * unknown.sum()
    model.add_objective(objective)
    matrices = model.matrices
    return matrices.Q, matrices.c, matrices.A, matrices.b, matrices.lb


def by_pyomo(tables: Tables) -> Any:
    """One Python expression for each row; its compiler of linear forms gives the matrix of the rows."""
    import pyomo.environ as pyo
    from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

    word, cite, query = tables["word"], tables["cite"], set(tables["query"]["paper"])
    words_of: dict[Any, list[Any]] = {}
    for paper, one in zip(word["paper"].tolist(), word["word"].tolist(), strict=True):
        words_of.setdefault(paper, []).append(one)
    sign = dict(zip(tables["label"]["paper"].tolist(), tables["label"]["value"].tolist(), strict=True))
    pairs = list(zip(cite["citing"].tolist(), cite["cited"].tolist(), strict=True))
    linked = sorted({(i, j) for a, b in pairs for i, j in ((a, b), (b, a)) if i in sign and j in query})
    model = pyo.ConcreteModel()
    model.weight, model.bias = pyo.Var(sorted(set(word["word"]))), pyo.Var()
    model.slack = pyo.Var(list(sign), domain=pyo.NonNegativeReals)
    model.coslack = pyo.Var(linked, domain=pyo.NonNegativeReals)
    model.rows = pyo.Block()

    def score(paper: Any, factor: float) -> Any:
        return pyo.quicksum(factor * model.weight[w] for w in words_of.get(paper, ())) + factor * model.bias

    model.rows.margin = pyo.Constraint(list(sign), rule=lambda _, i: score(i, sign[i]) >= 1 - model.slack[i])
    model.rows.collective = pyo.Constraint(linked, rule=lambda _, i, j: score(j, sign[i]) >= 1 - model.coslack[i, j])
    model.loss = pyo.Objective(
        expr=pyo.quicksum(w**2 for w in model.weight.values())
        + pyo.quicksum(model.slack.values())
        + 0.5 * pyo.quicksum(model.coslack.values())
    )
    form = LinearStandardFormCompiler().write(model.rows, mixed_form=True)
    sense = np.array([-row.bound_type for row in form.rows], dtype=np.float64)  # some rows come as -score <= -1
    return None, None, sparse.diags_array(sense) @ form.A, sense * form.rhs, None


CONTENDERS: dict[str, Callable[[Tables], Any]] = {
    "relift": by_relift,
    "relift, text parsed anew": by_relift_from_text,
    "relift in DuckDB": by_relift_in_duckdb,
    "SciPy, blocks": by_rows_of_a_matrix,
    "SciPy, arrays by hand": by_arrays_of_rows,
    "SciPy and pandas merges": by_merges,
    "CVXPY": by_cvxpy,
    "linopy": by_linopy,
    "Pyomo": by_pyomo,
}
BY_HAND = ("SciPy, blocks", "SciPy, arrays by hand", "SciPy and pandas merges")
PACKAGES = {"CVXPY": "cvxpy", "linopy": "linopy", "Pyomo": "pyomo"}
LARGEST_SCALE = {"Pyomo": 10}
