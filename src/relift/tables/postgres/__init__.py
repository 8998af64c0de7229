"""PostgreSQL: sessions, schemas, tables of the server, and the engine on top of them."""
