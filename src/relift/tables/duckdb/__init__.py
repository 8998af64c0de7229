"""DuckDB inside this process: reading files, its errors, and the engine on top of them."""
