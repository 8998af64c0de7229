"""The same program comes out of an MPS file however it is written, and out of HiGHS too, to the last bit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.data import data_folder

from relift import Program, read_program
from relift.errors import BoundsError, FileFormatError, FileWarning
from relift.formats.mps_columns import Columns
from relift.formats.mps_reader import program_from_mps, program_from_mps_with_notes
from relift.formats.mps_words import Lines

INF = np.inf


def number_word(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


# --- random models as sections, so that they can be written in many ways -------------------------------------------

SEEDS = st.integers(0, 2**32 - 1)
NUMBERS = [1.0, 2.0, -3.0, 7.0, 0.1, -0.3, 1e-7, 123456.789, 1e12, 1 / 3, -2 / 7]
"""HiGHS drops numbers below 1e-9 and refuses those from 1e15 on."""


def random_model(seed: int) -> dict[str, list[list[str]]]:
    """Sections of a model, each line as its fields."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 46)), int(rng.integers(1, 7))
    numbers = [float(value) for value in rng.choice(NUMBERS, 15)] + [float(value) for value in rng.normal(size=15)]

    def some() -> str:
        return number_word(numbers[rng.integers(30)])

    kinds = rng.choice(list("LGE"), m)
    rows = [["N", "COST"], *([str(kind), f"R{i}"] for i, kind in enumerate(kinds))]
    if rng.random() < 0.5:
        rows.insert(int(rng.integers(1, m + 2)), ["N", "FREE"])
    columns = []
    for j in range(n):
        entries = [name for _, name in rows if name != "FREE" and rng.random() < 0.5]
        entries = entries or ["COST"]
        if ["N", "FREE"] in rows and rng.random() < 0.3:
            entries.append("FREE")
        for k in range(0, len(entries), 2):
            columns.append([f"X{j}", *(word for name in entries[k : k + 2] for word in (name, some()))])
    names = [f"R{i}" for i in range(m)]
    rhs = [["RHS", name, some()] for name in [*names, "COST"] if rng.random() < 0.6]
    ranges = [["RNG", name, some()] for name in names if rng.random() < 0.3]
    bounds = []
    for j in range(n):
        low, high = sorted(abs(numbers[k]) for k in rng.integers(0, 30, 2))
        written = [
            [], [["UP", number_word(high)]], [["LO", number_word(-low)]], [["FX", some()]], [["FR", ""]], [["MI", ""]],
            [["LO", number_word(-high)], ["UP", number_word(low)]], [["MI", ""], ["UP", number_word(-low)]],
            [["PL", ""]], [["UP", "1e30"]], [["LO", "-1e20"]],
        ][rng.integers(0, 11)]  # fmt: skip
        bounds += [[kind, "BND", f"X{j}", *([number] if number else [])] for kind, number in written]
    quadratic = [[f"X{j}", f"X{j}", number_word(abs(numbers[j % 30]))] for j in range(n) if rng.random() < 0.2]
    return {"ROWS": rows, "COLUMNS": columns, "RHS": rhs, "RANGES": ranges, "BOUNDS": bounds} | (
        {"QUADOBJ": quadratic} if quadratic else {}
    )


def clean_text(sections: dict[str, list[list[str]]], head: str = "NAME TEST\n") -> str:
    body = "".join(
        f"{name}\n" + "".join(f" {' '.join(fields)}\n" for fields in lines) for name, lines in sections.items()
    )
    return f"{head}{body}ENDATA\n"


