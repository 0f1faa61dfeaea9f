#pragma once

#include <utility>

#include "ops/support/kernel_support.h"

namespace fusescope::ops {

/// Makes the schema of an operator that moves elements and computes none. Its kernel gets packed types as one byte per
/// element.
inline OpSchema movementSchema(std::string op, int minInputs, int maxInputs, InferFunction infer, KernelFunction kernel,
                               OpSignature signature) {
  return {.op = std::move(op),
          .kind = OpKind::Movement,
          .minInputs = minInputs,
          .maxInputs = maxInputs,
          .infer = std::move(infer),
          .kernel = unpacked(std::move(kernel)),
          .signature = std::move(signature)};
}

}  // namespace fusescope::ops
