"""Named tables, a small relational algebra over them, and the engines that evaluate it."""
