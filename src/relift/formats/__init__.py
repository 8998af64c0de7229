"""File formats: programs, solutions, points and results, each read and written in one module."""
