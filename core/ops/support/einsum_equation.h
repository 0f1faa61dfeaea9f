#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace fusescope::ops {

/// An equation with its ellipses spelled out: axes that an ellipsis stands for are the labels '0', '1', … counted
/// from the last.
struct EinsumEquation {
  std::vector<std::string> inputs;
  std::string output;
};

/// The equation of an Einsum whose operands have these ranks.
Result<EinsumEquation> einsumEquation(const Node& node, const std::vector<std::size_t>& ranks);

}  // namespace fusescope::ops
