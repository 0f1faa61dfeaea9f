"""A compiler that compiles nothing: it gives back what it is given, and does what a bad one may do, for tests."""

import ctypes
import mmap
import os
import sys
import time

from fusescope_probe import base


class Compiler(base.Compiler):
    def open(self, request, files, out_folder, progress):
        print("a compiler that prints when it is opened")
        about = {"pid": os.getpid(), "listener": os.getppid(), "path": sys.path}
        return {"version": "1.2", "devices": ["here"], "about": about}

    def echo(self, request, files, out_folder, progress):
        """The request and the contents of its files, and each file again."""
        contents = {}
        for name, path in files.items():
            with open(path, "rb") as file:
                data = file.read()
            contents[name] = [len(data), path]
            target = os.path.join(out_folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(data)
        progress("echoing", "all of it")
        return {"request": request, "files": contents}

    def odd_numbers(self, request, files, out_folder, progress):
        return {"numbers": [float("nan"), float("inf"), -float("inf"), 1.5], "text": "a\udc80b", "set": {2, 1}}

    def refuse(self, request, files, out_folder, progress):
        raise base.Refusal("I do not take this.", kind="refused", help="Give me something else.")

    def fail(self, request, files, out_folder, progress):
        raise ValueError("the third axis is too long")

    def wait(self, request, files, out_folder, progress):
        """Sleeps as a compiler written in C++ does: with the interpreter held."""
        progress("waiting", request.get("how", ""))
        if request.get("how") == "holding the interpreter":
            ctypes.PyDLL(None).sleep(1000)
        elif request.get("how") == "in a process of its own":
            os.system("sleep 1000")
        else:
            time.sleep(1000)
        return {}

    def crash(self, request, files, out_folder, progress):
        print("about to crash", flush=True)
        if "status" in request:
            os._exit(request["status"])
        os.kill(os.getpid(), request.get("signal", 11))
        time.sleep(10)
        return {}

    def eat(self, request, files, out_folder, progress):
        eaten = []
        while True:
            eaten.append(bytearray(64 << 20))

    def claim(self, request, files, out_folder, progress):
        """As `eat`, but nothing is written there, so that the machine keeps its memory."""
        claimed = []
        try:
            while True:
                claimed.append(mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        except OSError as error:
            raise MemoryError(str(error)) from None

    def reserve(self, request, files, out_folder, progress):
        """64 GiB of addresses, behind which there is no memory."""
        no_reserve = 0x4000  # MAP_NORESERVE
        reserved = mmap.mmap(-1, 1 << 36, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | no_reserve, prot=0)
        return {"bytes": len(reserved)}

    def no_object(self, request, files, out_folder, progress):
        return 7

    def litter(self, request, files, out_folder, progress):
        """Prints where nothing is to be printed."""
        os.write(1, b'{"event":"answer","id":1,"json":{}}\n')
        print("and more on standard output")
        os.system("echo and from another program")
        return {"is": "fine"}
