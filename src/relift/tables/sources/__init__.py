"""Whatever a user calls a table, in the forms that engines read: columns by name, keys in one canonical form."""
