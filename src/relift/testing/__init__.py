"""For those who test what they build on relift, and for our own tests: examples, random programs, assertions."""
