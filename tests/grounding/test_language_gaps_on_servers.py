"""Ranges, dates, neighbours and texts are the same program on PostgreSQL and Spark as in memory."""

from __future__ import annotations

from typing import Any

import pytest
from tests.grounding.same_program import assert_same_program
from tests.postgres_server import Server

import relift

TEXT = """
    param n = 4; relation t/1 ordered, s/1; param half = n/2, d(I) = mod(I, 3) + floor(I/2) + ceil(0.5*I) + round(I/4);
    var x(T) in t(T) >= 0, y(I,J) in I in 1..n & J in I..half+2 >= 0, z(A,B,N) in s(S) & A = upper(substring(S, 1, 2))
        & B = concat(lower(S), "-", length(S)) & N = length(S) >= 0, w(T,H) in t(S) & T = S + days(1) - hours(2.5)
        & H = 100*weekday(S) + hour(S) + minute(S) + month(S) + day(S) + year(S) >= 0;
    minimize: sum{T in t(T)} x(T) + sum{I,J in y(I,J)} d(I)*mod(-J, 3)*y(I,J) + z(*,*,*) + w(*,*);
    subject to start forall {T in t(T) & !t(prev(T))}: x(T) >= 1;
    subject to grow forall {T in t(T) & t(prev(T))}: x(T) >= 2*x(prev(T)) + mod(length(T) + 0.5, 2);
    subject to all: piecewise(y(*,*); 0:0, 1:1, 2:4) + w(*,*) <= 50;
"""
TABLES: dict[str, Any] = {
    "t": ["2024-02-28", "2026-01-01 06:30:00", "2026-03-29 00:30:00.25+00:00", "2025-12-31"],
    "s": ["bus7", "Arger", "X"],
}


def test_on_postgresql(postgres_server: Server) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    model = relift.Model.from_text(TEXT)
    with model.ground(TABLES) as here, model.ground(TABLES, engine=postgres_server.url()) as there:
        assert there.engine.name == "postgresql"
        assert_same_program(here, there)


def test_on_duckdb() -> None:
    model = relift.Model.from_text(TEXT)
    with model.ground(TABLES) as here, model.ground(TABLES, engine="duckdb") as there:
        assert_same_program(here, there)


@pytest.mark.xdist_group("spark")
def test_on_spark() -> None:
    pytest.importorskip("pyspark")
    model = relift.Model.from_text(TEXT)
    with model.ground(TABLES) as here, model.ground(TABLES, engine="spark") as there:
        assert_same_program(here, there)
