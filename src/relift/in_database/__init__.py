"""Lifting inside an engine: the matrix stays where the data are, and only the quotient comes here.

>>> from relift.in_database import lift_tables  # see its own example
"""

from relift.in_database.lift_tables import (
    EngineLifting,
    EngineLiftSettings,
    EngineResult,
    lift_in_engine,
    lift_tables,
)
from relift.in_database.program_tables import EngineProgram, program_from_tables, tables_from_program

__all__ = [
    "EngineLiftSettings",
    "EngineLifting",
    "EngineProgram",
    "EngineResult",
    "lift_in_engine",
    "lift_tables",
    "program_from_tables",
    "tables_from_program",
]
