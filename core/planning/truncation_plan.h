#pragma once

#include <string>
#include <vector>

#include "base/data_type.h"
#include "base/ids.h"

namespace fusescope {

/// A value whose type the target lacks and which is narrowed.
struct TruncatedValue {
  ValueId value;
  DataType from, to;
  std::vector<NodeId> capturedBy{};  ///< nodes whose bodies read this constant from outside
};
/// A constant that keeps its type, and the reason why.
struct RefusedTruncation {
  ValueId value;
  std::string code;
  std::string message;
};
/// What a plan narrows.
struct TruncationPlan {
  std::vector<TruncatedValue> inputs, constants, produced;
  std::vector<RefusedTruncation> refused;
};

}  // namespace fusescope
