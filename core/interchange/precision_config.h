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

/// The exported types of one node of the file, from the pins that the plan satisfies.
struct NodePrecision {
  std::string node;  ///< its ONNX name
  std::optional<DataType> compute;
  std::optional<DataType> output;
};

/// The satisfied pins of a plan in the terms of weakly typed TensorRT, checked for its limits: supported types, one
/// strictness for all pins (it has one flag), and unique names of nodes.
struct PrecisionConfig {
  std::vector<NodePrecision> nodes;  ///< in the order of the file
  Strictness strictness = Strictness::Prefer;
  bool usesF16 = false;  ///< a pin or the plan's --precision uses it, so that the builder must be allowed to
  bool usesBF16 = false;
};
Result<PrecisionConfig> precisionConfig(const Plan& plan);

/// A version such as "10.3" or "8.6.1". Versions that differ only in the patch have the same options and compare equal.
struct TrtVersion {
  int major = 0, minor = 0, patch = 0;
  auto operator<=>(const TrtVersion& other) const {
    return std::tie(major, minor) <=> std::tie(other.major, other.minor);
  }
  std::string text() const;  ///< without the patch
  int number() const;        ///< in the form in which TensorRT counts versions: 8601, 101601
};
Result<TrtVersion> parseTrtVersion(std::string_view text);
/// Returns an error for versions before `first`, versions without weak typing (11 and later), and bf16 before version
/// 9.
Status checkTrtVersion(const PrecisionConfig& config, TrtVersion version, TrtVersion first, std::string_view format);

/// Returns "fp32", "fp16" or "bf16".
std::string_view trtTypeName(DataType type);

}  // namespace fusescope