def mutated_text(sections: dict[str, list[list[str]]], seed: int, for_highs: bool = False) -> str:
    """The same model with comments, blank lines, other spacing, case, order, line ends and exponents.

    HiGHS reads types of rows and bounds in capital letters alone, and lines that end in LF or CR LF.
    """
    rng = np.random.default_rng(seed)
    noise = ["", "   ", "\t", "*", "* a comment", "*X0 COST 99", "* ENDATA", "*\tROWS", "*$"]
    late = [name for name in sections if name not in ("ROWS", "COLUMNS", "QUADOBJ")]
    rng.shuffle(late)
    if for_highs:  # which applies a range to the right-hand side that it has seen by then
        late = ["BOUNDS", "RHS", "RANGES"] if late[0] == "BOUNDS" else ["RHS", "RANGES", "BOUNDS"]
    order = ["ROWS", "COLUMNS", *late, *(["QUADOBJ"] if "QUADOBJ" in sections else [])]
    runs: dict[str, list[list[str]]] = {}
    for fields in sections["COLUMNS"]:
        runs.setdefault(fields[0], []).append(fields)
    order_of_lines = {name: [lines[k] for k in rng.permutation(len(lines))] for name, lines in sections.items()}
    order_of_lines["ROWS"] = sections["ROWS"]  # the order of rows and columns is part of the program
    order_of_lines["COLUMNS"] = [run[k] for run in runs.values() for k in rng.permutation(len(run))]
    density = float(rng.choice([0.0, 0.1, 0.7]))

    def spaced(fields: list[str]) -> str:
        gaps = rng.choice([" ", "  ", "\t", "     "], len(fields) + 1)
        return "".join(f"{gap}{word}" for gap, word in zip(gaps, fields, strict=False)) + str(gaps[-1]) * int(
            rng.integers(2)
        )

    def exponent(word: str, k: int) -> str:
        is_number = k > 0 and word.lstrip("-")[:1].isdigit()
        if is_number and "e" in word and rng.random() < 0.5:
            return word.replace("e", str(rng.choice(["E", "D", "d"])))
        if is_number and "e" not in word and rng.random() < 0.2:
            return str(rng.choice([f"{word}E0", f"{word}D+00"]))
        return word

    lines = ["NAME TEST"]
    for name in order:
        lines.append(str(rng.choice([name, name.lower(), name.capitalize(), f"{name}   "])))
        for fields in order_of_lines[name]:
            while rng.random() < density:
                lines.append(str(rng.choice(noise)))
            written = [exponent(word, k) for k, word in enumerate(fields)]
            if name in ("ROWS", "BOUNDS") and not for_highs and rng.random() < 0.3:
                written[0] = written[0].lower()
            lines.append(spaced(written))
        while rng.random() < density:
            lines.append(str(rng.choice(noise)))
    lines.append(str(rng.choice(["ENDATA", "endata"])))
    return str(rng.choice(["\n", "\r\n", "\n" if for_highs else "\r"])).join(lines) + str(
        rng.choice(["", "\n", "\n\n* over\n"])
    )


def same_bits(one: Program, other: Program) -> None:
    for name in ("q", "l", "u", "lb", "ub"):
        assert (getattr(one, name) + 0.0).tobytes() == (getattr(other, name) + 0.0).tobytes(), name
    assert (one.r, one.sense) == (other.r, other.sense)
    assert (list(one.variable_names), list(one.row_names)) == (list(other.variable_names), list(other.row_names))
    for here, there in ((one.A, other.A), (one.P, other.P)):
        assert (here is None) == (there is None)
        if here is not None:
            assert (here.toarray() + 0.0).tobytes() == (there.toarray() + 0.0).tobytes()


def read_by_highs(text: str, path: Path) -> Program:
    import highspy

    path.write_bytes(text.encode())
    highs = highspy.Highs()
    highs.setOptionValue("log_to_console", False)
    assert highs.readModel(str(path)) != highspy.HighsStatus.kError, text
    model = highs.getModel()
    lp, hessian = model.lp_, model.hessian_
    n, m = lp.num_col_, lp.num_row_
    matrix = lp.a_matrix_
    make = sparse.csc_array if matrix.format_ == highspy.MatrixFormat.kColwise else sparse.csr_array
    A = make((np.array(matrix.value_), np.array(matrix.index_, int), np.array(matrix.start_, int)), shape=(m, n))
    P = None
    if hessian.dim_:
        lower = sparse.csc_array(
            (np.array(hessian.value_), np.array(hessian.index_, int), np.array(hessian.start_, int)), shape=(n, n)
        )
        P = lower + sparse.tril(lower, k=-1).T
    l, u, lb, ub = (
        np.array(part, dtype=float) for part in (lp.row_lower_, lp.row_upper_, lp.col_lower_, lp.col_upper_)
    )
    sense: Literal["min", "max"] = "max" if lp.sense_ == highspy.ObjSense.kMaximize else "min"
    return Program(
        P, np.array(lp.col_cost_), A, l, u, lb, ub, lp.offset_, sense=sense,
        variable_names=list(lp.col_names_), row_names=list(lp.row_names_), assume_convex=True,
    )  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS)
