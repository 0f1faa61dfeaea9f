"""The folder into which a probe writes. It is locked as long as a process of the probe lives, and the last one
removes it."""

import fcntl
import os
import time

from .prelude import remove_folder

PREFIX = "fusescope-probe-"
UNFINISHED_SECONDS = 3600  # a folder without a lock is left alone for this many seconds


def lock_folder(folder):
    """Locks the folder. Forked processes share the descriptor and therefore the lock."""
    new, final = os.path.join(folder, "new-lock"), os.path.join(folder, "lock")
    lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.rename(new, final)  # so that the file is never unlocked while its probe lives
    return lock


def remove_stale(parent):
    """Removes the folders of probes whose processes were all killed."""
    for name in os.listdir(parent):
        path = os.path.join(parent, name)
        try:
            if name.startswith(PREFIX) and is_ours(path) and is_abandoned(path):
                remove_folder(path)
        except OSError:
            continue  # another probe was faster


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
