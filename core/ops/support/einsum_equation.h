#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::ops {

/// An Einsum equation without ellipses: the axes of an ellipsis are the labels '0', '1', …, counted from the last axis.
struct EinsumEquation {
  std::vector<std::string> inputs;
  std::string output;
};

/// Reads the equation of an Einsum whose operands have these ranks.
Result<EinsumEquation> einsumEquation(const Node& node, const std::vector<std::size_t>& ranks);

/// Returns whether the equation contains an upper-case letter, which TensorRT's parser does not read.
bool hasUpperCase(const std::string& equation);
/// Returns an equivalent equation with lower-case letters only, or nothing if `equation` has more than 26 letters. The
/// result always includes the output, because an omitted output would be ordered by the letters.
std::optional<std::string> inLowerCase(std::string equation);

}  // namespace fusescope::ops
