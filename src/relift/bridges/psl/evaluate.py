"""The figures of PSL's evaluators: how far what was inferred is from the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from relift.bridges.psl.project import Predicate
from relift.errors import OptionError

Atoms: TypeAlias = Mapping[tuple[str | int, ...], float]


@final
@dataclass(frozen=True)
class Evaluation:
    """What one evaluator found.

    Parameters
    ----------
    predicate
        Of which predicate.
    evaluator
        ``"continuous"``, ``"discrete"`` or ``"categorical"``.
    figures
        Its figures by name.
    """

    predicate: str
    evaluator: str
    figures: Mapping[str, float]

    def __str__(self) -> str:
        figures = ", ".join(f"{name} {value:.6f}" for name, value in self.figures.items())
        return f"{self.predicate} ({self.evaluator}): {figures}"


def evaluations_of(predicate: Predicate, inferred: Atoms) -> list[Evaluation]:
    """All evaluations that a project asks for; those that make sense if it does not say which.

    Examples
    --------
    >>> cat = Predicate("Cat", 2, ("text", "text"), True, {"truth": {("a", "u"): 1.0, ("a", "v"): 0.0}})
    >>> for found in evaluations_of(cat, {("a", "u"): 0.75, ("a", "v"): 0.25}):
    ...     print(found)
    Cat (continuous): MAE 0.250000, MSE 0.062500
    Cat (discrete): accuracy 1.000000, F1 1.000000, precision 1.000000, recall 1.000000, negative precision 1.000000,
    negative recall 1.000000
    Cat (categorical): accuracy 1.000000
    """
    wanted = predicate.evaluations
    if not wanted:
        wanted = [("continuous", {}), ("discrete", {})]
        wanted += [("categorical", {})] if predicate.arity > 1 else []
    return [_evaluated(predicate, inferred, name, options) for name, options in wanted]


def _evaluated(predicate: Predicate, inferred: Atoms, name: str, options: Mapping[str, object]) -> Evaluation:
    options = {str(key).lower(): value for key, value in options.items()}
    kind = name.rpartition(".")[2].lower().removesuffix("evaluator")
    observed = predicate.of("observations") if str(options.get("eval.includeobs")).lower() == "true" else {}
    known = {**inferred, **observed}
    truth = predicate.of("truth")
    if kind == "categorical":
        figures = _categorical(predicate, known, truth, options)
    elif kind == "continuous":
        figures = _continuous(known, truth)
    elif kind == "discrete":
        figures = _discrete(known, truth, _threshold(predicate, options.get("discreteevaluator.threshold", 0.5)))
    else:
        hint = "Expected one of Continuous, Discrete and Categorical."
        raise OptionError(f"the evaluator {name} of {predicate.name} is not one that relift has.", hint)
    return Evaluation(predicate.name, kind, figures)


def _threshold(predicate: Predicate, given: object) -> float:
    try:
        return float(str(given))
    except ValueError:
        raise OptionError(
            f"discreteevaluator.threshold={given!r} of {predicate.name} is not a number.", "Give one, such as 0.5."
        ) from None


def _continuous(known: Atoms, truth: Atoms) -> dict[str, float]:
    errors = [value - truth[key] for key, value in known.items() if key in truth]
    count = max(len(errors), 1)
    return {"MAE": sum(map(abs, errors)) / count, "MSE": sum(e * e for e in errors) / count}


def _discrete(known: Atoms, truth: Atoms, threshold: float) -> dict[str, float]:
    pairs = [(value >= threshold, truth[key] >= threshold) for key, value in known.items() if key in truth]
    count = {both: pairs.count(both) for both in ((True, True), (True, False), (False, True), (False, False))}
    hits, false_hits = count[True, True], count[True, False]
    misses, right = count[False, True], count[False, False]
    precision, recall = _share(hits, hits + false_hits), _share(hits, hits + misses)
    return {
        "accuracy": _share(hits + right, len(pairs)),
        "F1": _share(2 * precision * recall, precision + recall),
        "precision": precision,
        "recall": recall,
        "negative precision": _share(right, right + misses),
        "negative recall": _share(right, right + false_hits),
    }


def _categorical(predicate: Predicate, known: Atoms, truth: Atoms, options: Mapping[str, object]) -> dict[str, float]:
    """The share of true atoms whose category has the largest value for its base; of equal ones the first is taken."""
    words = str(options.get("categoricalevaluator.categoryindexes", predicate.arity - 1)).split(":")
    try:
        places = {int(word) % predicate.arity for word in words}
    except ValueError:
        raise OptionError(
            f"the category indexes {':'.join(words)} of {predicate.name} are not whole numbers."
        ) from None

    others = [k for k in range(predicate.arity) if k not in places]
    best: dict[tuple[str | int, ...], tuple[float, tuple[str | int, ...]]] = {}
    for key, value in known.items():
        base = tuple([key[k] for k in others])
        if base not in best or value > best[base][0]:
            best[base] = value, key
    chosen = {key for _, key in best.values()}
    true = [key for key, value in truth.items() if value >= 1]
    return {"accuracy": _share(sum(key in chosen for key in true), len(true))}


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
