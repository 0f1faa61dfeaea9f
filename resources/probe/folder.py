"""The folder that a probe writes into: its own, locked while anything of the probe lives, removed by who survives."""

import fcntl
import os
import time

from .prelude import remove_folder

PREFIX = "fusescope-probe-"
UNFINISHED_SECONDS = 3600  # a folder that nobody locked yet is left alone for so long


def lock_folder(folder):
    """Locks the folder; the descriptor is shared with forked processes, and so is the lock."""
    new, final = os.path.join(folder, "new-lock"), os.path.join(folder, "lock")
    lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.rename(new, final)  # so that a file of this name was never unlocked while its probe lived
    return lock


def remove_stale(parent):
    """Removes folders of probes that were killed with all their processes."""
    for name in os.listdir(parent):
        path = os.path.join(parent, name)
        try:
            if name.startswith(PREFIX) and is_ours(path) and is_abandoned(path):
                remove_folder(path)
        except OSError:
            continue  # another probe was quicker


def is_ours(path):
    return os.lstat(path).st_uid == os.getuid() and not os.path.islink(path)


def is_abandoned(path):
    try:
        lock = os.open(os.path.join(path, "lock"), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return time.time() - os.lstat(path).st_mtime > UNFINISHED_SECONDS
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        os.close(lock)
