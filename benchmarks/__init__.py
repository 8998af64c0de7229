"""Measurements: ground against lifted, side by side in one process. Run ``python -m benchmarks --help``."""
