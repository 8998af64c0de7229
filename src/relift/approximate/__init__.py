"""Approximate lifting: merge what is nearly equivalent, and prove how far the answer is from the optimum."""
