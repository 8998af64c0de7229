"""Plans as SQL: a sqlglot tree, the dialects, and hashes in each of them."""
