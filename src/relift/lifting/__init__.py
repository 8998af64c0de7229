"""From a program and its classes to the small program, and the expansion of answers."""
