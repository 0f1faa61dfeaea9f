"""What runs first in an environment. It is sent before the archive, and starts what should not wait for the archive.

First it starts the keeper, and then, if the compiler is already known, a process that imports the compiler's
package, which takes longer than everything else. That process becomes the child of the first job of this compiler
(child.py), and only imports until then. The code that runs this module defines `source` and `sink`, which are
descriptors of the protocol, `size`, the number of bytes of the archive, and `ahead`, which is None or (name of the
compiler, (modules to import), {variable: value}). Before the importing process exists, only modules that Python has
loaded anyway are imported.
"""

import os
import sys

KILL = 9  # SIGKILL, without the module signal


class Keeper:
    """A process that only waits until the process that started it has ended, in whatever way. It then ends the jobs
    that it was told about and removes the folder. `unwanted` are descriptors that it must not keep open."""

    def __init__(self, unwanted):
        listens, self.descriptor = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()
                os.close(self.descriptor)
                keep(listens, unwanted)
            finally:
                os._exit(0)
        os.close(listens)

    def began(self, pid):
        self._say(b"+%d\n" % pid)

    def ended(self, pid):
        self._say(b"-%d\n" % pid)

    def has_folder(self, folder):
        self._say(b"=%s\n" % os.fsencode(folder).hex().encode())

    def _say(self, line):
        try:
            os.write(self.descriptor, line)
        except OSError:
            pass  # if somebody has killed the keeper, the listener cleans up


