"""The probe: what Fusescope sends into a Python environment to reach a compiler there. See core/probe/PROTOCOL.md."""
