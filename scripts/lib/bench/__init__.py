"""Fusescope's engines beside other engines; see __main__."""
