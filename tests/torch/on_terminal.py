"""on_terminal.py ANSWER COMMAND...: runs the command on a terminal, types ANSWER when it asks, prints what it printed."""

import os
import pty
import sys

process, terminal = pty.fork()
if process == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
printed, is_answered = b"", False
while True:
    try:
        data = os.read(terminal, 1 << 16)
    except OSError:  # its other end was closed
        break
    if not data:
        break
    printed += data
    if not is_answered and b"[y/N]" in printed:
        os.write(terminal, sys.argv[1].encode() + b"\n")
        is_answered = True
sys.stdout.write(printed.decode("utf-8", "replace"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
