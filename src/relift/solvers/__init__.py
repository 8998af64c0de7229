"""One file for each solver, behind one small interface; a solver never knows that it solves a quotient (stage 5)."""
