"""Makes an exported program (.pt2) from a module that a function of the user's script returns (torch_script.py), or
from a TorchScript file.

Both are code that runs with the rights of the user. The caller has asked the user whether exactly this content may
be run. Therefore a file is read once, its hash is compared with the one that the user saw, and the content that was
read is run.
"""

import hashlib
import io
import os

from . import base, torch_breaks, torch_extents
from .torch_program import OF_TYPE, first_lines
from .torch_script import attempt, place_of

VERSION = 1  # version of the answers
PROGRAM, NETWORK = "program.pt2", "network.onnx"
OLD_OPSET = 17  # the last opset that torch's old exporter supports completely
SEED = 7  # the seed of the numbers for the inputs of TorchScript
DATA_DEPENDENT = ("data-dependent", "data dependent", "GuardOnDataDependent", "generic_jump")
OUT_OF_RANGE = ("Constraints violated", "ConstraintViolation", "dynamic_shapes")
ADVICE = "The error above occurred when calling torch.export.export."  # a line of advice on other calls of torch


def confirmed_bytes(path, sha256):
    """Returns the content of the file, which the user has confirmed by its hash."""
    with open(path, "rb") as file:
        content = file.read()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise base.Refusal(
            "The file has changed since it was confirmed, so nothing of it was run.", kind="asked"
        )
    return content


def capture_script(torch, loaded, with_breaks, out_folder):
    """Exports the module that the function returned. Returns {version, torch, way, evaluated, tried[], problem,
    extents{symbol: name}, breaks[], recompiles[], breaks_left_out, recompiles_left_out, breaks_problem}."""
    way, program, tried = None, None, []
    for mode, strict in (("non-strict", False), ("strict", True)):
        program, error = attempt(
            lambda: torch.export.export(  # noqa: B023
                loaded.module, loaded.args, loaded.kwargs, dynamic_shapes=loaded.dynamic_shapes, strict=strict
            )
        )
        if error is None:
            way = mode
            break
        tried.append({"way": mode, "error": error})
    answer = {"version": VERSION, "torch": torch.__version__, "way": way or "", "evaluated": loaded.evaluated}
    answer["tried"] = [{"way": each["way"], "message": first_lines(each["error"], 1)} for each in tried]
    answer["problem"], answer["extents"] = None, {}
    if way is None:
        answer["problem"] = problem_of(loaded, tried[0]["error"])
    else:
        answer["extents"] = torch_extents.named(torch, loaded, program)
        save(torch, program, os.path.join(out_folder, PROGRAM))
    answer.update(torch_breaks.told(torch, loaded) if with_breaks or way is None else torch_breaks.NOT_ASKED)
    return answer


def save(torch, program, path):
    _, error = attempt(lambda: torch.export.save(program, path))
    if error is not None:
        raise base.Refusal(
            f"torch {torch.__version__} exported it, but cannot save the program. {first_lines(error, 3)}", kind="asked"
        )


def problem_of(loaded, error):
    """Returns what torch says about a module that it cannot export, the place in the script, and what would help."""
    about = f"{type(error).__name__}: {error}"
    if any(word in about for word in DATA_DEPENDENT):
        help = (
            "An exported program has no if or while of Python over the numbers in a tensor. Write a branch as "
            "torch.cond(condition, if_true, if_false, operands) or torch.where(...), a loop as "
            "torch._higher_order_ops.while_loop(...), and bound a number that is taken from a tensor with torch._check(...)."
        )
    elif any(word in about for word in OUT_OF_RANGE):
        help = "Change the dynamic shapes that the function gives: torch says which, above."
    else:
        help = (
            "Call the module on its example inputs in Python to see whether it runs; what torch cannot trace is to be "
            "written otherwise."
        )
    # Several lines explain a range that is violated. Other messages continue with advice for developers of torch.
    lines = first_lines(error, 12 if any(word in about for word in OUT_OF_RANGE) else 1).splitlines()
    message = "\n".join(line for line in lines if not line.startswith(ADVICE))
    return {"message": message, "help": help, **place_of(loaded, error)}


# TorchScript.


