"""From nodes to the checked model: names, safety, strata, convexity, normal form."""
