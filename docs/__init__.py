"""The documentation site: pages, and what is made of the code where the site is built."""
