"""The same program comes out of an LP file however it is written, and out of HiGHS where it reads the same dialect."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from tests.formats.test_mps_reader import SEEDS, number_word, read_by_highs

from relift import Program, read_program
from relift.errors import BoundsError, FileFormatError, FileWarning, NonConvexError
from relift.formats.lp_reader import program_from_lp, program_from_lp_with_notes

INF = np.inf
NUMBERS = [1.0, 2.0, -3.0, 0.1, -0.3, 1e-7, 123456.789, 1e12, 1 / 3, 25.0]


@dataclass
class Model:
    """A model as lists of words, and the program that it is."""

    objective: list[str]
    rows: list[tuple[str, list[str]]]
    bounds: list[list[str]]
    program: Program


def random_model(seed: int) -> Model:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 7)), int(rng.integers(0, 6))
    names = [str(rng.choice([f"x{j}", f"Y_{j}", f"e.{j}", f"v{j}#a", f"q({j})"])) for j in range(n)]

    def some() -> float:
        return float(rng.choice(NUMBERS)) if rng.random() < 0.7 else float(rng.normal())

    def terms(values: dict[int, float]) -> list[str]:
        words: list[str] = []
        for j, value in values.items():
            sign = "-" if value < 0 else "+"
            if sign == "-" or words or rng.random() < 0.3:
                words.append(sign)
            if abs(value) != 1.0 or rng.random() < 0.5:
                words.append(number_word(abs(value)))
            words.append(names[j])
        return words

    sense: Literal["min", "max"] = "min" if rng.choice(["min", "max"]) == "min" else "max"
    q, r = np.array([some() for _ in range(n)]), some() if rng.random() < 0.5 else 0.0
    objective = terms(dict(enumerate(q)))
    P = None
    if rng.random() < 0.4:
        diagonal = np.array([abs(some()) * (1 if sense == "min" else -1) for _ in range(n)])
        P = np.diag(diagonal)
        squares: list[str] = []
        for j, value in enumerate(diagonal):
            squares += ["-" if value < 0 else "+", number_word(abs(value)), names[j], "^", "2"]
        objective += ["+", "[", *squares, "]", "/", "2"]
    if r:
        objective += ["-" if r < 0 else "+", number_word(abs(r))]
    A, l, u, rows = np.zeros((m, n)), np.full(m, -INF), np.full(m, INF), []
    for i in range(m):
        entries = {int(j): some() for j in rng.permutation(n)[: rng.integers(1, n + 1)]}
        A[i, list(entries)] = list(entries.values())
        right, compare = some(), str(rng.choice(["<=", ">=", "="]))
        l[i] = right if compare != "<=" else -INF
        u[i] = right if compare != ">=" else INF
        rows.append((f"c{i}", [*terms(entries), compare, *number_words(right)]))
    lb, ub, bounds = np.zeros(n), np.full(n, INF), []
    for j, name in enumerate(names):
        low, high = sorted([some(), some()])
        kind = rng.integers(0, 6)
        if kind == 1:
            lb[j], ub[j] = -INF, INF
            bounds.append([name, "free"])
        elif kind == 2:
            lb[j] = low
            bounds.append([name, ">=", *number_words(low)] if rng.random() < 0.5 else [*number_words(low), "<=", name])
        elif kind == 3:
            lb[j], ub[j] = low, high
            bounds.append([*number_words(low), "<=", name, "<=", *number_words(high)])
        elif kind == 4:
            lb[j] = ub[j] = low
            bounds.append([name, "=", *number_words(low)])
        elif kind == 5:
            lb[j], ub[j] = -INF, high
            infinity = str(rng.choice(["inf", "infinity", "Inf", "1e30"]))
            bounds.append(["-", infinity, "<=", name, "<=", *number_words(high)])
    program = Program(P, q, A, l, u, lb, ub, r, sense=sense, variable_names=names, row_names=[name for name, _ in rows])
    return Model(objective, rows, bounds, program)


def number_words(value: float) -> list[str]:
    return ["-", number_word(-value)] if value < 0 else [number_word(value)]


def written(model: Model, seed: int, for_highs: bool = False) -> str:
    """The text of a model; with any seed but 0 in another spacing, case and order, with comments and line ends.

    HiGHS needs no blank between a sign and an infinity and knows fewer words; one that it does not know, such as
    minimise, makes it read another objective without a word.
    """
    rng = np.random.default_rng(seed)

    def some(*words: str) -> str:
        return str(rng.choice(words)) if seed else words[0]

    def line(words: list[str]) -> str:
        if not seed:
            return " ".join(words).replace("- inf", "-inf").replace("- 1e30", "-1e30") + "\n"
        text = ""
        for word in words:
            tight = word in ("+", "-", "<=", ">=", "=", ":") or text[-1:] in "+-=:<>"
            gap = some(" ", "  ", "\t", "" if tight else " ")
            if not for_highs and rng.random() < 0.2:
                gap = some("\n", " \\ a comment + 3 x0\n", "\n\\* one *\\\n", "\r\n ")
            text += gap + word
        return text.replace("- inf", "-inf") + some("\n", " \n", "\n\n", "\n\\ st\n", "\\ end\n")

    sense = {
        "min": ("minimize", "min", "Minimize" if for_highs else "Minimise", "MINIMUM"),
        "max": ("maximize", "max", "Maximize" if for_highs else "Maximise", "MAXIMUM"),
    }
    compare = (
        (lambda word: word)
        if for_highs
        else lambda word: some(*{"<=": ("<=", "<", "=<"), ">=": (">=", ">", "=>")}.get(word, (word,)))
    )
    text = some("", "\\ a comment\n", "\n\n") + some(*sense[model.program.sense]) + "\n"
    text += line([*some("obj :", "").split(), *model.objective])
    text += some("subject to", "st", "Such That", "s.t.", "ST") + "\n"
    for name, words in model.rows:
        text += line([name, ":", *(compare(word) for word in words)])
    text += some("bounds", "BOUNDS", "Bound") + "\n"
    for k in rng.permutation(len(model.bounds)) if seed else range(len(model.bounds)):
        words = model.bounds[k]
        text += (
            " "
            + " ".join(words).replace("- inf", "-inf").replace("- Inf", "-Inf").replace("- 1e30", "-1e30")
            + some("\n", "\n\n", " \\ x\n")
        )
    return text + some("end", "End", "END\n", "end\n\n\\ over")


def same_bits(one: Program, other: Program) -> None:
    """The same program, whatever the order of the variables."""
    place = {name: j for j, name in enumerate(one.variable_names)}
    order = [place[name] for name in other.variable_names]
    assert len(place) == len(order)
    for name in ("q", "lb", "ub"):
        assert (getattr(one, name)[order] + 0.0).tobytes() == (getattr(other, name) + 0.0).tobytes(), name
    for name in ("l", "u"):
        assert (getattr(one, name) + 0.0).tobytes() == (getattr(other, name) + 0.0).tobytes(), name
    assert (one.r, one.sense, list(one.row_names)) == (other.r, other.sense, list(other.row_names))
    assert np.array_equal(one.A.toarray()[:, order], other.A.toarray())
    assert (one.P is None) == (other.P is None)
    if one.P is not None:
        assert np.array_equal(one.P.toarray()[np.ix_(order, order)], other.P.toarray())


@settings(max_examples=200, deadline=None)
@given(seed=SEEDS)
def test_however_an_lp_file_is_written_the_program_is_the_same_and_highs_agrees(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    model = random_model(seed)
    same_bits(program_from_lp(written(model, 0), "clean"), model.program)
    same_bits(program_from_lp(written(model, seed + 1), "mutated"), model.program)
    path = tmp_path_factory.mktemp("lp") / "model.lp"
    same_bits(read_by_highs(written(model, 0), path), model.program)
    plain = written(model, seed + 1, for_highs=True)
    same_bits(program_from_lp(plain, "mutated"), model.program)
    same_bits(read_by_highs(plain, path), model.program)


def read(rows: str, objective: str = "min x + y", rest: str = "", **options: bool) -> Program:
    return program_from_lp(f"{objective}\nst\n{rows}\n{rest}\nend\n", "m", **options)


def test_rows_may_have_two_sides_constants_and_repeated_variables() -> None:
    program = read("a: 1 <= x + y <= 4\nb: 4 >= x - y >= 1\nc: 3 >= x\nd: x + 3 + y <= 2.1\ne: .1 x + .2 x = 1")
    assert program.l.tolist() == [1, 1, -INF, -INF, 1]
    assert program.u.tolist() == [4, 4, 3, -0.9, 1]
    assert program.A.toarray().tolist() == [[1, 1], [1, -1], [1, 0], [1, 1], [0.3, 0]]
    assert read("a: -inf <= x + y <= 4").l.tolist() == [-INF]
    assert read("a: x >= 1", "min 2 y + 3 y + x - 1 + 3").q.tolist() == [5, 1]
    assert read("a: x >= 1", "min 2 y + 3 y + x - 1 + 3").r == 2


def test_rows_without_names_are_called_by_their_place() -> None:
    assert read("x >= 1\n c1: y >= 1\n - x >= -9\nx + y <= 4").row_names == ["c1_", "c1", "c3", "c4"]


def test_names_may_hold_brackets_slashes_and_signs() -> None:
    program = read("c[1,2]: 2x[1] - 3 x[-2] + a/b >= 1", "min x[1] + q(1,2) + é + _{3}")
    assert program.variable_names == ["x[1]", "q(1,2)", "é", "_{3}", "x[-2]", "a/b"]
    assert (program.row_names, program.A.toarray().tolist()) == (["c[1,2]"], [[2, 0, 0, 0, -3, 1]])


def test_quadratic_parts_are_read_with_products_signs_and_repeated_terms() -> None:
    program = read("x >= 1", "min x + [ 2 x ^ 2 + 4 x * y + 7 y^2 - y*x ] / 2 + y")
    assert program.P.toarray().tolist() == [[2, 1.5], [1.5, 7]]
    assert program.q.tolist() == [1, 1]
    assert read("x >= 1", "max x + y - [ x^2 ] / 2").P.toarray().tolist() == [[-1, 0], [0, 0]]
    assert read("x >= 1", "min [ x^2 ]/2 + [ y^2 ]/2").P.toarray().tolist() == [[1, 0], [0, 1]]
    with pytest.raises(NonConvexError):
        read("x >= 1", "min x - [ x^2 ] / 2")


def test_quadratic_constraints_are_read_without_a_half() -> None:
    program = read("a: x >= 1\nb: y + [ x^2 + 2 x*y + 3 y^2 ] <= 4\nc: x - [ 2 y^2 ] >= -9")
    assert (program.row_names, program.quadratic.r.tolist()) == (["a"], [4, 9])
    assert program.quadratic.matrix(0).toarray().tolist() == [[2, 2], [2, 6]]
    assert program.quadratic.matrix(1).toarray().tolist() == [[0, 0], [0, 4]]
    assert program.quadratic.q.toarray().tolist() == [[0, 1], [-1, 0]]


def test_integer_and_binary_variables_are_relaxed_only_when_asked() -> None:
    rest = "bounds\n x <= 9\ngenerals\n x\nbinaries\n y\nz"
    program = read("x + y >= 2", rest=rest, relax_integers=True)
    assert (program.lb.tolist(), program.ub.tolist()) == ([0, 0, 0], [9, 1, 1])
    with pytest.raises(FileFormatError, match="3 integer variables, the first is 'x'"):
        read("x + y >= 2", rest=rest)
    with pytest.raises(FileFormatError, match="'x' is 0 or 1, but its bounds are 0 and 9"):
        read("x + y >= 2", rest="bounds\n x <= 9\nbinary\n x", relax_integers=True)
    assert read("x + y >= 2", rest="bounds\n x = 1\nbin\n x", relax_integers=True).lb[0] == 1


def test_bounds_are_read_in_every_form() -> None:
    rest = "bounds\n a >= -inf\n 4 >= b\n c free\n d = 3\n -1 <= e <= +infinity\n 9 >= f >= 2\n g <= 1e20\n"
    rest += " h > -1e30\n i < 5"
    program = read("x >= 1", "min a + b + c + d + e + f + g + h + i", rest)
    assert program.lb.tolist()[:9] == [-INF, 0, -INF, 3, -1, 2, 0, -INF, 0]
    assert program.ub.tolist()[:9] == [INF, 4, INF, 3, INF, 9, INF, INF, 5]
    with pytest.raises(BoundsError, match="variable 'x'"):
        read("x >= 1", rest="bounds\n x <= -1")
    for twice in ("x <= 4\n x <= 5", "x free\n x <= 4", "x = 1\n x >= 0"):
        with pytest.raises(FileFormatError, match="is given twice"):
            read("x >= 1", rest=f"bounds\n {twice}")
    assert read("x >= 1", rest="bounds\n x <= 4\n 0 <= x <= 4").ub[0] == 4


def test_what_only_bounds_name_and_what_follows_the_end_is_told(tmp_path: Path) -> None:
    text = "min x\nst\n x >= 1\nbounds\n X <= 4\nend\n more words\n"
    program, notes = program_from_lp_with_notes(text, "m")
    assert program.variable_names == ["x", "X"]
    assert notes == (
        "2 words after END are not read.",
        "1 variables occur neither in the objective nor in a row, the first is 'X'.",
    )
    (tmp_path / "m.lp").write_text(text)
    with pytest.warns(FileWarning) as told:
        read_program(tmp_path / "m.lp")
    assert [str(warning.message) for warning in told] == [f"{tmp_path / 'm.lp'}: {note}" for note in notes]


def test_sections_may_share_a_line_and_be_left_out() -> None:
    assert program_from_lp("max x st c: x <= 2 end", "m").u.tolist() == [2]
    assert program_from_lp("min x bounds x >= 2 end", "m").lb.tolist() == [2]
    assert program_from_lp("min obj: st c: x >= 2 end", "m").q.tolist() == [0]
    assert program_from_lp("min 3 st c: x >= 2 end", "m").r == 3
    assert program_from_lp("min x st c: x >= 2 generals binaries sos end", "m").n_rows == 1


@pytest.mark.parametrize(
    "text",
    [
        "min\n" * 100_000,
        "min x\n" + " " * 1_000_000,
        "min " + "x[" * 100_000,
        "min " + "/" * 200_000,
        "min x[" + "a" * 500_000,
        "\\" * 500_000,
        "\\*" * 100_000,
        "min " + "+" * 500_000,
        "min x + " * 50_000,
        "1e" * 100_000,
        "min " + "1." * 100_000,
        "min " + "max " * 100_000 + "st ",
        "min x\n" + "st\n" * 100_000,
        "min\n\n" + "\n min" * 50_000,
        "min " + "[" * 100_000,
    ],
    ids=range(15),
)
def test_no_text_takes_more_than_linear_work(text: str) -> None:
    with pytest.raises(FileFormatError):  # a quadratic reader would take hours here
        program_from_lp(text, "m")


@pytest.mark.parametrize(
    ("character", "name"),
    [("\xa0", "no-break space (U+00A0)"), ("\x1c", "a control character (U+001C)"), ("​", "zero width space (U+200B)")],
)  # fmt: skip
def test_what_looks_like_a_space_but_is_none_is_refused(character: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.lp"
    path.write_text(f"min x \\ not{character}here\nst\n c: x{character}>= 1\nend\n", encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        read_program(path)
    assert f"line 3: {name} between words or in a name. Replace it with a space, or remove it." in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("min 0.7 ; + x\nst\n c: x >= 1\nend", 1, ";"),  # HiGHS reads the constant 0.7
        ("min x\nst\n c: x >= 1;\nend", 3, ";"),
        ("min x\nst\n ;c: x >= 1\nend", 3, ";c"),
        ("min x\nst\n c: x >= 1\nbounds\n ;y <= 2\nend", 5, ";y"),
        ("min x\nst\n c: x >= 1\ngenerals\n ;y\nend", 5, ";y"),
    ],
)
def test_a_semicolon_is_not_the_beginning_of_a_name(text: str, line: int, word: str) -> None:
    sentence = f"m, line {line}: a name that begins with a semicolon, {word!r}: for some readers the line ends there."
    with pytest.raises(FileFormatError, match=f"^{re.escape(sentence)}"):
        program_from_lp(text, "m")


def test_a_semicolon_within_a_name_is_a_character_of_it() -> None:
    assert program_from_lp("min y;1\nst\n c: y;1 + x; >= 1\nend", "m").variable_names == ["y;1", "x;"]


@pytest.mark.parametrize("word", ["(x", "y)", "f((x)"])
def test_parentheses_around_terms_are_not_read_as_parts_of_names(word: str) -> None:
    text = f"min\n z + 2 {word} + 3 z\nst\n c: z >= 1\nend"
    sentence = f"m, line 2: the parentheses of {word!r} do not match: LP format has none but in names, such as x(1)."
    with pytest.raises(FileFormatError, match=f"^{re.escape(sentence)}$"):
        program_from_lp(text, "m")


def test_parentheses_within_a_name_are_characters_of_it() -> None:
    assert program_from_lp("min x(1,2)\nst\n (c): x(1,2) + (y) >= 1\nend", "m").variable_names == ["x(1,2)", "(y)"]


def test_names_may_begin_like_numbers_of_other_languages() -> None:
    program = program_from_lp("min 2 inflow + 0x1 + nano\nst\n c: inflow + x1 - inf5 >= 2\nend", "m")
    assert program.variable_names == ["inflow", "x1", "nano", "inf5"]
    assert program.q.tolist() == [2.0, 0.0, 1.0, 0.0]
    assert program.A.toarray().tolist() == [[1.0, 1.0, 0.0, -1.0]]
