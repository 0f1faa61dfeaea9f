#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "backends/memory_format.h"

namespace fusescope {

/// How the numbers of a kernel may differ from what its contract says. If nothing is set, the kernel is exact.
struct Numerics {
  bool flushes = false;    ///< denormal numbers are treated as zero
  bool saturates = false;  ///< sums of products are clamped while they are added up
  bool fastMath = false;   ///< floats are multiplied in a narrower type
  bool emulated = false;   ///< a type is emulated in software: results are right, but a time is meaningless

  bool exact() const { return *this == Numerics(); }
  std::string text() const;  ///< "exact", "emulated", "flushes+fast_math"
  bool operator==(const Numerics&) const = default;
};

using TacticParameter = std::variant<bool, std::int64_t, std::string, MemoryFormat>;

/// One way to run a region, as a value: equal tactics compile to equal kernels. Engine files store it, and it is chosen
/// again on a machine whose backend offers an equal one.
struct Tactic {
  /// The name for people, for directives, and in old engine files: "onednn:conv:nChw16c:jit:avx2", "native:softmax". It
  /// is derived from the other fields and distinguishes the tactics of one region.
  std::string name;
  std::string backend;         ///< the name of its backend: "native", "reference"
  std::string implementation;  ///< "onednn:conv", "native:softmax", "composite"
  std::map<std::string, TacticParameter> parameters;
  std::vector<MemoryFormat> inputs;   ///< in the order of FusedNode::inputs
  std::vector<MemoryFormat> outputs;  ///< in the order of FusedNode::outputs
  Numerics numerics;

  /// Compares the values; names are ignored.
  bool operator==(const Tactic& other) const;
  /// Returns whether `text`, from a person or an old engine file, means this tactic: it is its name, possibly with
  /// older words for formats.
  bool isCalled(const std::string& text) const;
};

/// The implementation that runs a region node by node, as if nothing were fused.
inline constexpr const char* kUnfused = "composite";

}  // namespace fusescope
