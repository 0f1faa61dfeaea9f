#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/backend.h"

namespace fusescope {

/// What the extents inside a fused node become once its inputs are there.
class FusedExtents {
 public:
  /// Of `request` plan, fused node and constants count. Of nodes with a body, and of operators whose extents depend on
  /// what they calculate, nothing is ever inferred.
  static Result<FusedExtents> prepare(const KernelRequest& request);

  /// The extents of all values of the fused node, inputs and results, in one fixed order (values()). Nothing where some
  /// are known only after running, or an input is no plain tensor; shapes that do not fit are left to the run as well.
  std::optional<std::vector<Dims>> infer(std::span<const Tensor> inputs) const;
  const std::vector<ValueId>& values() const { return m_values; }

 private:
  std::shared_ptr<const Graph> m_part;  ///< the fused node's nodes alone; null: nothing is inferred
  std::vector<ValueId> m_values;        ///< of the plan's graph, inputs first
  std::vector<ValueId> m_copies;        ///< the same, of m_part
};

}  // namespace fusescope
