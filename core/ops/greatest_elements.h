#pragma once

#include <map>
#include <memory>
#include <vector>

#include "ops/op_schema.h"
#include "ops/symbolic_values.h"

namespace fusescope {

/// Finds upper bounds of the elements of integer values. They are needed where a network counts positions itself
/// (Range) and uses them as row indices of a table.
class GreatestElements {
 public:
  /// Computes the bound for the result of `node`, whose inputs were visited before. `known` has the known values by
  /// ValueId. If the node is a Gather with such positions as indices, `demands` gets the demand that its table has
  /// enough rows.
  void visit(const Node& node, const SymbolicInputs& inputs, const std::vector<std::shared_ptr<const Tensor>>& known,
             std::vector<ExtentDemand>& demands);

 private:
  using Known = std::vector<std::shared_ptr<const Tensor>>;
  std::optional<ExtentExpression> of(ValueId value, const Known& known) const;
  std::optional<ExtentExpression> resultOf(const Node& node, const SymbolicInputs& inputs, const Known& known) const;

  std::map<ValueId, ExtentExpression> m_greatest;
};

}  // namespace fusescope
