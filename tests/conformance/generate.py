"""Writes the operator cases of the Python package onnx, each a folder with its model and its values.

    generate.py FOLDER

FOLDER/CASE/model.onnx
FOLDER/CASE/case.json                      domain, operator, element types, tolerances, kinds of its values
FOLDER/CASE/test_data_set_N/input_M.pb     TensorProto, SequenceProto or OptionalProto, as ONNX's own test data
FOLDER/CASE/test_data_set_N/output_M.pb
FOLDER/ready                               number of cases; written last

The folder is made beside its place and moved there whole.
"""
import json
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases


def kind_of(type_proto):
    """The container as Fusescope names it: "tensor", "sequence", "optional", "optional_sequence"."""
    kind = type_proto.WhichOneof("value")
    if kind == "optional_type":
        inner = kind_of(type_proto.optional_type.elem_type)
        return "optional_sequence" if inner == "sequence" else "optional"
    return {"tensor_type": "tensor", "sequence_type": "sequence"}.get(kind, kind)


def element_of(type_proto):
    """The innermost element type, in ONNX's words ("FLOAT")."""
    kind = type_proto.WhichOneof("value")
    if kind == "tensor_type":
        return TensorProto.DataType.Name(type_proto.tensor_type.elem_type)
    if kind in ("sequence_type", "optional_type"):
        return element_of(getattr(type_proto, kind).elem_type)
    return kind or "UNDEFINED"


def as_proto(value, declared):
    kind = kind_of(declared.type)
    if kind == "sequence":
        return numpy_helper.from_list(value, declared.name)
    if kind.startswith("optional"):
        return numpy_helper.from_optional(value, declared.name)
    if isinstance(value, TensorProto):
        return value
    return numpy_helper.from_array(np.asarray(value), declared.name)


def domain_of(model):
    """The domain of the operator that is tested; an expansion may add nodes of ai.onnx."""
    for node in model.graph.node:
        if node.domain not in ("", "ai.onnx"):
            return node.domain
    for imported in model.opset_import:
        if imported.domain not in ("", "ai.onnx"):
            return imported.domain
    return "ai.onnx"


def describe(case, origin):
    graph = case.model.graph
    expanded = origin is not case
    return {
        "domain": domain_of(origin.model),
        "operator": origin.model.graph.node[0].op_type,
        "expanded": expanded,
        "rtol": case.rtol,
        "atol": case.atol,
        "inputs": [{"name": v.name, "kind": kind_of(v.type), "element": element_of(v.type)} for v in graph.input],
        "outputs": [{"name": v.name, "kind": kind_of(v.type), "element": element_of(v.type)} for v in graph.output],
    }


def write_case(case, origin, folder):
    folder.mkdir()
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    (folder / "case.json").write_text(json.dumps(describe(case, origin), indent=1))
    for number, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for role, values, declared in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
            for slot, value in enumerate(values):
                (data / f"{role}_{slot}.pb").write_bytes(as_proto(value, declared[slot]).SerializeToString())


def origin_of(name, by_name):
    """The case that `name` expands: test_x for test_x_expanded and test_x_expanded_ver18."""
    return by_name.get(name.split("_expanded")[0], by_name[name])


def main():
    target = Path(sys.argv[1])
    if (target / "ready").exists():
        return
    warnings.filterwarnings("ignore")  # numpy's about the overflows that the cases are made of
    part = target.with_name(target.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    cases = collect_testcases(None)
    by_name = {case.name: case for case in cases}
    for case in cases:
        write_case(case, origin_of(case.name, by_name), part / case.name)
    (part / "ready").write_text(f"{len(cases)}\n")
    shutil.rmtree(target, ignore_errors=True)
    part.rename(target)
    print(f"{len(cases)} cases of onnx {onnx.__version__} in {target}", file=sys.stderr)


if __name__ == "__main__":
    main()
