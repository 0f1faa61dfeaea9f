#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/memory_format.h"
#include "base/ids.h"

namespace fusescope::native {

/// A kind of kernel. Each emitter defines the kinds that it chooses.
struct KernelKind {
  std::string_view name;  ///< the name in tactics and for people: "conv", "pointwise"
  /// The name of a tactic is that of the kernel with the largest weight in the fused node. A kernel of weight 0 is
  /// never used for this; a fused node with only such kernels is named after its own kind.
  int weight = 0;
  bool flushes = false;  ///< results may be zero instead of denormal
};

// Kinds of kernels that several emitters choose, or by which tactics are recognised.
inline constexpr KernelKind kConvKernel{.name = "conv", .weight = 4};
inline constexpr KernelKind kAttentionKernel{.name = "attention", .weight = 3, .flushes = true};
inline constexpr KernelKind kMatMulKernel{.name = "matmul", .weight = 2};
// Products and convolutions of codes by our own kernels.
inline constexpr KernelKind kByteConvKernel{.name = "byte_conv", .weight = 1};
inline constexpr KernelKind kByteProductKernel{.name = "byte_product", .weight = 1};
inline constexpr KernelKind kPointwiseKernel{.name = "pointwise"};

/// The memory formats of a convolution.
struct ConvFormats {
  ValueId source;  ///< the value that it reads
  Dims result;     ///< the extents of the value that it writes
  MemoryFormat from, to;
};

/// What the code of an implementation of oneDNN is.
enum class DnnlCode {
  Reference,    ///< oneDNN's own reference code, which is slow
  Compiled,     ///< compiled C++. Deconvolutions by a convolution ("conv:any+jit") belong here, because they end in C++
  Generated,    ///< generated at run time, and none of the following
  Int8Vectors,  ///< generated for convolutions of codes in vectors of 32 bytes
  WideBlocks    ///< generated for blocks of a matrix in AVX-512
};
/// Returns what oneDNN's name of an implementation says about its code. No other function reads such a name.
DnnlCode dnnlCodeOf(std::string_view implementation);
/// Returns whether the code is generated at run time. Compiled C++ may lose NaN without an invalid operation that sets
/// the flag (number_checks.h).
bool isGenerated(DnnlCode code);

/// A kernel that an emitter chose for a part of a fused node.
struct Choice {
  enum class By { Ours, OneDnn, Reference };
  enum class Factors { Floats, NarrowFloats, Codes };
  KernelKind kind = {};
  By by = By::Ours;
  std::string implementation = {};  ///< oneDNN's name for it, or the operator that the reference kernel runs
  /// The type of the factors that the instructions multiply. Instructions for narrow floats treat denormal numbers as
  /// zero.
  Factors multiplies = Factors::Floats;
  std::optional<ConvFormats> formats = {};

  bool isReference() const { return by == By::Reference; }
};

/// Returns the choice as one word: "pointwise", "conv:jit:avx2", "Einsum:reference".
std::string text(const Choice& choice);

}  // namespace fusescope::native
