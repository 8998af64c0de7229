"""Leaves out what is not collected but run: OR-Tools cannot be imported into a process that uses highspy."""

collect_ignore = ["ortools_script.py"]
