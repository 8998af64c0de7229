"""Models end to end: text or Python, tables in; values, dual values and explanations by the names of the model out.

`relift.Model` and `relift.solve_model` live here, above grounding and the pipeline.
"""
