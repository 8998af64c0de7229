r"""Are the classes right? Every sum into every class, exactly, by one aggregation for each side; no hash is involved.

For each row and each class of columns the entries are added up (as whole numbers, or as residues beside the floats);
in a class of rows all these sums must agree: least = largest, and as many rows as the class has must have one (sums
that are 0 are left out). The same for columns and classes of rows, and for P. For counting the sums are replaced by
how often each value occurs. Then :math:`YA = AX` and :math:`XP = PX` hold, and no collision of hashes can have led
astray.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final, get_args

from relift.in_database.exact_weights import ExactWeights, Method, residue
from relift.in_database.program_tables import EngineProgram
from relift.in_database.temporary_tables import TemporaryTables
from relift.settings import check_choice
from relift.tables.algebra import (
    Aggregate,
    AggregateFunction,
    Column,
    Filter,
    Join,
    Plan,
    Project,
    Scalar,
    any_of,
    call,
    literal,
    project,
)

Verify = Literal["exact", "hash"]
ROUNDING = 1e-9
"""Floats that stand for equal sums may differ by this part of what was added up."""


def check_verify(verify: str) -> None:
    """Refuse an unknown way of checking."""
    check_choice("verify", verify, get_args(Verify))


@final
@dataclass(frozen=True, eq=False)
class LabelledClasses:
    """Final classes of one side, numbered by their smallest member.

    Parameters
    ----------
    labels
        Plan with ``id`` and ``label``.
    leaders
        Plan with ``label``, ``leader`` (the smallest member) and ``size``.
    n_classes
        How many there are.
    """

    labels: Plan
    leaders: Plan
    n_classes: int


def labelled(temporary: TemporaryTables, side: str, current: Plan) -> LabelledClasses:
    """Number the classes of a plan (``id``, ``class``) by their smallest members."""
    summary = Aggregate(current, ("class",), {"leader": ("min", Column("id")), "size": ("count", literal(1))})
    leaders, n_classes = temporary.numbered(f"{side}_leaders", summary, "label", ("leader",))
    named = Join(current, project(leaders, "class", "label"))
    labels = temporary.store(f"{side}_labels", project(named, "id", "label"))
    return LabelledClasses(labels, project(leaders, "label", "leader", "size"), n_classes)


def has_wrong_class(
    program: EngineProgram,
    weights: ExactWeights,
    method: Method,
    rows: LabelledClasses,
    columns: LabelledClasses,
) -> str:
    """What is wrong with the classes, in words; empty if nothing is."""
    engine = program.engine
    checks: list[tuple[str, Plan]] = [
        ("rows of one class do not start equal", _unequal_kinds(weights.row_kinds, rows)),
        ("variables of one class do not start equal", _unequal_kinds(weights.column_kinds, columns)),
        ("rows of one class differ", _unequal_sums(weights, method, weights.entries, "row", "column", rows, columns)),
        (
            "variables of one class differ in their rows",
            _unequal_sums(weights, method, weights.entries, "column", "row", columns, rows),
        ),
    ]
    if weights.quadratic is not None:
        P = weights.quadratic
        checks.append(
            (
                "variables of one class differ in P",
                _unequal_sums(weights, method, P, "first", "second", columns, columns),
            )
        )
    return next((what for what, wrong in checks if engine.count(wrong, 1)), "")


def _unequal_kinds(kinds: Plan, classes: LabelledClasses) -> Plan:
    """Classes whose members start with different bounds or costs."""
    joined = Join(project(kinds, "id", "class"), classes.labels)
    spread = Aggregate(joined, ("label",), {"low": ("min", Column("class")), "high": ("max", Column("class"))})
    return Filter(spread, call("!=", Column("low"), Column("high")))


def _unequal_sums(
    weights: ExactWeights,
    method: Method,
    entries: Plan,
    here: str,
    there: str,
    classes: LabelledClasses,
    others: LabelledClasses,
) -> Plan:
    """Pairs of classes between which some sum differs from another, or is missing for some member."""
    parts = weights.parts
    has_floats = method == "equitable" and len(parts) > 1
    kept = [*parts, "float"] if has_floats else parts
    seen: dict[str, Scalar] = {"member": Column(here), "id": Column(there)}
    seen |= {w: Column(w) for w in kept}
    joined = project(
        Join(Project(entries, seen), Project(others.labels, {"id": Column("id"), "other": Column("label")})),
        "member", "other", *kept,
    )  # fmt: skip
    sums: Plan
    group: tuple[str, ...]
    if method == "counting":
        group = ("other", *parts)
        sums = Aggregate(joined, ("member", *group), {"total": ("count", literal(1))})
    else:
        group = ("other",)
        added: dict[str, tuple[AggregateFunction, Scalar]] = {w: ("wide sum", Column(w)) for w in parts}
        outputs: dict[str, Scalar] = {"member": Column("member"), "other": Column("other")}
        outputs["total"] = Column(parts[0]) if len(parts) == 1 else residue([Column(w) for w in parts])
        is_there: Scalar = call("!=", Column("total"), literal(0))
        if has_floats:
            added |= {"float": ("quick sum", Column("float")), "terms": ("quick sum", call("abs", Column("float")))}
            outputs |= {"float": Column("float"), "terms": Column("terms")}
            # A residue of 0 under a float that is none: a number of this size is a multiple of p, and they collide.
            is_there = any_of([is_there, _is_more_than_rounding(call("abs", Column("float")), Column("terms"))])
        sums = Filter(Project(Aggregate(joined, ("member", "other"), added), outputs), is_there)
    own = Project(classes.labels, {"member": Column("id"), "label": Column("label")})
    extremes: dict[str, tuple[AggregateFunction, Scalar]] = {
        "low": ("min", Column("total")), "high": ("max", Column("total")), "n": ("count", literal(1)),
    }  # fmt: skip
    wrong: list[Scalar] = [call("!=", Column("low"), Column("high")), call("!=", Column("n"), Column("size"))]
    if has_floats:
        extremes |= {"least": ("min", Column("float")), "most": ("max", Column("float"))}
        extremes["terms"] = ("max", Column("terms"))
        wrong.append(_is_more_than_rounding(call("-", Column("most"), Column("least")), Column("terms")))
    spread = Aggregate(Join(sums, own), ("label", *group), extremes)
    return Filter(Join(spread, project(classes.leaders, "label", "size")), any_of(wrong))


def _is_more_than_rounding(difference: Scalar, terms: Scalar) -> Scalar:
    return call(">", difference, call("*", literal(ROUNDING), terms))
