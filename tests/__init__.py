"""Laws (``property``) and stories (``golden``); the name of a test says which rule of ``specs/`` it checks."""
