#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace fusescope::onnxlib {

/// What is wrong with a tensor of a file; whoever reads the file adds where.
inline Diagnostic badTensor(std::string message, std::string help = {}) {
  return {.message = std::move(message), .help = std::move(help)};
}

}  // namespace fusescope::onnxlib
