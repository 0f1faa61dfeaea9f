#pragma once

#include "frontends/torch/exported_program.h"

namespace fusescope::torch {

/// Reads the graph of an exported program, including graphs that are arguments of its nodes. Errors name the field. It
/// is an error if there are more than `mostNodes` nodes in all.
Result<ProgramGraph> programGraphOf(const Json& json, std::int64_t mostNodes);

/// Reads a tensor's description, which weights have as well.
Result<TensorMeta> tensorMetaOf(const Json& json);

/// Returns the modules in a text such as "L__self__,,Net;L__self__m,m,torch.nn.modules.linear.Linear": key, path and
/// class of each.
std::vector<ModuleFrame> moduleFramesOf(std::string_view text);

}  // namespace fusescope::torch
