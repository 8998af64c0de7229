"""Projects of probabilistic soft logic (PSL), run as they are: read the project, solve it, evaluate it.

>>> import relift
>>> project = relift.read_psl({
...     "rules": ["2: Near(A, B) & Good(A) -> Good(B) ^2", "1: !Good(A) ^2"],
...     "predicates": {
...         "Near/2": {"observations": [["a", "b"]]},
...         "Good/1": {"observations": [["a"]], "targets": [["b"]]},
...     },
... })
>>> answer = project.solve()
>>> round(answer.value("good", "b"), 4)
0.6667
"""
