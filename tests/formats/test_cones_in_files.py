"""Cones in files: stored in NumPy archives, refused elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import relift
from relift.errors import FileFormatError
from relift.formats.solutions import read_solution, with_bound_duals, write_solution
from relift.program import ConicRows, Exponential, Power, PowerND, Program, SecondOrder, Semidefinite
from relift.testing.random_conic_programs import symmetric_conic_program

CONES = [SecondOrder(2), PowerND((0.2, 0.3, 0.5)), Exponential(), Power(0.3), Semidefinite(2), Power(0.7)]


def program_with_all_cones() -> Program:
    size = sum(cone.n_rows for cone in CONES)
    C = np.random.default_rng(1).integers(-2, 3, (size, 4)).astype(float)
    return Program(q=np.ones(4), A=[[1, 1, 1, 1]], u=[3], lb=-1, conic=ConicRows(C, np.arange(size), CONES))


def test_archives_hold_cones(tmp_path: Path) -> None:
    program = program_with_all_cones()
    relift.write_program(program, tmp_path / "cones.npz")
    assert relift.read_program(tmp_path / "cones.npz") == program


@pytest.mark.parametrize("suffix", [".mps", ".lp"])
def test_other_files_refuse_them(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(FileFormatError, match=f"cones cannot be written as {suffix}. Write .npz, which holds them."):
        relift.write_program(program_with_all_cones(), tmp_path / f"cones{suffix}")
    assert not (tmp_path / f"cones{suffix}").exists()


def test_answers_with_dual_values_of_cones_return_from_json(tmp_path: Path) -> None:
    program = symmetric_conic_program(1, copies=2).program
    result = relift.solve(program)
    write_solution(result, tmp_path / "answer.json")
    read = read_solution(tmp_path / "answer.json", program)
    np.testing.assert_array_equal(read.v, result.v)
    assert relift.certify(program, read).is_optimal
    without_w = with_bound_duals(program, replace(read, w=None))
    np.testing.assert_allclose(without_w.w, read.w, atol=1e-6)
    with pytest.raises(FileFormatError, match="cannot hold the dual values of cones"):
        write_solution(result, tmp_path / "answer.txt")
    other = program.replace(conic=None)
    with pytest.raises(FileFormatError, match=r"v has \d+ entries, but the model has 0 conic rows"):
        read_solution(tmp_path / "answer.json", other)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("cones", np.array([[9, 2]]), "there is no cone of kind 9"),
        ("cones", np.array([1, 2]), "the list of cones, or C_shape, is damaged"),
        ("exponents", np.zeros(0), "exponent"),
        ("C_shape", np.array([16, 5]), "the list of cones, or C_shape, is damaged"),
        ("C_indices", np.full(40, 99), "C is not a sparse matrix"),
    ],
)
def test_damaged_cones_are_refused(tmp_path: Path, name: str, value: np.ndarray, message: str) -> None:
    path = tmp_path / "cones.npz"
    relift.write_program(program_with_all_cones(), path)
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays[name] = value
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=message):
        relift.read_program(path)
