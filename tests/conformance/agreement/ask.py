"""Asks TensorRT for RTX about every operator case: whether its parser takes the network, and whether it builds it.

    ask.py CASES ANSWERS --python PYTHON [--sm SM89] [--jobs 2] [--seconds 60] [--filter GLOB] [--again]

CASES is a folder that generate.py wrote. PYTHON is an interpreter that has the package tensorrt-rtx; this one needs onnx.
ANSWERS is JSON: {"compiler", "sm", "cases": {CASE: answer}}, where an answer has "taken" (built) and, where it is
refused, "by" ("parser", "builder", "crash" or "time") and "said", the compiler's own words; "lines" are the first errors
of its log. Cases that ANSWERS already holds for the same version and compute capability are not asked again without
--again. No card is needed: nothing is run.

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


def values_of(case):
    """The first data set by the names of the inputs: {NAME: {"dims", "numbers"}}, numbers of small integers alone."""
    import onnx

    values = {}
    for i, declared in enumerate(onnx.load(case / "model.onnx").graph.input):
        path = case / "test_data_set_0" / f"input_{i}.pb"
        if not path.exists() or declared.type.WhichOneof("value") != "tensor_type":
            continue
        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.read_bytes())
        value = {"dims": list(tensor.dims)}
        if tensor.data_type in (onnx.TensorProto.INT32, onnx.TensorProto.INT64):
            array = onnx.numpy_helper.to_array(tensor)
            if array.size <= 64:
                value["numbers"] = [int(each) for each in array.reshape(-1)]
        values[declared.name] = value
    return values


class Answerer:
    """Lives in a process of its own, whose Python needs the package alone. It keeps one logger, as the library does."""

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

    @staticmethod
    def profile_of(builder, network, values):
        profile = builder.create_optimization_profile()
        for i in range(network.num_inputs):
            tensor = network.get_input(i)
            value = values.get(tensor.name)
            if value is None:
                continue
            if tensor.is_shape_tensor and "numbers" in value:
                profile.set_shape_input(tensor.name, *[value["numbers"]] * 3)
            if any(extent < 0 for extent in tensor.shape):
                profile.set_shape(tensor.name, *[value["dims"]] * 3)
        return profile

    def refused(self, by, said):
        return {"taken": False, "by": by, "said": said.strip(), "lines": self.log.errors[:4]}

    def answer(self, model, values):
        rtx = self.rtx
        self.log.errors.clear()
        builder = rtx.Builder(self.log)
        network = builder.create_network(0)
        parser = rtx.OnnxParser(network, self.log)
        if not parser.parse_from_file(model):
            error = parser.get_error(0) if parser.num_errors else None
            return self.refused("parser", f"{error.node_operator()}: {error.desc()}" if error else "no error is given")
        config = builder.create_builder_config()
        config.num_compute_capabilities = 1
        config.set_compute_capability(self.capability, 0)
        config.add_optimization_profile(self.profile_of(builder, network, values))
        if builder.build_serialized_network(network, config) is None:
            return self.refused("builder", self.log.errors[0] if self.log.errors else "no error is given")
        return {"taken": True}


def serve(sm):
    """The first line out is the version; then a line in is {"model", "values"}, and a line out its answer."""
    answers = sys.stdout
    sys.stdout = sys.stderr
    answerer = Answerer(sm)
    print(answerer.rtx.__version__, file=answers, flush=True)
    for line in sys.stdin:
        try:
            answer = answerer.answer(**json.loads(line))
        except Exception as problem:  # noqa: BLE001 (what the bindings throw is an answer)
            answer = answerer.refused("parser", f"{type(problem).__name__}: {problem}")
        print(json.dumps(answer), file=answers, flush=True)


class Server:
    def __init__(self, python, sm):
        self.command, self.process, self.version = [python, __file__, "--serve", sm], None, None

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.version = self.process.stdout.readline().strip()
        if not self.version:
            raise RuntimeError(f"TensorRT for RTX cannot be loaded; try {' '.join(self.command)}")

    def ask(self, case, seconds):
        if self.process is None:
            self.start()
        timer = threading.Timer(seconds, self.process.kill)
        request = {"model": str(case / "model.onnx"), "values": values_of(case)}
        timer.start()
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
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
    waiting, lock, problems = queue.SimpleQueue(), threading.Lock(), []
    for case in cases:
        waiting.put(case)

    def work():
        server = Server(options.python, options.sm)
        try:
            while True:
                case = waiting.get_nowait()
                answer = server.ask(case, options.seconds)
                with lock:
                    keep(case.name, answer)
        except queue.Empty:
            pass
        except RuntimeError as problem:
            problems.append(problem)
        finally:
            server.end()

    threads = [threading.Thread(target=work) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        sys.exit(str(problems[0]))


def write(path, answers):
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(answers, indent=1, sort_keys=True))
    beside.rename(path)


def version_of(python, sm):
    server = Server(python, sm)
    try:
        server.start()
    except RuntimeError as problem:
        sys.exit(str(problem))
    server.end()
    return server.version


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--serve":
        return serve(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--python", required=True)
    parser.add_argument("--sm", default="SM89")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--filter", default="*")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()

    head = {"compiler": f"TensorRT for RTX {version_of(options.python, options.sm)}", "sm": options.sm}
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
