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

/// Says how a weight, in the layout that a kernel reads, is made from the constants of its region. Packings with equal
/// form and equal sources give equal bytes, and are shared because of that.
struct Packing {
  std::string form;                      ///< canonical text: what is calculated, and the memory format of the result
  std::vector<std::size_t> weightSlots;  ///< the sources, as indices in KernelRequest::weightSlots
  /// Makes the weight from the tensors in `weightSlots`; it may return a source unchanged. Thread-safe.
  std::function<Result<Tensor>(std::span<const Tensor> sources)> pack;
  /// true if `pack` may return an error. It is then called when the kernel is made, so that another tactic can be
  /// chosen; other weights are packed when they are first needed.
  bool mayFail = false;
};

/// The extents of the values of a region, in the order of FusedNode::inputs, FusedNode::outputs and innerValues().
struct RegionExtents {
  std::vector<Dims> inputs, outputs, inner;
  bool operator==(const RegionExtents&) const = default;
};

/// A compiled region without its weights. It is const and re-entrant: any number of callers may run it at the same
/// time, each with its own memory. It does not refer to a plan, so that equal regions can share it.
class Code {
 public:
  virtual ~Code() = default;
  /// Returns the bytes of memory that a run needs in addition to its operands, aligned to 64 bytes.
  virtual std::size_t workspaceBytes() const { return 0; }
  /// Returns how each weight of the region must be packed, in the order of `packed` in run().
  virtual std::span<const Packing> packings() const { return {}; }
  /// Returns the constants whose values are part of this code, as indices in KernelRequest::weightSlots. The code can
  /// be used only for regions in which they are equal.
  virtual std::span<const std::size_t> embedded() const { return {}; }
  /// If this code takes extents as arguments, returns it for the extents `to` of the same region; it was compiled for
  /// `from`. This is fast, shares everything that does not depend on extents, and uses the same weights. Returns null
  /// if the region must be compiled for `to`.
  virtual std::shared_ptr<const Code> forExtents(const RegionExtents& from, const RegionExtents& to) const {
    static_cast<void>(from);
    static_cast<void>(to);
    return nullptr;
  }
  /// Returns bytes from which the backend can restore() the code; nothing if the code cannot be kept.
  virtual std::optional<std::string> serialise() const { return std::nullopt; }
  /// Puts the work on `stream`, which belongs to the device of the backend; on the host the work is done when this
  /// returns. `inputs` and `outputs` are in the order of FusedNode and in the formats of the tactic; `packed` is in the
  /// order of packings(). All are addresses on that device, and the spans are read before this returns. Run-time errors
  /// can only come from values (an index out of range); errors that are found later are reported when the stream is
  /// synchronised.
  virtual Status run(Stream& stream, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                     std::span<const std::byte* const> packed, std::byte* workspace) const = 0;
};

}  // namespace fusescope