def test_comments_blanks_spacing_order_case_line_ends_and_exponents_change_nothing(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sections = random_model(seed)
    expected = program_from_mps(clean_text(sections), "clean")
    same_bits(program_from_mps(mutated_text(sections, seed), "mutated"), expected)
    path = tmp_path_factory.mktemp("mps") / "model.mps"
    same_bits(read_by_highs(clean_text(sections), path), expected)
    mutated = mutated_text(sections, seed, for_highs=True)
    same_bits(program_from_mps(mutated, "mutated"), expected)
    same_bits(read_by_highs(mutated, path), expected)


@settings(max_examples=50, deadline=None)
@given(seed=SEEDS)
def test_columns_read_at_once_are_those_read_one_by_one(seed: int) -> None:
    sections = random_model(seed)
    lines = Lines.of("".join(f" {' '.join(fields)}\n" for fields in sections["COLUMNS"]))
    rows = {name.encode(): k for k, (_, name) in enumerate(sections["ROWS"])}
    quick, slow = Columns(), Columns()
    assert quick._read_at_once(lines, 0, len(lines), rows)
    cut = seed % (len(lines) + 1)
    slow.read_one_by_one(lines, 0, cut, rows, fixed=False)
    slow.read_one_by_one(lines, cut, len(lines), rows, fixed=False)
    assert quick.number_of == slow.number_of
    found = [sorted(zip(*(part.tolist() for part in which.entries()), strict=True)) for which in (quick, slow)]
    assert found[0] == found[1]


def test_a_comment_in_the_middle_of_a_long_section_drops_nothing() -> None:
    body = "".join(f" X{j} COST {j + 1} R {j + 2}\n" for j in range(100))
    text = f"ROWS\n N COST\n G R\nCOLUMNS\n{body}RHS\n RHS R 1\nENDATA\n"
    expected = program_from_mps(text, "m")
    for noise in ("* a comment\n", "\n", "   \n", "\t\n", "  * indented\n", "*\n\n*\n"):
        for place in (" X0 ", " X50 ", " X99 ", "RHS\n", "ENDATA"):
            assert program_from_mps(text.replace(place, noise + place, 1), "m") == expected


def test_a_real_collection_is_read_as_highs_reads_it(tmp_path: Path) -> None:
    import gzip

    files = sorted(data_folder("lp_symmetric").glob("*.mps.gz"))[:6]
    assert files
    for path in files:
        text = gzip.decompress(path.read_bytes()).decode()
        with_noise = "\n".join(line if k % 7 else f"{line}\n* noise\n" for k, line in enumerate(text.split("\n")))
        if "'MARKER'" not in text:
            same_bits(program_from_mps(with_noise, path.name), read_by_highs(text, tmp_path / "model.mps"))
        assert program_from_mps(with_noise, "m", relax_integers=True) == program_from_mps(
            text, "m", relax_integers=True
        )


# --- one dialect after the other -----------------------------------------------------------------------------------

BASE = """NAME T
ROWS
 N COST
 L R1
 G R2
 E R3
 N SECOND
COLUMNS
 X COST 1 R1 1
 X R2 1
 Y COST 2 R1 1
 Y R3 -1 SECOND 5
 Z R3 1
RHS
 RHS COST -3 R1 4
 RHS R2 1 R3 7
 RHS SECOND -8
RANGES
 RNG R1 2.5 R3 -1
BOUNDS
 UP BND X 4
 LO BND Y -1
 UP BND Y 1
 FR BND Z
ENDATA
"""


def read(old: str = "", new: str = "", **options: bool) -> Program:
    assert old in BASE
    return program_from_mps(BASE.replace(old, new, 1), "m", **options)


def refused(old: str, new: str) -> str:
    with pytest.raises(FileFormatError) as error:
        read(old, new)
    return str(error.value)


@pytest.mark.parametrize(
    "lines",
    [
        "OBJSENSE\n    MAX\n",
        "OBJSENSE\n  MAXIMIZE\n", "OBJSENSE\n  maximise\n", "OBJSENSE\nMAX\n", "OBJSENSE MAX\n",
        "OBJSENSE maximum\n", "objsense max\n", "OBJSENSE\n* really\n\n    Max\n", "MAX\n", "MAXIMIZE\n",
        "OBJSENSEMAX\n", "OBJSENSE Maximization\n",
    ],
)  # fmt: skip
def test_the_sense_of_the_objective_is_read_in_every_spelling(lines: str) -> None:
    assert read("ROWS", f"{lines}ROWS").sense == "max"
    assert read("ROWS", f"{lines.upper().replace('MAX', 'MIN')}ROWS").sense == "min"
    assert read("ENDATA", f"{lines}ENDATA").sense == "max" if lines.upper().startswith("OBJSENSE") else True


def test_a_sense_that_is_none_or_comes_twice_is_refused() -> None:
    assert refused("ROWS", "OBJSENSE\n UP\nROWS") == "m, line 3: OBJSENSE is 'UP'; it must be MIN or MAX."
    assert (
        refused("ROWS", "OBJSENSE MAX\nOBJSENSE MIN\nROWS") == "m, line 3: OBJSENSE is given twice, as MIN and as MAX."
    )
    assert refused("ROWS", "OBJSENSE\n MAX IMUM\nROWS") == "m, line 3: OBJSENSE is followed by one word, not by 2."


@pytest.mark.parametrize(
    "lines", ["OBJNAME\n SECOND\n", "OBJNAME SECOND\n", "objname\nSECOND\n", "OBJNAME\n\n*\n SECOND\n"]
)
def test_objname_chooses_the_objective(lines: str) -> None:
    for place in ("ROWS", "COLUMNS"):
        program = read(place, f"{lines}{place}")
        assert (program.q.tolist(), program.r) == ([0, 5, 0], 8)
        assert program.row_names == ["R1", "R2", "R3"]
    assert read().q.tolist() == [1, 2, 0]
    assert read("ROWS", "OBJNAME\n COST\nROWS") == read()


def test_objname_of_what_is_no_free_row_is_refused() -> None:
    for name in ("R1", "NONE"):
        message = f"m, line 3: OBJNAME is '{name}', but there is no such row of type N."
        assert refused("ROWS", f"OBJNAME\n {name}\nROWS") == message
    assert (
        refused("ENDATA", "OBJNAME SECOND\nENDATA") == "m, line 25: OBJNAME comes after COLUMNS; it must stand before."
    )
    assert "OBJNAME is given twice, as 'COST' and 'SECOND'" in refused("ROWS", "OBJNAME COST\nOBJNAME SECOND\nROWS")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" X R2 1", " X R2 1 $ a comment"), (" X R2 1", " X R2 1 $1 each"), (" X COST 1 R1 1", " X COST 1 R1 1 $"),
        (" UP BND X 4", " UP BND X 4 $ four of them"), (" FR BND Z", " FR BND Z $ free"),
        (" N COST", " N COST $ dollars"),
        (" RHS R2 1 R3 7", " RHS R2 1 R3 7 $ X 9"), (" RNG R1 2.5 R3 -1", " RNG R1 2.5 $ no\n RNG R3 -1 $ yes"),
    ],
)  # fmt: skip
def test_a_comment_after_a_dollar_is_left_out(old: str, new: str) -> None:
    assert read(old, new) == read()


