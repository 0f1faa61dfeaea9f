"""Finds out where TorchDynamo leaves the graph of a module while it runs, and what it compiles more than once.

This is what torch.compile() would encounter: torch._dynamo.explain() runs the module on its example inputs, piece by
piece.
"""

from .torch_program import first_lines
from .torch_script import attempt, place_in

NOT_ASKED = {"breaks": [], "recompiles": [], "breaks_left_out": 0, "recompiles_left_out": 0, "breaks_problem": ""}
MOST = 200  # of each kind, because a loop may break in every iteration
RESUMED = "torch_dynamo_resume_in_"  # the name of the function that continues after a break: …NAME_at_LINE


def told(torch, loaded):
    """Returns {breaks[{reason, explanation, hints[], file, line, function}], recompiles[{reason, file, line,
    function}], breaks_left_out, recompiles_left_out, breaks_problem}. At most MOST of each are listed; the counts
    say how many more there are, and the problem says why there are none."""
    import torch._dynamo as dynamo
    from torch._dynamo import utils

    attempt(utils.clear_compilation_metrics)
    explained, error = attempt(lambda: without_gradients(torch, dynamo.explain(loaded.module), loaded))
    compiled, _ = attempt(utils.get_compilation_metrics)
    if error is not None:
        return {**NOT_ASKED, **at_most("recompiles", recompiled(compiled or [])), "breaks_problem": first_lines(error, 1)}
    reasons = [each for each in explained.break_reasons if each.graph_break]
    return {
        **at_most("breaks", unique([about_break(each, loaded.path) for each in reasons])),
        **at_most("recompiles", recompiled(compiled or [])),
        "breaks_problem": "",
    }


def at_most(name, listed):
    """Returns the first MOST of a list, and how many more there are."""
    return {name: listed[:MOST], f"{name}_left_out": max(0, len(listed) - MOST)}


def without_gradients(torch, explain, loaded):
    with torch.no_grad():
        return explain(*loaded.args, **loaded.kwargs)


def about_break(reason, path):
    """Splits what torch says about a break. It is one text of a first line, an explanation, hints, and notes for
    developers."""
    lines = str(reason.reason).splitlines() or [""]
    explanation, hints, into = [], [], None
    for line in lines[1:]:
        text = line.strip()
        if text.startswith("Explanation:"):
            into = explanation
            text = text.removeprefix("Explanation:").strip()
        elif text.startswith("Hint:"):
            hints.append([])
            into = hints[-1]
            text = text.removeprefix("Hint:").strip()
        elif text.startswith(("Developer debug context:", "For more details")):
            into = None
        if into is not None and text:
            into.append(text)
    stack = list(reason.user_stack or [])
    place = place_in(stack, path)
    if not place["line"] and stack:
        place = {"file": stack[-1].filename, "line": stack[-1].lineno or 0, "function": stack[-1].name}
    place["function"] = plain(place["function"])
    return {"reason": lines[0], "explanation": " ".join(explanation), "hints": [" ".join(hint) for hint in hints], **place}


def plain(function):
    """Returns "forward" for torch_dynamo_resume_in_forward_at_6."""
    return function.removeprefix(RESUMED).rpartition("_at_")[0] if function.startswith(RESUMED) else function


def recompiled(compiled):
    """Returns those of the functions compiled by dynamo that it had compiled before."""
    return unique(
        [
            {
                "reason": reason_of(str(each.recompile_reason)),
                "file": each.co_filename or "",
                "line": each.co_firstlineno or 0,
                "function": plain(each.co_name or ""),
            }
            for each in compiled
            if getattr(each, "recompile_reason", None)
        ]
    )


def reason_of(text):
    """Returns "tensor 'x' size mismatch …" for "2/0: tensor 'x' size mismatch …"."""
    head, colon, rest = text.partition(": ")
    return rest if colon and head.replace("/", "").isdigit() else text


def unique(listed):
    """Returns the elements in their order, without repetitions."""
    return list({repr(each): each for each in listed}.values())
