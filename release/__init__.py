"""How relift is released: wheels for every Linux, tried in clean environments."""
