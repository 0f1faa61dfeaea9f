#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "backends/code.h"
#include "backends/cpu_device.h"

namespace fusescope {

/// A weight in the form that code reads, shared by all who need it.
struct Packed {
  Tensor data;
  bool inFile = false;  ///< a view of a mapped file, not memory of its own
};
/// Weights, each counted once.
using PackedSet = std::set<std::shared_ptr<const Packed>>;
/// Memory of their own, in bytes.
std::int64_t bytesOf(const PackedSet& weights);

/// Names of the nodes of a region, in its order.
using NodeNames = std::vector<std::string>;

/// Code with the weights of one region: ready to run. Const and re-entrant, as its code.
class Kernel {
 public:
  /// `packed` as Code::packings().
  Kernel(std::shared_ptr<const Code> code, std::vector<std::shared_ptr<const Packed>> packed);
  /// Code that was compiled for an equal region: its errors name that one's nodes, which stand for these.
  void rename(std::shared_ptr<const NodeNames> compiled, std::shared_ptr<const NodeNames> own);
  /// The same region by `code`, which was compiled for it, or for an equal one whose nodes `compiled` names, at other
  /// extents. Null where that reads weights in another form, or holds others than the code of before.
  std::shared_ptr<const Kernel> withCode(std::shared_ptr<const Code> code,
                                         std::shared_ptr<const NodeNames> compiled) const;

  const std::shared_ptr<const NodeNames>& names() const { return m_names; }
  const std::shared_ptr<const NodeNames>& compiledNames() const { return m_compiledNames; }
  const std::shared_ptr<const Code>& code() const { return m_code; }
  std::size_t workspaceBytes() const { return m_code->workspaceBytes(); }
  void addWeights(PackedSet& weights) const { weights.insert(m_weights->packed.begin(), m_weights->packed.end()); }
  /// As Code::run().
  Status run(Stream& stream, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::byte* workspace) const;
  /// The same on the host.
  Status run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::byte* workspace) const {
    return run(hostStream(), inputs, outputs, workspace);
  }
  /// An error of its code, as this kernel's.
  Diagnostic own(Diagnostic error) const;

 private:
  struct Weights {
    std::vector<std::shared_ptr<const Packed>> packed;
    std::vector<const std::byte*> addresses;
  };
  std::shared_ptr<const Code> m_code;
  std::shared_ptr<const Weights> m_weights;                   ///< the same at all extents
  std::shared_ptr<const NodeNames> m_compiledNames, m_names;  ///< of the region that was compiled, and its own
};

}  // namespace fusescope
