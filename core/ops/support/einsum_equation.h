#pragma once

#include <optional>
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

/// Whether a letter of `equation` is in upper case, which TensorRT's parser does not read.
bool hasUpperCase(const std::string& equation);
/// What means the same as `equation` by letters in lower case alone; nothing where it has more than 26 letters. The
/// output, which an equation may leave out, is written, since its order goes by the letters.
std::optional<std::string> inLowerCase(std::string equation);

}  // namespace fusescope::ops
