"""The text of a model: grammar, nodes, parser, comments, printer."""