def test_a_dollar_in_a_name_is_part_of_it() -> None:
    text = BASE.replace("R1", "$R1").replace("X", "$X")
    program = program_from_mps(text, "m")
    assert (program.variable_names[0], program.row_names[0]) == ("$X", "$R1")
    assert program.replace(variable_names=None, row_names=None) == read().replace(variable_names=None, row_names=None)
    assert program_from_mps(text.replace(" $X R2 1", " $X R2 1 $ two"), "m") == program
    many = "".join(f" X{j} COST 1 $R {j} $ what it costs\n" for j in range(50))
    at_once = program_from_mps(f"ROWS\n N COST\n L $R\nCOLUMNS\n{many}ENDATA\n", "m")
    assert at_once.A.toarray()[0].tolist() == list(range(50))


@pytest.mark.parametrize(
    ("place", "lines", "section", "unused"),
    [
        ("RANGES\n", " OTHER R1 9\n OTHER R2 8\n", "RHS", 2),
        ("RANGES\n", " OTHER R1 9\n", "RHS", 1),
        ("BOUNDS\n", " OTHER R1 99 R2 5\n", "RANGES", 1),
        ("ENDATA\n", " UP OTHER X 99\n FR OTHER Y\n BV OTHER Z 1\n", "BOUNDS", 3),
        ("ENDATA\n", "RHS\n OTHER R1 9\n", "RHS", 1),
    ],
)
def test_of_several_sets_the_first_is_used_and_a_note_says_so(
    place: str, lines: str, section: str, unused: int
) -> None:
    program, notes = program_from_mps_with_notes(BASE.replace(place, lines + place, 1), "m")
    assert program == read()
    first = {"RHS": "RHS", "RANGES": "RNG", "BOUNDS": "BND"}[section]
    assert notes == (f"{section} has 2 sets; the first, '{first}', is used, and {unused} lines of 'OTHER' are not.",)
    assert program_from_mps_with_notes(BASE, "m")[1] == ()


