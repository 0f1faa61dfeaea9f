#pragma once

#include <functional>

#include "frontends/torch/exported_program.h"

namespace fusescope::torch {

/// Reads an argument of a node. `body` reads a graph that is an argument.
using ReadBody = std::function<Result<std::shared_ptr<const ProgramGraph>>(const Json&)>;
Result<ProgramArgument> argumentOf(const Json& json, const ReadBody& body);

/// Returns the values of an argument that consists of values, as outputs do: {"as_tensor": {"name": "x"}}. An element
/// that is not a value has an empty name.
Result<std::vector<std::string>> valuesOf(const Json& argument);

}  // namespace fusescope::torch
