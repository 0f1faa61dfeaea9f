#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backends/code.h"
#include "backends/cpu_device.h"

namespace fusescope {

/// A weight in the form that code reads, shared by all kernels that need it. It is packed when it is first needed,
/// since an engine that is only written to its file needs no packed weights. Thread-safe.
class Packed {
 public:
  struct Data {
    Tensor tensor;
    bool inFile = false;  ///< true if it is a view of a mapped file and needs no memory of its own
  };
  using Pack = std::function<Result<std::shared_ptr<const Data>>()>;
  explicit Packed(Pack pack) : m_pack(std::move(pack)) {}
  /// Packs the weight, unless that was done. Errors: those of Packing::pack.
  Status pack() const;
  /// Returns null until the weight is packed.
  std::shared_ptr<const Data> data() const;

 private:
  Pack m_pack;
  mutable std::mutex m_mutex;
  mutable std::shared_ptr<const Data> m_data;
};
/// A set of weights, in which each is counted once.
using PackedSet = std::set<std::shared_ptr<const Packed>>;
/// Returns the memory, in bytes, that those of `weights` own that are packed and are not in `known` as well.
std::int64_t bytesOf(const PackedSet& weights, const PackedSet& known = {});

/// The names of the nodes of a region, in its order.
using NodeNames = std::vector<std::string>;

/// Code together with the weights of one region, ready to run. Like its code it is const and re-entrant.
class Kernel {
 public:
  /// `packed` is in the order of Code::packings().
  Kernel(std::shared_ptr<const Code> code, std::vector<std::shared_ptr<const Packed>> packed);
  /// Translates names in errors. The code may have been compiled for an equal region, and its errors then contain the
  /// names `compiled`; they are replaced by the names `own`.
  void rename(std::shared_ptr<const NodeNames> compiled, std::shared_ptr<const NodeNames> own);
  /// Returns the same region with other `code`, which was compiled for other extents of this region or of an equal
  /// region with the node names `compiled`. Returns null if that code reads weights in another form, or embeds other
  /// constants than the present code.
  std::shared_ptr<const Kernel> withCode(std::shared_ptr<const Code> code,
                                         std::shared_ptr<const NodeNames> compiled) const;

  const std::shared_ptr<const NodeNames>& names() const { return m_names; }
  const std::shared_ptr<const NodeNames>& compiledNames() const { return m_compiledNames; }
  const std::shared_ptr<const Code>& code() const { return m_code; }
  std::size_t workspaceBytes() const { return m_code->workspaceBytes(); }
  void addWeights(PackedSet& weights) const { weights.insert(m_weights->packed.begin(), m_weights->packed.end()); }
  /// Packs its weights, unless that was done: the first run does it otherwise. Errors: those of Packing::pack.
  Status packWeights() const;
  /// Runs the code with its weights; see Code::run().
  Status run(Stream& stream, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::byte* workspace) const;
  /// Runs it on the host.
  Status run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::byte* workspace) const {
    return run(hostStream(), inputs, outputs, workspace);
  }
  /// Returns an error of the code with the names of this kernel's nodes.
  Diagnostic own(Diagnostic error) const;

 private:
  struct Weights {
    explicit Weights(std::vector<std::shared_ptr<const Packed>> all) : packed(std::move(all)) {}
    std::vector<std::shared_ptr<const Packed>> packed;
    mutable std::mutex mutex;
    mutable std::atomic<bool> arePacked = false;
    mutable std::vector<const std::byte*> addresses;  ///< set before `arePacked`, and never changed after it
  };
  std::shared_ptr<const Code> m_code;
  std::shared_ptr<const Weights> m_weights;                   ///< the same at all extents
  std::shared_ptr<const NodeNames> m_compiledNames, m_names;  ///< of the region that was compiled, and its own
};

}  // namespace fusescope
