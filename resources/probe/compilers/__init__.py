"""One module for each compiler; ../base.py says what such a module has."""
