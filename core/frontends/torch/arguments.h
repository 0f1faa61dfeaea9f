#pragma once

#include <functional>

#include "frontends/torch/exported_program.h"

namespace fusescope::torch {

/// What a node is given under one name. `body`: reads a graph that is an argument.
using ReadBody = std::function<Result<std::shared_ptr<const ProgramGraph>>(const Json&)>;
Result<ProgramArgument> argumentOf(const Json& json, const ReadBody& body);

/// The values of an argument that stands for some, as outputs do: {"as_tensor": {"name": "x"}}. What is no value has an
/// empty name.
Result<std::vector<std::string>> valuesOf(const Json& argument);

}  // namespace fusescope::torch
