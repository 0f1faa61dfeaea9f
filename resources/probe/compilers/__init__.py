"""There is one module for each compiler. ../base.py describes what it contains."""
