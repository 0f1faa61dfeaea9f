#pragma once

#include <set>
#include <string>
#include <string_view>

#include "onnxlib/onnxlib.h"

namespace fusescope {

/// Adds the names of all values and nodes of `graph`, including its bodies.
void collectNames(const onnxlib::FileGraph& graph, std::set<std::string>& names);
/// Returns `wanted`, followed by "_2", "_3", … if `names` contains it already, and adds the result to `names`. `before`
/// replaces the "_".
std::string freshName(const std::string& wanted, std::set<std::string>& names, std::string_view before = "_");

}  // namespace fusescope
