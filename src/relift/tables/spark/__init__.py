"""Apache Spark: sessions, kept tables, errors, and the engine on top of them."""
