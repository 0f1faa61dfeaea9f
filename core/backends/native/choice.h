#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/memory_format.h"
#include "ir/graph.h"

namespace fusescope::native {

/// A kind of kernel. Each emitter defines those that it chooses.
struct KernelKind {
  std::string_view name;  ///< as tactics and people call it: "conv", "pointwise"
  /// Among the kernels of one fused node the one of the greatest weight gives its tactic the name. A kernel of weight 0
  /// never does; a fused node that has no other is named for its own kind.
  int weight = 0;
  bool flushes = false;  ///< results may be zero where they should be denormal
};

// Kinds of kernels that several emitters choose.
inline constexpr KernelKind kConvKernel{.name = "conv", .weight = 4};
inline constexpr KernelKind kAttentionKernel{.name = "attention", .weight = 3, .flushes = true};
inline constexpr KernelKind kMatMulKernel{.name = "matmul", .weight = 2};
inline constexpr KernelKind kPointwiseKernel{.name = "pointwise"};

/// The memory formats of a convolution.
struct ConvFormats {
  ValueId source;  ///< what it reads
  Dims result;     ///< the extents of what it writes
  MemoryFormat from, to;
};

/// A kernel that an emitter chose for a part of a fused node.
struct Choice {
  enum class By { Ours, OneDnn, Reference };
  enum class Factors { Floats, NarrowFloats, Codes };
  KernelKind kind = {};
  By by = By::Ours;
  std::string implementation = {};  ///< what oneDNN calls it, or the operator that the reference kernel runs
  /// What the instructions multiply. Those of narrow floats take denormal numbers for zero.
  Factors multiplies = Factors::Floats;
  std::optional<ConvFormats> formats = {};

  bool isReference() const { return by == By::Reference; }
};

/// The choice in one word: "pointwise", "conv:jit:avx2", "Einsum:reference".
std::string text(const Choice& choice);

}  // namespace fusescope::native
