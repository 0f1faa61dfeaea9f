#include "planning/types/read_type.h"

#include "planning/structure.h"
#include "planning/types/typing.h"

namespace fusescope {

DataType narrowReadType(const Plan& plan, const Node& node, std::size_t i) {
  const DataType type = plan.calculates[node.id.index];
  return isNarrow(type) && isDataOperand(node, i) ? type : DataType::Undefined;
}

bool movesElements(const Plan& plan, NodeId node) {
  return plan.structure != nullptr && plan.structure->facts[node.index].moves;
}

}  // namespace fusescope
