#include "planning/read_type.h"

#include "planning/structure.h"

namespace fusescope {

DataType narrowReadType(const Plan& plan, const Node& node, std::size_t i) {
  const DataType type = plan.calculates[node.id.index];
  const bool isNarrow = type == DataType::F16 || type == DataType::BF16;
  return isNarrow && isDataOperand(node, i) ? type : DataType::Undefined;
}

bool movesElements(const Plan& plan, NodeId node) {
  return plan.structure != nullptr && plan.structure->facts[node.index].moves;
}

}  // namespace fusescope
