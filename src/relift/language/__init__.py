"""The relational language: text or Python to a checked model."""