def capture_torchscript(torch, content, inputs, wanted, out_folder):
    """Converts a TorchScript file. `inputs` is [{name, type, dims}]. `wanted` is "pt2", "onnx", or "", which means
    "pt2" if it is possible."""
    module, error = attempt(lambda: torch.jit.load(io.BytesIO(content), map_location="cpu"))
    if error is not None:
        raise base.Refusal(
            f"torch {torch.__version__} cannot load it as TorchScript. {first_lines(error, 3)}", kind="asked"
        )
    attempt(module.eval)
    arguments, names = arguments_of(torch, module, inputs)
    tried, way = [], ""
    ways = {"pt2": (converted,), "onnx": (exported_as_of_old,), "": (converted, exported_as_of_old)}[wanted]
    for one in ways:
        _, error = attempt(lambda: one(torch, module, arguments, names, out_folder))  # noqa: B023
        if error is None:
            way = WAYS[one]
            break
        tried.append({"way": WAYS[one], "message": first_lines(error, 2)})
        for name in os.listdir(out_folder):  # a part of a file may exist
            os.remove(os.path.join(out_folder, name))
    if not way:
        words = " ".join(f"By {each['way']}: {each['message']}." for each in tried)
        raise base.Refusal(
            f"torch {torch.__version__} cannot make a program of this TorchScript. {words}",
            kind="asked",
            help="Export the module from which it was made, with fusescope import SCRIPT.py:FUNCTION.",
        )
    return {"version": VERSION, "torch": torch.__version__, "way": way, "evaluated": False, "tried": tried,
            "problem": None, "extents": {}, **torch_breaks.NOT_ASKED}  # fmt: skip


def converted(torch, module, arguments, _, out_folder):
    from torch._export.converter import TS2EPConverter

    program = TS2EPConverter(module, arguments).convert()
    program.example_inputs = None  # numbers that were made up here are no examples of the user
    torch.export.save(program, os.path.join(out_folder, PROGRAM))


def exported_as_of_old(torch, module, arguments, names, out_folder):
    path = os.path.join(out_folder, NETWORK)
    torch.onnx.export(module, arguments, path, dynamo=False, opset_version=OLD_OPSET, input_names=names)


WAYS = {converted: "TS2EPConverter", exported_as_of_old: "torch.onnx.export(dynamo=False)"}


def arguments_of(torch, module, inputs):
    """Returns (arguments of forward(), their names): tensors with the types and extents that the user gave."""
    known = [each for each in module.forward.schema.arguments if each.name != "self"]
    given = {each["name"]: each for each in inputs}
    takes = ", ".join(f"{each.name} ({each.type})" for each in known) or "none"
    wanted = {name for name in given if name not in [each.name for each in known]}
    if wanted:
        raise base.Refusal(
            f"It has no input {', '.join(sorted(wanted))}.", kind="asked", help=f"The arguments of forward() are {takes}."
        )
    numbers, arguments, names = torch.Generator().manual_seed(SEED), [], []
    for each in known:
        if each.name in given:
            arguments.append(tensor_of(torch, numbers, given[each.name]))
            names.append(each.name)
        elif not each.has_default_value():
            raise base.Refusal(
                f"The argument {each.name} ({each.type}) of forward() has no extents, because TorchScript does not "
                "contain them.",
                kind="asked",
                help=f"Give them: --input {each.name}=1,3,224,224:f32. The arguments are {takes}."
                if "Tensor" in str(each.type)
                else "It is not a tensor. Export the module from which the file was made, with fusescope import "
                "SCRIPT.py:FUNCTION.",
            )
        else:
            arguments.append(each.default_value)
    return tuple(arguments), names


def tensor_of(torch, numbers, told):
    if told["type"] not in OF_TYPE:
        raise base.Refusal(f"The input {told['name']} cannot have the type {told['type']} here.", kind="asked")
    dtype = getattr(torch, OF_TYPE[told["type"]])
    if dtype.is_floating_point:
        return torch.rand(told["dims"], generator=numbers).to(dtype)
    return torch.zeros(told["dims"], dtype=dtype)
