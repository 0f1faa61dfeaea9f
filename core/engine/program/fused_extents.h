#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/backend.h"

namespace fusescope {

class Graph;

/// Computes the extents of all values inside a fused node once the extents of its inputs are known.
class FusedExtents {
 public:
  /// Uses the plan, fused node and constants of `request`. Nothing can be inferred for nodes with a body, or for
  /// operators whose extents depend on calculated data.
  static Result<FusedExtents> prepare(const KernelRequest& request);

  /// Returns the extents of all values of the fused node, inputs and results, in the order of values(). Returns nothing
  /// if some extents are known only after the node ran, if an input is not a plain tensor, or if shapes do not fit; the
  /// run then reports the error.
  std::optional<std::vector<Dims>> infer(std::span<const Tensor> inputs) const;
  const std::vector<ValueId>& values() const { return m_values; }

 private:
  std::shared_ptr<const Graph> m_part;  ///< the fused node's nodes alone; null: nothing is inferred
  std::vector<ValueId> m_values;        ///< of the plan's graph, inputs first
  std::vector<ValueId> m_copies;        ///< the same, of m_part
};

}  // namespace fusescope
