#pragma once

#include <map>
#include <memory>
#include <vector>

#include "ops/op_schema.h"
#include "ops/symbolic_values.h"

namespace fusescope {

/// What no element of an integer value can be greater than: positions that a network counts itself (Range) and takes
/// rows of a table by.
class GreatestElements {
 public:
  /// Looks at `node` after its inputs. `known`: values by ValueId. A Gather by such positions demands that its table
  /// reaches as far.
  void visit(const Node& node, const SymbolicInputs& inputs, const std::vector<std::shared_ptr<const Tensor>>& known,
             std::vector<ExtentDemand>& demands);

 private:
  using Known = std::vector<std::shared_ptr<const Tensor>>;
  std::optional<ExtentExpression> of(ValueId value, const Known& known) const;
  std::optional<ExtentExpression> resultOf(const Node& node, const SymbolicInputs& inputs, const Known& known) const;

  std::map<ValueId, ExtentExpression> m_greatest;
};

}  // namespace fusescope
