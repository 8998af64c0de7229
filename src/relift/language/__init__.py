"""The modelling language: a model as text or in Python, and the checked model that grounding reads.

The way of a model: text is read into nodes (`parse_text`), or Python builds the same nodes (`build_in_python`); the
checker turns them into a `CheckedModel` (`check_model`); the formatter prints them (`print_model`).
"""
