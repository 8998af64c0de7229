"""The engine that keeps tables as NumPy columns in this process."""
