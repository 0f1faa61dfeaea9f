"""Asks TensorRT for RTX about every operator case: whether its parser takes the network, and whether it builds it.

    ask.py CASES ANSWERS [--sm SM89] [--jobs 2] [--seconds 60] [--filter GLOB] [--again]

CASES is a folder that generate.py wrote. ANSWERS is JSON: {"compiler", "sm", "cases": {CASE: answer}}, where an answer
has "taken" (built) and, where it is refused, "by" ("parser", "builder", "crash" or "time") and "said", the compiler's
own words; "lines" holds what else of its log was an error. Cases that ANSWERS already holds for the same version and
compute capability are not asked again without --again. No card is needed: nothing is run.

Each case is asked in one of a few processes that stay; one that dies or takes too long is replaced, and the case says so.
"""
import argparse
import fnmatch
import json
import queue
import subprocess
import sys
import threading
from pathlib import Path


def extents_of(case):
    """The values of the first data set by the name of the input that they are for."""
    import onnx

    model = onnx.load(case / "model.onnx")
    values = {}
    for i, declared in enumerate(model.graph.input):
        path = case / "test_data_set_0" / f"input_{i}.pb"
        if not path.exists() or declared.type.WhichOneof("value") != "tensor_type":
            continue
        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.read_bytes())
        values[declared.name] = onnx.numpy_helper.to_array(tensor)
    return values


class Answerer:
    """Lives in a process of its own. One logger for a process: the library keeps the first."""

    def __init__(self, sm):
        import tensorrt_rtx as rtx

        class Log(rtx.ILogger):
            def __init__(self):
                super().__init__()
                self.errors = []

            def log(self, severity, text):
                if severity <= rtx.ILogger.Severity.ERROR:
                    self.errors.append(text)

        self.rtx, self.log = rtx, Log()
        self.capability = getattr(rtx.ComputeCapability, sm)

    def profile_of(self, builder, network, case):
        profile, values = builder.create_optimization_profile(), None
        for i in range(network.num_inputs):
            tensor = network.get_input(i)
            if not tensor.is_shape_tensor and all(extent >= 0 for extent in tensor.shape):
                continue
            values = extents_of(case) if values is None else values
            if tensor.name not in values:
                continue
            value = values[tensor.name]
            if tensor.is_shape_tensor:
                numbers = [int(each) for each in value.reshape(-1)]
                profile.set_shape_input(tensor.name, numbers, numbers, numbers)
            if any(extent < 0 for extent in tensor.shape):
                profile.set_shape(tensor.name, value.shape, value.shape, value.shape)
        return profile

    def refused(self, by, said):
        return {"taken": False, "by": by, "said": said.strip(), "lines": self.log.errors[:4]}

    def answer(self, case):
        rtx = self.rtx
        self.log.errors.clear()
        builder = rtx.Builder(self.log)
        network = builder.create_network(0)
        parser = rtx.OnnxParser(network, self.log)
        if not parser.parse_from_file(str(case / "model.onnx")):
            error = parser.get_error(0) if parser.num_errors else None
            said = f"{error.node_operator()}: {error.desc()}" if error else "no error is given"
            return self.refused("parser", said)
        config = builder.create_builder_config()
        config.num_compute_capabilities = 1
        config.set_compute_capability(self.capability, 0)
        config.add_optimization_profile(self.profile_of(builder, network, case))
        if builder.build_serialized_network(network, config) is None:
            return self.refused("builder", self.log.errors[0] if self.log.errors else "no error is given")
        return {"taken": True}


def serve(sm):
    """A line in names a folder, a line out is its answer."""
    answers = sys.stdout
    sys.stdout = sys.stderr
    answerer = Answerer(sm)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        try:
            answer = answerer.answer(Path(line.rstrip("\n")))
        except Exception as problem:  # noqa: BLE001 (what the bindings throw is an answer)
            answer = {"taken": False, "by": "parser", "said": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(answer), file=answers, flush=True)


class Server:
    def __init__(self, sm):
        self.sm, self.process = sm, None

    def ask(self, case, seconds):
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, __file__, "--serve", self.sm], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            if not self.process.stdout.readline():
                raise RuntimeError("TensorRT for RTX cannot be loaded: try `ask.py --serve SM89` in this environment")
        timer = threading.Timer(seconds, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(f"{case}\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        late = not timer.is_alive()
        timer.cancel()
        if line:
            return json.loads(line)
        status = self.end()
        if late:
            return {"taken": False, "by": "time", "said": f"no answer in {seconds} s"}
        return {"taken": False, "by": "crash", "said": f"the process ended with status {status}"}

    def end(self):
        if self.process is None:
            return None
        self.process.kill()
        status = self.process.wait()
        self.process = None
        return status


def ask_all(cases, options, keep):
    waiting, lock = queue.SimpleQueue(), threading.Lock()
    for case in cases:
        waiting.put(case)

    def work():
        server = Server(options.sm)
        try:
            while True:
                case = waiting.get_nowait()
                answer = server.ask(case, options.seconds)
                with lock:
                    keep(case.name, answer)
        except queue.Empty:
            pass
        finally:
            server.end()

    threads = [threading.Thread(target=work) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def write(path, answers):
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(answers, indent=1, sort_keys=True))
    beside.rename(path)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--serve":
        return serve(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--sm", default="SM89")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--filter", default="*")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()

    from importlib.metadata import version

    head = {"compiler": f"TensorRT for RTX {version('tensorrt_rtx')}", "sm": options.sm}
    answers = {**head, "cases": {}}
    if options.answers.exists():
        before = json.loads(options.answers.read_text())
        if all(before.get(key) == value for key, value in head.items()):
            answers = before
    known = answers["cases"]
    wanted = sorted(case for case in options.cases.iterdir()
                    if (case / "model.onnx").exists() and fnmatch.fnmatch(case.name, options.filter))
    asked = [case for case in wanted if options.again or case.name not in known]

    def keep(name, answer):
        known[name] = answer
        if len(known) % 100 == 0:
            write(options.answers, answers)

    ask_all(asked, options, keep)
    write(options.answers, answers)
    refused = sum(not each["taken"] for each in known.values())
    print(f"{answers['compiler']}, {options.sm}: {len(known)} cases, {len(known) - refused} taken, {refused} refused, "
          f"{len(asked)} asked now")
    return 0


if __name__ == "__main__":
    sys.exit(main())
