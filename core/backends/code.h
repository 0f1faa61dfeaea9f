#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/device.h"
#include "base/result.h"
#include "ir/tensor.h"

namespace fusescope {

/// How a weight as a kernel reads it is made of the constants of its region. Packings of equal form and equal sources
/// are equal bytes, whoever asks: that is what they are shared by.
struct Packing {
  std::string form;                      ///< canonical: what is calculated, and the memory format of the result
  std::vector<std::size_t> weightSlots;  ///< the sources: places in KernelRequest::weightSlots
  /// Makes it of the tensors in `weightSlots`; may hand a source on as it is. Thread-safe.
  std::function<Result<Tensor>(std::span<const Tensor> sources)> pack;
};

/// Extents of the values of a region: as FusedNode::inputs, FusedNode::outputs and innerValues().
struct RegionExtents {
  std::vector<Dims> inputs, outputs, inner;
  bool operator==(const RegionExtents&) const = default;
};

/// A compiled region without its weights. Const and re-entrant: any number of callers may run it beside each other,
/// each with memory of its own. It points into no plan, so that equal regions share it.
class Code {
 public:
  virtual ~Code() = default;
  /// Memory that a run needs besides its operands, 64-byte aligned.
  virtual std::size_t workspaceBytes() const { return 0; }
  /// What the region's weights must be packed to, in the order of `packed` in run().
  virtual std::span<const Packing> packings() const { return {}; }
  /// Places in KernelRequest::weightSlots of constants whose values are part of this code: it serves only regions where
  /// they are equal.
  virtual std::span<const std::size_t> embedded() const { return {}; }
  /// This code, which is for the extents `from`, for others of its region, if it takes extents as arguments: quickly,
  /// sharing what does not depend on them, with the same weights. Null where the region must be compiled for them.
  virtual std::shared_ptr<const Code> forExtents(const RegionExtents& from, const RegionExtents& to) const {
    static_cast<void>(from);
    static_cast<void>(to);
    return nullptr;
  }
  /// Bytes out of which its backend can restore() it; nothing where it cannot be kept.
  virtual std::optional<std::string> serialise() const { return std::nullopt; }
  /// Enqueues itself on `stream`, of the device of its backend; on the host it is done when this returns. `inputs` as
  /// FusedNode::inputs, `outputs` as FusedNode::outputs, in the formats of the tactic; `packed` as packings():
  /// addresses on that device, which are read before this returns. The only run-time errors are of values (an index out
  /// of range); those that are found later are given when the stream is synchronised.
  virtual Status run(Stream& stream, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                     std::span<const std::byte* const> packed, std::byte* workspace) const = 0;
};

}  // namespace fusescope
