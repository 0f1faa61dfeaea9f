#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "planning/plan.h"

namespace fusescope {

/// What is exported of one node of the file: the pins that the plan granted.
struct NodePrecision {
  std::string node;  ///< its ONNX name
  std::optional<DataType> compute;
  std::optional<DataType> output;
};

/// A plan's granted pins in the terms of weakly typed TensorRT, checked: types that it can be asked for, one strictness
/// for all (it has one flag), and no two nodes of one name.
struct PrecisionConfig {
  std::vector<NodePrecision> nodes;  ///< in the order of the file
  Strictness strictness = Strictness::Prefer;
  bool usesF16 = false;  ///< some pin or the plan's --precision asks for it: the builder must be allowed to
  bool usesBF16 = false;
};
Result<PrecisionConfig> precisionConfig(const Plan& plan);

/// "10.3", "8.6.1". Versions that differ in the patch alone have the same options and are equal.
struct TrtVersion {
  int major = 0, minor = 0, patch = 0;
  auto operator<=>(const TrtVersion& other) const {
    return std::tie(major, minor) <=> std::tie(other.major, other.minor);
  }
  std::string text() const;  ///< without the patch
  int number() const;        ///< as TensorRT counts them: 8601, 101601
};
Result<TrtVersion> parseTrtVersion(std::string_view text);
/// Refuses versions before `first`, those without weak typing (11 and later), and bf16 before 9.
Status checkTrtVersion(const PrecisionConfig& config, TrtVersion version, TrtVersion first, std::string_view format);

/// "fp32", "fp16" or "bf16".
std::string_view trtTypeName(DataType type);

}  // namespace fusescope
