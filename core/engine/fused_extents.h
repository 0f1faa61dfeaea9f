#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/backend.h"

namespace fusescope {

/// What the extents inside a fused node become once its inputs are there. One caller at a time.
class FusedExtents {
 public:
  /// Of `request` plan, fused node and constants count; it is copied.
  explicit FusedExtents(const KernelRequest& request);

  /// The extents of all values of the fused node, inputs and results, in one fixed order (values()). Nothing where some
  /// are known only after running, or an input is no plain tensor; shapes that do not fit are left to the run as well.
  std::optional<std::vector<Dims>> infer(std::span<const Tensor> inputs);
  const std::vector<ValueId>& values() const { return m_values; }

 private:
  /// The fused node's nodes alone, with inputs that may say extents as constants.
  struct Part {
    std::vector<std::optional<Tensor>> known;  ///< by input of the fused node
    std::shared_ptr<const Graph> graph;
    std::vector<ValueId> copies;  ///< of m_values, in `graph`
  };
  Result<Part> partWith(std::vector<std::optional<Tensor>> known) const;

  KernelRequest m_request;
  std::vector<ValueId> m_values;  ///< of the plan's graph
  std::optional<Part> m_part;     ///< of the last call
};

}  // namespace fusescope
