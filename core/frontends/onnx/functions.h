#pragma once

#include <functional>
#include <string>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope {

/// The nodes of `function` as called by `call`: inputs, outputs and attributes of the call put in, every inner value
/// given a name by `freshValue`. An inner node is called `<call>/<its name or operator>`.
std::vector<onnxlib::FileNode> instantiate(const onnxlib::FileFunction& function, const onnxlib::FileNode& call,
                                           const std::function<std::string(const std::string&)>& freshValue);

}  // namespace fusescope
