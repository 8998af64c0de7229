"""How quick colour refinement is: families of instances, measurements, targets."""