def test_notes_reach_the_caller_as_warnings(tmp_path: Path) -> None:
    path = tmp_path / "m.mps"
    path.write_text(BASE.replace("ENDATA\n", " UP OTHER X 9\nENDATA\n X COST 1\n"))
    with pytest.warns(FileWarning) as told:
        assert read_program(path) == read()
    assert [str(warning.message) for warning in told] == [
        f"{path}: BOUNDS has 2 sets; the first, 'BND', is used, and 1 lines of 'OTHER' are not.",
        f"{path}: 1 lines after ENDATA are not read.",
    ]
    path.write_text(BASE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_program(path)


@pytest.mark.parametrize(
    ("lines", "side", "first", "second"),
    [
        (" UP BND X 5\n", "upper", "4", "5"), (" FX BND X 5\n", "upper", "4", "5"),
        (" PL BND X\n", "upper", "4", "inf"), (" LO BND Y 2\n", "lower", "-1", "2"),
        (" UP BND Z 3\n", "upper", "inf", "3"), (" MI BND Y\n", "lower", "-1", "-inf"),
    ],
)  # fmt: skip
def test_a_bound_that_is_given_twice_is_refused_unless_it_says_the_same(
    lines: str, side: str, first: str, second: str
) -> None:
    message = refused("ENDATA", f"{lines}ENDATA")
    assert message.startswith("m, line 25: the ")
    assert f"the {side} bound of '{lines.split()[2]}' is given twice: {first} in line " in message
    assert f", and now {second}. Keep one of them" in message
    assert read("ENDATA", " UP BND X 4\n MI BND Z\n PL BND Z\nENDATA") == read()


def test_a_negative_upper_bound_needs_a_lower_one() -> None:
    assert "negative and there is no lower bound" in refused(" UP BND X 4", " UP BND X -4")
    assert read(" UP BND X 4", " UP BND X -4\n MI BND X").lb[0] == -INF
    assert read(" UP BND X 4", " UP BND X -4\n LO BND X -9").lb[0] == -9
    assert read(" UP BND X 4", " UP BND X 0").ub[0] == 0
    with pytest.raises(BoundsError):
        read(" UP BND X 4", " LO BND X 0\n UP BND X -4")


@pytest.mark.parametrize(
    ("kind", "width", "expected"),
    [
        ("E", "2", (7, 9)), ("E", "-2", (5, 7)), ("E", "0", (7, 7)), ("G", "2", (7, 9)), ("G", "-2", (7, 9)),
        ("L", "2", (5, 7)), ("L", "-2", (5, 7)), ("E", "-0.0", (7, 7)),
    ],
)  # fmt: skip
def test_ranges_mean_what_their_row_and_sign_say(kind: str, width: str, expected: tuple[float, float]) -> None:
    text = BASE.replace(" E R3", f" {kind} R3").replace("R3 -1\nBOUNDS", f"R3 {width}\nBOUNDS")
    program = program_from_mps(text, "m")
    assert (program.l[2], program.u[2]) == expected


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("1e30", INF), ("1E+30", INF), ("1e20", INF), ("1D20", INF), ("9.9999e19", 9.9999e19), ("inf", INF),
        ("Infinity", INF), ("+1e99", INF), ("1e400", INF),
    ],
)  # fmt: skip
def test_numbers_from_1e20_on_are_no_bounds(word: str, value: float) -> None:
    assert read(" UP BND X 4", f" UP BND X {word}").ub[0] == value
    without_range = BASE.replace(" RNG R1 2.5 R3 -1", " RNG R3 -1")
    assert program_from_mps(without_range.replace("R1 4\n", f"R1 {word}\n"), "m").u[0] == value
    assert read(" LO BND Y -1", f" LO BND Y -{word.lstrip('+')}").lb[1] == -value


