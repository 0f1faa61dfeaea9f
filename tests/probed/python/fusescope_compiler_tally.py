"""Tally: a compiler for tests, in Python alone. It takes networks of Add, Mul, Neg, Relu and Cast over floats of equal
extents, has a kernel of a sum or a product and the Relu behind it, and one of each other node. What it is asked it writes
down, a line of JSON each, in the file that FUSESCOPE_TEST_REQUESTS names; what is compiled, in FUSESCOPE_TEST_ASKED.

FUSESCOPE_TEST_TALLY says what goes wrong: "refuses OP" (when it is asked), "fails OP", "dies OP" (while it compiles),
"dies run", "spins" (a thread takes a processor from when it is opened), "slow open", "slow run", "wrong STEP…" (while all of these
steps of its optimisation are taken, results are off by one), "boasts STEP" (likewise, and it says that it takes the step
where it is to be left out, too), "marks" (a network with one more output is counted in other kernels), "slow compile" (a second), "slow load" (longer),
"refuses load".
"""

import json
import os
import struct
import threading
import time
import zipfile

from fusescope_probe import base

DISTRIBUTIONS = ("tally",)

STEPS = {"low": ["tidy"], "high": ["tidy", "fold", "share", "reorder", "round", "join"]}

JOINS = {"Add": lambda a, b: a + b, "Mul": lambda a, b: a * b}
ALONE = {"Neg": lambda a: -a, "Relu": lambda a: max(a, 0.0), "Cast": lambda a: a}


class Compiler(base.Compiler):
    def open(self, request, files, out_folder, progress):
        note({"op": "open", "variables": dict(os.environ)})
        self._fault = os.environ.get("FUSESCOPE_TEST_TALLY", "").split()
        if "FUSESCOPE_TEST_TELLS" in os.environ:
            with open(os.environ["FUSESCOPE_TEST_TELLS"], "w") as file:
                file.write(str(os.environ.get("OMP_WAIT_POLICY")))
        if self._fault == ["slow", "open"]:
            time.sleep(1000)
        if self._fault == ["spins"]:
            threading.Thread(target=spin, daemon=True).start()
        return {"version": "1.5", "devices": [{"name": "fingers"}], "about": {"pid": os.getpid()}}

    def support(self, request, files, out_folder, progress):
        progress("look", "at the network")
        note({**request, "files": files})
        graph = Graph(files["network.onnx"])
        refused = [node["name"] for node in graph.nodes if not self._takes(node["op"])]
        return {"refused": refused, "options": request["options"]}

    def compile(self, request, files, out_folder, progress):
        if "FUSESCOPE_TEST_ASKED" in os.environ:
            with open(os.environ["FUSESCOPE_TEST_ASKED"], "a") as file:
                file.write("compile\n")
        progress("count", "on fingers")
        note({**request, "files": files})
        self._graph = Graph(files["network.onnx"])
        if self._fault in (["slow", "compile"], ["slow", "load"], ["refuses", "load"]):
            time.sleep(1)
        marked = request.get("mark", [])
        self._graph.outputs += marked
        self._path = files["network.onnx"]
        self._taken = self._steps(request["options"])
        for node in self._graph.nodes:
            if self._fault == ["fails", node["op"]]:
                raise base.Refusal(f"Tally has not enough fingers for node {node['name']} ({node['op']})")
            if self._fault == ["dies", node["op"]]:
                print("out of fingers", flush=True)
                os._exit(7)
        return {
            "kernels": kernels(self._graph, apart=self._fault == ["marks"] and bool(marked)),
            "options": request["options"],
            "phases": [{"name": "count", "ms": 1.5}],
            "peak_bytes": 4096,
        }

    def save(self, request, files, out_folder, progress):
        note({**request, "files": files})
        with open(self._path, "rb") as network, open(os.path.join(out_folder, "counted.bin"), "wb") as saved:
            saved.write(network.read())
        return {}

    def load(self, request, files, out_folder, progress):
        note({**request, "files": files})
        if self._fault == ["refuses", "load"]:
            raise base.Refusal("Tally does not remember how it counted.")
        if self._fault == ["slow", "load"]:
            time.sleep(3)
        self._graph = Graph(files["counted.bin"])
        self._taken = self._steps(request["options"])
        return {}

    def run(self, request, files, out_folder, progress):
        if self._fault == ["dies", "run"] and not os.path.exists(os.environ["FUSESCOPE_TEST_DIED"]):
            open(os.environ["FUSESCOPE_TEST_DIED"], "w").close()
            os._exit(8)
        if self._fault == ["slow", "run"]:
            print("counting slowly", flush=True)
            time.sleep(60)
        outputs = self._graph.run(read_npz(files["inputs.npz"]))
        if self._fault[:1] in (["wrong"], ["boasts"]) and set(self._fault[1:]) <= set(self._taken):
            outputs = {name: (shape, [each + 1 for each in numbers]) for name, (shape, numbers) in outputs.items()}
        write_npz(os.path.join(out_folder, "outputs.npz"), outputs)
        return {}

    def optimisers(self, request, files, out_folder, progress):
        boasted = self._fault[1:] if self._fault[:1] == ["boasts"] else []
        taken = self._steps(request["options"])
        return {"steps": [[name, name != "share"] for name in taken + [each for each in boasted if each not in taken]]}

    def _steps(self, options):
        without = options.get("without", "").split(",")
        return [each for each in STEPS[options.get("effort", "high")] if each not in without]

    def time(self, request, files, out_folder, progress):
        inputs = read_npz(files["inputs.npz"])
        ms, until = [], time.perf_counter() + request["seconds"]
        while not ms or time.perf_counter() < until:
            start = time.perf_counter()
            self._graph.run(inputs)
            ms.append(1e3 * (time.perf_counter() - start))
        return {"ms": ms}

    def profile(self, request, files, out_folder, progress):
        return {"ms": [2.0] * request["runs"], "kernels": {name: 0.25 for name, _ in kernels(self._graph)}}

    def _takes(self, op):
        return (op in JOINS or op in ALONE) and self._fault != ["refuses", op]


