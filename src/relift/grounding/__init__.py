"""A checked model and its tables to a program: every statement becomes a relational plan that an engine evaluates."""
