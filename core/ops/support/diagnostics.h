#pragma once

#include <string>

#include "base/result.h"

namespace fusescope::ops {

/// Makes an error about a node; inferNode() and runNode() add the node's name.
inline Diagnostic problem(std::string message, std::string help = {}) {
  return {.message = std::move(message), .help = std::move(help)};
}

/// Makes an error about one attribute of a node.
inline Diagnostic attributeProblem(std::string attribute, std::string message, std::string help = {}) {
  return {.message = std::move(message), .where = {.attribute = std::move(attribute)}, .help = std::move(help)};
}

}  // namespace fusescope::ops
