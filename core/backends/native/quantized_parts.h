#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/native/quantized_epilogue.h"

namespace fusescope::native {

/// A chain of codes as one primitive of oneDNN: what it calls it with, besides source, weights and target.
struct QuantizedParts {
  QuantizedEpilogue epilogue;
  ValueId unit;                                    ///< of the sums, as they are scaled
  std::vector<ValueId> biases;                     ///< constants by channel
  std::vector<std::pair<int, ValueId>> residuals;  ///< operands of the epilogue, by argument
  /// Constants by channel that are added behind other steps: their argument, and the unit in which they are told.
  struct Addend {
    int argument;
    ValueId value, unit;
  };
  std::vector<Addend> addends;
  dnnl::memory::desc addendDesc;
  std::size_t taken = 0;            ///< operations
  std::optional<CodeScale> result;  ///< what is written; nothing: f32
  ValueId value;                    ///< which value that is

  DataType type() const { return result ? result->type : DataType::F32; }
  /// `scaleMask`: which axes of the weights have scales of their own.
  dnnl::primitive_attr attributes(const CodeScale& source, int scaleMask) const;
};

}  // namespace fusescope::native
