#pragma once

#include <functional>
#include <string>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope {

/// Returns the key under which a function of a file is found by a call of it.
std::string functionKey(const std::string& domain, const std::string& name, const std::string& overload);

/// Returns the nodes of `function` for the call `call`: inputs, outputs and attributes of the call are inserted, and
/// every inner value gets a name from `freshValue`. An inner node is named `<call>/<its name or operator>`.
std::vector<onnxlib::FileNode> instantiate(const onnxlib::FileFunction& function, const onnxlib::FileNode& call,
                                           const std::function<std::string(const std::string&)>& freshValue);

}  // namespace fusescope
