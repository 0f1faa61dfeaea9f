"""Compares Fusescope's engines with other engines; see __main__."""