@pytest.mark.parametrize("quote", ["'", ""])
@pytest.mark.parametrize("case", [str.upper, str.lower])
def test_markers_make_integer_columns_in_short_and_long_sections(case: Callable[[str], str], quote: str) -> None:
    if not quote:
        assert "is not declared in ROWS" in refused(" Z R3 1", " M MARKER INTORG\n Z R3 1")
        return
    start, end = (
        f" M {case(chr(39) + 'MARKER' + chr(39))} {case(chr(39) + word + chr(39))}\n" for word in ("INTORG", "INTEND")
    )
    for filling in ("", "".join(f" F{j} COST 1\n" for j in range(60))):
        text = BASE.replace(
            " Z R3 1\n", f" Z R3 1\n{filling}{start} V R1 2\n W R1 1\n{end} U R2 1\n{filling.replace('F', 'H')}"
        )
        program = program_from_mps(text, "m", relax_integers=True)
        at = {name: j for j, name in enumerate(program.variable_names)}
        assert [program.ub[at[name]] for name in "VWU"] == [1, 1, INF]
        bounded = program_from_mps(text.replace("ENDATA", " LO BND V 0\n UP BND W 7\nENDATA"), "m", relax_integers=True)
        assert [bounded.ub[at[name]] for name in "VW"] == [INF, 7]
        with pytest.raises(FileFormatError, match="2 integer variables, the first is 'V'"):
            program_from_mps(text, "m")
        with pytest.raises(FileFormatError, match="the marker INTORG comes twice in a row"):
            program_from_mps(text.replace(end, start), "m", relax_integers=True)


def test_data_that_are_not_indented_are_read_and_never_taken_for_headings() -> None:
    assert program_from_mps("\n".join(line.strip() for line in BASE.split("\n")), "m") == read()
    assert "the heading RHS stands alone in its line" in refused(" Z R3 1\n", "RHS R3 1\n")
    assert "NAME comes after other sections" in refused(" Z R3 1\n", "NAME R3 1\n")
    assert refused(" Z R3 1\n", "Z\n") == "m, line 13: the section 'Z' is not known."


def test_an_indented_star_is_a_comment_but_not_when_it_could_be_data() -> None:
    assert read(" X R2 1", "   * so many\n X R2 1") == read()
    assert "line 10: this is a comment to some readers and data of '*' to others." in refused(" X R2 1", " * R2 1")
    assert refused(" X R2 1", " *X R2 1") == (
        "m, line 10: this is a comment to some readers and data of '*X' to others. A comment has its * in the first"
        " column; a name should not begin with one."
    )


def test_names_with_spaces_are_read_in_the_fixed_format_and_no_word_is_cut() -> None:
    text = (
        "NAME          SPACES\nROWS\n N  TOT COST\n L  LIM 1\nCOLUMNS\n"
        "    COL 1     TOT COST         1.0     LIM 1            2.0\n"
        "* between\n\n"
        "    COL 2     TOT COST         3.0     $ a comment\n"
        "RHS\n    RHS SET   LIM 1            4.0\nBOUNDS\n UP BND SET   COL 1            5.0\nENDATA\n"
    )
    program = program_from_mps(text, "m")
    assert (program.variable_names, program.row_names) == (["COL 1", "COL 2"], ["LIM 1"])
    assert (program.q.tolist(), program.A.toarray().tolist()) == ([1, 3], [[2, 0]])
    assert (program.u.tolist(), program.ub.tolist()) == ([4], [5, INF])
    # One column too far to the left: the names would lose their first letters.
    with pytest.raises(FileFormatError):
        program_from_mps(text.replace(" N  TOT COST", " N TOT COST"), "m")


def test_line_ends_and_blanks_of_other_alphabets_are_parts_of_names_and_comments() -> None:
    for odd in ("\x85", "\u2028", "\x1c", "\xa0", "\u3000", "\x0c"):
        assert read("ROWS", f"* a{odd} X COST 9\nROWS") == read()
    for odd in ("\x85", "\u2028", "\x1c", "\xa0"):
        assert program_from_mps(BASE.replace("X", f"X{odd}1"), "m").variable_names[0] == f"X{odd}1"


