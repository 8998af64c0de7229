"""From a program to its classes of indistinguishable variables and rows."""
