#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope::onnxlib {

/// The types that an operator's schema allows for an operand or a result.
struct SlotTypes {
  /// Slots with the same parameter have the same type; "tensor(float)" if there is no parameter.
  std::string parameter;
  std::vector<DataType> allowed;  ///< element types of tensors
  bool allows(DataType type) const;
};

struct OperatorTypes {
  std::vector<SlotTypes> operands, results;
  /// The last slot may repeat any number of times, always with one type.
  bool operandsRepeat = false, resultsRepeat = false;
  const SlotTypes* operand(std::size_t i) const;  ///< null if there is no such operand
  const SlotTypes* result(std::size_t i) const;
};

/// Returns the types of an operator at `opset` of its domain, or nothing if the library does not know it.
std::optional<OperatorTypes> operatorTypes(const std::string& domain, const std::string& op, std::int64_t opset);
/// Returns the first opset after `opset` at which operand `slot` may have type `type`; 0 if there is none.
std::int64_t opsetThatAllows(const std::string& domain, const std::string& op, std::size_t slot, DataType type,
                             std::int64_t opset);
/// Returns why `node` may have another meaning at opset `to` than at `from`, or an empty text if it has the same
/// meaning. Apart from types, the schemas must be equal, except for additions that are optional. Changes that are not
/// in the schema have to be known by the caller.
std::string obstacleToRaising(const FileNode& node, std::int64_t from, std::int64_t to);

}  // namespace fusescope::onnxlib
