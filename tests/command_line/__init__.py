"""The executable as people use it: arguments in, exit code and two streams out."""
