#pragma once

#include "frontends/torch/exported_program.h"

namespace fusescope::torch {

/// The graph of an exported program, with those that are arguments of its nodes. Errors name the field; more than
/// `mostNodes` in all is one.
Result<ProgramGraph> programGraphOf(const Json& json, std::int64_t mostNodes);

/// The modules of "L__self__,,Net;L__self__m,m,torch.nn.modules.linear.Linear": of each its key, path and class.
std::vector<ModuleFrame> moduleFramesOf(std::string_view text);

}  // namespace fusescope::torch
