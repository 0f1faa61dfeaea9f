#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope::onnxlib {

/// What an operator's schema says of the type of an operand or a result.
struct SlotTypes {
  std::string parameter;          ///< "T": slots of one parameter have one type; "tensor(float)" where there is none
  std::vector<DataType> allowed;  ///< element types of tensors
  bool allows(DataType type) const;
};

struct OperatorTypes {
  std::vector<SlotTypes> operands, results;
  bool operandsRepeat = false, resultsRepeat = false;  ///< the last one stands for any number, all of one type
  const SlotTypes* operand(std::size_t i) const;       ///< null: there is none
  const SlotTypes* result(std::size_t i) const;
};

/// The types of an operator at `opset` of its domain; nothing where the library does not know it.
std::optional<OperatorTypes> operatorTypes(const std::string& domain, const std::string& op, std::int64_t opset);
/// The first opset behind `opset` at which operand `slot` may be of `type`; 0: none.
std::int64_t opsetThatAllows(const std::string& domain, const std::string& op, std::size_t slot, DataType type,
                             std::int64_t opset);
/// Why `node` may not mean the same at opset `to` as at `from` without other edits; empty: it does. Types aside, the
/// schemas must be alike, and what is new in the later one optional; what changed beside its schema is the caller's to
/// know.
std::string obstacleToRaising(const FileNode& node, std::int64_t from, std::int64_t to);

}  // namespace fusescope::onnxlib
