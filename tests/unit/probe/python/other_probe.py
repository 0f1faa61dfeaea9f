"""other_probe.py HOW: stands where Python is expected and answers Fusescope's greeting wrongly.

HOW: `version`: as the probe of another Fusescope; `no-hello`: with an object that is no hello; `garbage`,
`long-line`, `many-bytes`: with what is not the protocol; `silence`: takes the probe and says nothing; `echo`: gives back what it gets;
`python2`: as Python 2 does."""

import os
import re
import sys
import time

how = sys.argv[1]
if how == "python2":
    sys.stderr.write("Unknown option: -I\nusage: python [option] ... [-c cmd | -m mod | file | -] [arg] ...\n")
    sys.exit(2)
line = b""
while not line.endswith(b"\n"):
    line += os.read(0, 1)
if how == "echo":
    os.write(1, line)
    time.sleep(1000)
nonce = re.search(rb"'probe ([0-9a-f]+) ", line).group(1)
os.write(1, b"fusescope-probe " + nonce + b" 3.12.0\n")
size = int(re.search(rb"len\(z\)<(\d+)", line).group(1))
while size:
    size -= len(os.read(0, size))
if how == "version":
    os.write(1, b'{"event":"hello","protocol":1,"version":"%s"}\n' % (b"0" * 64))
elif how == "no-hello":
    os.write(1, b"{}\n")
elif how == "garbage":
    os.write(1, b"Traceback (most recent call last):\n")
elif how == "long-line":
    try:
        while True:
            os.write(1, b"x" * 65536)
    except OSError:
        sys.exit(0)
elif how == "many-bytes":
    os.write(1, b'{"event":"hello","bytes":99999999999}\n')
time.sleep(1000)