def note(asked):
    if "FUSESCOPE_TEST_REQUESTS" in os.environ:
        with open(os.environ["FUSESCOPE_TEST_REQUESTS"], "a") as file:
            file.write(json.dumps(asked) + "\n")


def spin():
    while True:
        pass


def kernels(graph, apart=False):
    """[name, nodes] in order. `apart`: one of each node."""
    made = []
    for node in graph.nodes:
        before = made[-1][1] if made else []
        joins = not apart and node["op"] == "Relu" and before and before[-1]["op"] in JOINS
        if joins and before[-1]["outputs"][0] == node["inputs"][0]:
            before.append(node)
        else:
            made.append((f"tally_{len(made)}", [node]))
    return [(name, [node["name"] for node in nodes]) for name, nodes in made]


class Graph:
    def __init__(self, path):
        with open(path, "rb") as file:
            graph = next(value for field, value in fields(file.read()) if field == 7)
        self.nodes, self.weights, self.outputs = [], {}, []
        for field, value in fields(graph):
            if field == 1:
                self.nodes.append(node(value))
            elif field == 5:
                name, numbers = tensor(value)
                self.weights[name] = numbers
            elif field == 12:
                self.outputs.append(next(text for key, text in fields(value) if key == 1).decode())

    def run(self, inputs):
        values = {**self.weights, **{name: numbers for name, (_, numbers) in inputs.items()}}
        shape = next(iter(inputs.values()))[0]
        for each in self.nodes:
            operands = [values[name] for name in each["inputs"]]
            operation = JOINS.get(each["op"]) or ALONE[each["op"]]
            values[each["outputs"][0]] = [operation(*numbers) for numbers in zip(*operands)]
        return {name: (shape, values[name]) for name in self.outputs}


def node(data):
    made = {"inputs": [], "outputs": [], "name": "", "op": ""}
    for field, value in fields(data):
        if field in (1, 2):
            made["inputs" if field == 1 else "outputs"].append(value.decode())
        elif field in (3, 4):
            made["name" if field == 3 else "op"] = value.decode()
    return made


def tensor(data):
    name, numbers = "", []
    for field, value in fields(data):
        if field == 8:
            name = value.decode()
        elif field in (4, 9):  # float_data, raw_data
            numbers = [number for (number,) in struct.iter_unpack("<f", value)]
    return name, numbers


def fields(data):
    """(number, value) of a protobuf message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 2:
            length, at = varint(data, at)
            yield key >> 3, data[at : at + length]
            at += length
        elif key & 7 == 0:
            value, at = varint(data, at)
            yield key >> 3, value
        else:
            at += 8 if key & 7 == 1 else 4


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def read_npz(path):
    """name -> (shape as text, numbers), floats alone."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            (length,) = struct.unpack_from("<H", data, 8)
            shape = data[10 : 10 + length].decode().split("'shape':")[1].split(")")[0] + ")"
            arrays[name[: -len(".npy")]] = shape, [each for (each,) in struct.iter_unpack("<f", data[10 + length :])]
    return arrays


def write_npz(path, arrays):
    with zipfile.ZipFile(path, "w") as archive:
        for name, (shape, numbers) in arrays.items():
            head = f"{{'descr': '<f4', 'fortran_order': False, 'shape':{shape}, }}\n".encode()
            archive.writestr(
                name + ".npy",
                b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(numbers)}f", *numbers),
            )