def test_columns_that_come_back_later_and_sections_in_another_order_are_read() -> None:
    assert read(" Z R3 1\n", " Z R3 1\n X R3 4\n").A.toarray()[2].tolist() == [4, -1, 1]
    start, rows = BASE.index("RHS\n"), BASE.index("BOUNDS\n")
    swapped = BASE[:start] + BASE[rows : BASE.index("ENDATA")] + BASE[start:rows] + "ENDATA\n"
    assert program_from_mps(swapped, "m") == read()


def test_quadratic_sections_may_hold_comments() -> None:
    plain = read("ENDATA", "QUADOBJ\n X X 2\n Y X 1\n Y Y 2\nENDATA")
    assert plain.P.toarray().tolist() == [[2, 1, 0], [1, 2, 0], [0, 0, 0]]
    assert read("ENDATA", "quadobj\n* x\n X X 2 $ x\n\n Y X 1D0\n  \n Y Y 2\nENDATA") == plain
    assert read("ENDATA", "QMATRIX\n X X 2 Y 1\n*\n Y X 1 Y 2\nENDATA") == plain
    assert read("ENDATA", "QSECTION COST\n X X 2\n\n Y X 1\n Y Y 2\nENDATA") == plain
    message = refused("ENDATA", "QSECTION R1\n X X 2\nENDATA")
    assert message == "m, line 25: it has quadratic constraints (QSECTION 'R1'), which are written with QCMATRIX."
    ball = BASE.replace(" RNG R1 2.5 R3 -1", " RNG R3 -1")
    rows = program_from_mps(ball.replace("ENDATA", "QCMATRIX R1\n* x\n X X 2\n\n Y Y 1\nENDATA"), "m")
    assert rows.quadratic.matrix(0).toarray()[:2, :2].tolist() == [[4, 0], [0, 2]]
    assert rows.quadratic.r.tolist() == [4]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (" X R2 1", " X R2", "m, line 10: a line of COLUMNS has 3 or 5 fields, this one has 2."),
        (" X R2 1", " X R2 0x10", "m, line 10: '0x10' is not a number."),
        (" X R2 1", " X R2 1,5", "m, line 10: '1,5' is not a number."),
        (" X R2 1", " X R2 1 R9 1", "m, line 10: row 'R9' is not declared in ROWS."),
        (" RHS R2 1 R3 7", " RHS R2 1 R2 7", "m, line 16: RHS of row 'R2' is given twice."),
        (
            " RHS COST -3",
            " RHS COST inf",
            "m, line 15: RHS of the objective row 'COST' is inf. It must be a finite number.",
        ),
        (
            " RNG R1 2.5",
            " RNG COST 2.5",
            "m, line 19: RANGES of the objective row 'COST' is 2.5. Only constraints have a range.",
        ),
        (" FR BND Z", " FR", "m, line 24: a bound of type FR has 2 to 4 fields, this one has 1."),
        (" FR BND Z", " FR BND Q", "m, line 24: variable 'Q' does not occur in COLUMNS."),
        (" Z R3 1", " Z R3 1\n Z COST 1 COST 2", "m, line 14: the cost of 'Z' is given twice."),
        ("ENDATA", "LAZYCONS\nENDATA", "m, line 25: it has lazy constraints (LAZYCONS), which relift does not take."),
    ],
)
def test_what_is_wrong_is_said_with_the_line_also_after_comments(old: str, new: str, message: str) -> None:
    assert refused(old, new) == message
    line = int(message.split("line ")[1].split(":")[0])
    moved = BASE.replace(old, new, 1).replace("ROWS", "* one\n\n* three\nROWS", 1)
    with pytest.raises(FileFormatError) as error:
        program_from_mps(moved, "m")
    assert str(error.value) == message.replace(f"line {line}:", f"line {line + 3}:")


def test_a_number_is_read_to_the_last_bit() -> None:
    for word in (
        "0.1",
        "1e-300",
        "4.9406564584124654e-324",
        "1.7976931348623157e308",
        "123456789012345678901234567890e-20",
    ):
        value = read(" X R2 1", f" X R2 {word}").A.toarray()[1, 0]
        assert value == float(word)
        assert math.copysign(1, value) == 1
