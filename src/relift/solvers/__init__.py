"""One file for each solver behind one interface; a solver never knows that it solves a quotient."""
