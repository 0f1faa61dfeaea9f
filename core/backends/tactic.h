#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "backends/memory_format.h"

namespace fusescope {

/// How a kernel's numbers may differ from what its contract says. None of it: exact.
struct Numerics {
  bool flushes = false;    ///< denormals count as zero
  bool saturates = false;  ///< sums of products are clamped on the way
  bool fastMath = false;   ///< floats are multiplied in a narrower type
  bool emulated = false;   ///< imitates a type in software: results are right, a time means nothing

  bool exact() const { return *this == Numerics(); }
  std::string text() const;  ///< "exact", "emulated", "flushes+fast_math"
  bool operator==(const Numerics&) const = default;
};

using TacticParameter = std::variant<bool, std::int64_t, std::string, MemoryFormat>;

/// One way to run a region, as a value: equal tactics compile to equal kernels. Kept in engine files and taken again as
/// it is, on a machine that offers an equal one.
struct Tactic {
  /// For people, directives, and engine files that knew no more: "onednn:conv:nChw16c:jit:avx2", "native:softmax". It
  /// follows from what is below and tells the tactics of one region apart.
  std::string name;
  std::string backend;         ///< whose it is: "native", "reference"
  std::string implementation;  ///< "onednn:conv", "native:softmax", "composite"
  std::map<std::string, TacticParameter> parameters;
  std::vector<MemoryFormat> inputs;   ///< as FusedNode::inputs
  std::vector<MemoryFormat> outputs;  ///< as FusedNode::outputs
  Numerics numerics;

  /// As values: names do not count.
  bool operator==(const Tactic& other) const;
  /// Whether a person or an earlier engine file may mean this tactic by `text`: its name, or with the words that
  /// formats had before.
  bool isCalled(const std::string& text) const;
};

/// A region node by node, as if nothing were fused.
inline constexpr const char* kUnfused = "composite";

}  // namespace fusescope
