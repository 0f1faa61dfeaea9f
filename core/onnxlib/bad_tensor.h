#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace fusescope::onnxlib {

/// Makes an error about a tensor of a file; the caller adds the place.
inline Diagnostic badTensor(std::string message, std::string help = {}) {
  return {.message = std::move(message), .help = std::move(help)};
}

}  // namespace fusescope::onnxlib
