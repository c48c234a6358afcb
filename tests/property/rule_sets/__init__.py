"""Laws of rule sets that are made of another one."""
