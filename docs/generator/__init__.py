"""Reference pages, made of the code itself: nothing here is written down twice."""
