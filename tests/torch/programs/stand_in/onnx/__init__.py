__version__ = "1.23.2"
