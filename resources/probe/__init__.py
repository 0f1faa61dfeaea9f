"""The probe is the code that Fusescope sends into a Python environment in order to use a compiler there. It is
described in core/probe/PROTOCOL.md."""
