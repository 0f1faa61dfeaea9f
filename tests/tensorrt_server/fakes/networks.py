"""Networks of tests, in Python alone: Add, Mul, Neg, Relu and Cast over floats of one number of elements. What stands in
for TensorRT and for trtexec here reads and runs them."""

import math
import struct

JOINS = {"Add": lambda a, b: a + b, "Mul": lambda a, b: a * b}
ALONE = {"Neg": lambda a: -a, "Relu": lambda a: a if math.isnan(a) else max(a, 0.0), "Cast": lambda a: a}
TYPES = {1: "f32", 10: "f16", 16: "bf16"}


class Graph:
    def __init__(self, path):
        with open(path, "rb") as file:
            graph = next(value for field, value in fields(file.read()) if field == 7)
        self.nodes, self.weights, self.inputs, self.outputs, self.dims = [], {}, [], [], []
        for field, value in fields(graph):
            if field == 1:
                self.nodes.append(node(value))
            elif field == 5:
                name, numbers = tensor(value)
                self.weights[name] = numbers
            elif field in (11, 12):
                name, kind, self.dims = told_value(value)
                (self.inputs if field == 11 else self.outputs).append((name, kind))

    def takes(self, each):
        return each["op"] in JOINS or each["op"] in ALONE

    def kinds(self):
        """The type of each value, where only Casts change it."""
        kinds = {**dict.fromkeys(self.weights, "f32"), **dict(self.inputs)}
        for each in self.nodes:
            kinds[each["outputs"][0]] = TYPES.get(each.get("to"), kinds.get(each["inputs"][0], "f32"))
        return kinds

    def run(self, inputs):
        values = {**self.weights, **inputs}
        for each in self.nodes:
            operands = [values[name] for name in each["inputs"]]
            operation = JOINS.get(each["op"]) or ALONE[each["op"]]
            rounds = {"f16": "<e"}.get(TYPES.get(each.get("to")))
            numbers = [operation(*numbers) for numbers in zip(*operands)]
            if rounds:
                numbers = [struct.unpack(rounds, struct.pack(rounds, number))[0] for number in numbers]
            values[each["outputs"][0]] = [f32(number) for number in numbers]
        return {name: values[name] for name, _ in self.outputs}

    def kernels(self):
        """Lists of nodes: a sum or a product and the Relu behind it are one."""
        made = []
        for each in self.nodes:
            before = made[-1] if made else []
            if each["op"] == "Relu" and before and before[-1]["op"] in JOINS and before[-1]["outputs"][0] == each["inputs"][0]:
                before.append(each)
            else:
                made.append([each])
        return made


def f32(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def node(data):
    made = {"inputs": [], "outputs": [], "name": "", "op": ""}
    for field, value in fields(data):
        if field in (1, 2):
            made["inputs" if field == 1 else "outputs"].append(value.decode())
        elif field in (3, 4):
            made["name" if field == 3 else "op"] = value.decode()
        elif field == 5:
            attribute = dict(fields(value))
            if attribute.get(1) == b"to":
                made["to"] = attribute[3]
    return made


def tensor(data):
    name, numbers = "", []
    for field, value in fields(data):
        if field == 8:
            name = value.decode()
        elif field in (4, 9):  # float_data, raw_data
            numbers = [number for (number,) in struct.iter_unpack("<f", value)]
    return name, numbers


def told_value(data):
    """(name, type, extents) of a ValueInfoProto; extents that are open are -1."""
    told = dict(fields(data))
    kind = dict(fields(dict(fields(told[2]))[1]))
    dims = [dict(fields(value)).get(1, -1) for field, value in fields(kind.get(2, b"")) if field == 1]
    return told[1].decode(), TYPES.get(kind[1], "f32"), dims


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
