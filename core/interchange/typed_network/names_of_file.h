#pragma once

#include <set>
#include <string>
#include <string_view>

#include "onnxlib/onnxlib.h"

namespace fusescope {

/// Adds the names of all values and nodes of `graph`, bodies and all.
void collectNames(const onnxlib::FileGraph& graph, std::set<std::string>& names);
/// `wanted`, or with "_2", "_3", … behind it where that is among `names`; it is one of them then. `before`: in place of
/// the "_".
std::string freshName(const std::string& wanted, std::set<std::string>& names, std::string_view before = "_");

}  // namespace fusescope
