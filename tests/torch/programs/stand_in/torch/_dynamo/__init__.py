"""What torch tells of a module that it compiles piece by piece: as told.json has it, at lines of the script."""

import traceback
import types

from torch import TOLD


def explain(module):
    def explained(*args, **kwargs):
        module(*args, **kwargs)
        file = module.forward.__code__.co_filename
        reasons = [
            types.SimpleNamespace(
                reason=each["reason"],
                graph_break=True,
                user_stack=[traceback.FrameSummary(file, each["line"], "torch_dynamo_resume_in_forward_at_6")],
            )
            for each in TOLD.get("breaks", [])
        ]
        utils.compiled = [
            types.SimpleNamespace(
                recompile_reason=each["reason"], co_filename=file, co_firstlineno=each["line"], co_name="forward"
            )
            for each in TOLD.get("recompiles", [])
        ]
        return types.SimpleNamespace(break_reasons=reasons)

    return explained


from torch._dynamo import utils  # noqa: E402
