"""From a program and its classes to the small program, and all the way back (stages 2, 4, 6 and 7)."""