def keep(listens, unwanted):
    import _signal  # what `signal` consists of, without its enumerations, which take long to make

    _signal.set_wakeup_fd(-1)
    for number in (_signal.SIGHUP, _signal.SIGINT, _signal.SIGTERM, _signal.SIGCHLD):
        _signal.signal(number, _signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    for descriptor in unwanted:
        os.close(descriptor)
    jobs, folder, held = set(), None, b""
    while True:
        data = os.read(listens, 4096)
        if not data:
            break
        *lines, held = (held + data).split(b"\n")
        for line in lines:
            if line[:1] == b"=":
                folder = os.fsdecode(bytes.fromhex(line[1:].decode()))
            else:
                (jobs.add if line[:1] == b"+" else jobs.discard)(int(line[1:]))
    for pid in jobs:
        end_group(pid)
    if folder is not None:
        remove_folder(folder)


def remove_folder(folder):
    """Removes the folder as far as possible. Importing shutil for this would take longer, and might fail at this
    time."""
    for place, folders, names in os.walk(folder, topdown=False):
        for name in names:
            remove(os.unlink, os.path.join(place, name))
        for name in folders:
            path = os.path.join(place, name)
            remove(os.unlink if os.path.islink(path) else os.rmdir, path)
    remove(os.rmdir, folder)


def remove(by, path):
    try:
        by(path)
    except OSError:
        pass


def end_group(pid):
    """Ends a job and all processes that it started."""
    try:
        os.killpg(pid, KILL)
    except OSError:
        pass


class Ahead:
    """A process that imports a compiler's package before a job needs it. `held` are descriptors that it must not
    keep open."""

    def __init__(self, ahead, keeper, held):
        self.compiler, modules, variables = ahead
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        self.log, log = os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setpgid(0, 0)
                keeper.began(os.getpid())
                end_with(parent)
                for descriptor in (self.commands, self.answers, self.log, keeper.descriptor, *held):
                    os.close(descriptor)
                print_into(log)
                limit_memory()
                import_ahead(modules, variables, chunks_from(commands), answers)
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                os._exit(1)
        for descriptor in (commands, answers, log):
            os.close(descriptor)

    def descriptors(self):
        return [self.commands, self.answers, self.log]


def end_with(parent):
    """Asks the system to end this process when its parent ends, even while a compiler holds the interpreter."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, KILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    except Exception:
        return  # without Linux or ctypes, the keeper and the end of the pipe have the same effect
    if os.getppid() != parent:
        os._exit(1)


def print_into(log):
    """Redirects everything that this process prints to the descriptor `log`, and makes standard input empty."""
    import resource

    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdin = open(0, closefd=False)
    sys.stdout = open(1, "w", buffering=1, closefd=False, errors="backslashreplace")
    sys.stderr = open(2, "w", buffering=1, closefd=False, errors="backslashreplace")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_memory(most=None):
    """Limits what this process allocates to `most` bytes. 0 means no limit, and None three quarters of the machine's
    memory. Address space that is only reserved does not count, because drivers of cards reserve more of it than
    there is memory."""
    import resource

    if most is None:
        try:
            most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4
        except (ValueError, OSError):
            return
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if most > 0:
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def chunks_from(commands):
    """Returns a queue of what is received from the descriptor. A separate thread reads it. When the pipe ends, the
    thread ends the process and everything that the process has started."""
    import _queue
    import _thread

    chunks = _queue.SimpleQueue()

    def read():
        while True:
            data = os.read(commands, 1 << 16)
            if not data:
                os.killpg(0, KILL)
            chunks.put(data)

    _thread.start_new_thread(read, ())
    return chunks


def import_ahead(modules, variables, chunks, answers):
    """Never returns. An import that fails is recorded for the code that imports the module again, because a second
    attempt may fail in another way. Garbage is not collected meanwhile, because most of what a package makes stays. It
    stays out of later collections, too: the first one would otherwise look at all of it."""
    import gc

    for name, value in variables.items():
        os.environ.setdefault(name, value)
    failed = {}
    gc.disable()
    for module in modules:
        try:
            __import__(module)
        except BaseException as error:
            failed[module] = error
    gc.freeze()
    gc.enable()
    import marshal

    data = chunks.get()
    while b"\n" not in data:
        data += chunks.get()
    size, _, data = data.partition(b"\n")
    while len(data) < int(size):
        data += chunks.get()
    path, compiler, modules = marshal.loads(data[: int(size)])
    sys.meta_path.insert(0, Compiled(path, modules))
    from fusescope_probe import child

    child.go_on(compiler, chunks, data[int(size) :], answers, failed)


class Compiled:
    """Finds modules of the probe whose code exists already. `modules` contains (place in the archive, code, …) by
    their names."""

    def __init__(self, path, modules):
        self._path, self._modules = path, modules

    def find_spec(self, name, path=None, target=None):
        found = self._modules.get(name)
        if found is None:
            return None
        from importlib.machinery import ModuleSpec

        place = os.path.join(self._path, found[0])
        spec = ModuleSpec(name, self, origin=place, is_package=place.endswith("__init__.py"))
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(os.path.dirname(place))
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(self._modules.get(module.__name__)[1], module.__dict__)


class Archive(Compiled):
    """Finds modules in the archive. Each is compiled once, even if its code is also given to another process
    (ahead.py)."""

    def __init__(self, path):
        import zipimport

        super().__init__(path, self)
        self.archive, self.get_data = path, zipimport.zipimporter(path).get_data
        self._found = {}

    def get(self, name):
        """Returns (place, code, source), or None if there is no such module."""
        if name not in self._found:
            self._found[name] = self._compiled(name) if name.partition(".")[0] == "fusescope_probe" else None
        return self._found[name]

    def _compiled(self, name):
        for end in ("/__init__.py", ".py"):
            place = name.replace(".", "/") + end
            try:
                source = self.get_data(place).decode()
            except OSError:
                continue
            return place, compile(source, os.path.join(self.archive, place), "exec", dont_inherit=True), source
        return None


def own_folder():
    """Makes a new folder, at the place of temporary files, that nobody else can read."""
    variables = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
    places = [place for place in (*variables, "/tmp", "/var/tmp", "/usr/tmp", os.getcwd()) if place]
    for place in places:
        folder = os.path.join(os.path.abspath(place), "fusescope-probe-" + os.urandom(8).hex())
        try:
            os.mkdir(folder, 0o700)
        except OSError:
            if place is places[-1]:
                raise
        else:
            return folder


def begin(source, sink, size, ahead):
    """Never returns. It receives the archive and becomes the listener."""
    keeper = Keeper([source, sink])
    ahead = Ahead(ahead, keeper, [source, sink]) if ahead else None
    archive = bytearray()
    while len(archive) < size:
        data = os.read(source, size - len(archive))
        if not data:
            os._exit(1)
        archive += data
    folder = own_folder()
    keeper.has_folder(folder)
    path = os.path.join(folder, "probe.zip")
    with open(path, "wb") as file:
        file.write(archive)
    modules = Archive(path)
    sys.meta_path.insert(0, modules)
    from fusescope_probe import listener

    listener.listen(source, sink, folder, archive, keeper, ahead, modules)
