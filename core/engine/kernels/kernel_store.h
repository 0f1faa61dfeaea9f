#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/hash.h"
#include "cache/artifact_store.h"
#include "engine/kernels/kernel.h"

namespace fusescope {

/// Makes kernels, and shares their parts as long as one kernel uses them: equal regions (up to their weights) share
/// code, and all readers of equal constants in the same form share the packed weight. Thread-safe.
class KernelStore {
 public:
  /// Before code that can be kept is compiled, `artifacts` is asked for it.
  explicit KernelStore(std::shared_ptr<ArtifactStore> artifacts = noArtifacts());
  /// Returns the store of this process, through which engines with the same weights share them.
  static KernelStore& ofProcess();

  /// Returns the kernel that runs `request` with `tactic`, and in `isCompiled`, if it is given, whether code was
  /// compiled for it. Errors: those of the backend.
  Result<std::shared_ptr<const Kernel>> kernel(const Backend& backend, const KernelRequest& request,
                                               const Tactic& tactic, bool* isCompiled = nullptr);
  /// Returns a kernel for the region of `former`, which was compiled with `tactic` for the extents `from`, at the
  /// extents `to`, which are those of `request`. The result is not stored for other callers, because these extents will
  /// rarely occur again.
  Result<std::shared_ptr<const Kernel>> atOtherExtents(const Backend& backend, const KernelRequest& request,
                                                       const RegionExtents& from, const RegionExtents& to,
                                                       const Tactic& tactic, const Kernel& former);
  /// Returns only the code of such a kernel.
  Result<std::shared_ptr<const Code>> code(const Backend& backend, const KernelRequest& request, const Tactic& tactic);
  Result<std::shared_ptr<const Kernel>> conversion(const Backend& backend, const TensorDesc& from, const TensorDesc& to,
                                                   int threads);

  /// Counts how often a part was made, and how often an existing one was shared.
  struct Counts {
    std::int64_t compiled = 0, sharedCode = 0;
    std::int64_t packed = 0, sharedWeights = 0;
    std::int64_t otherExtents = 0;  ///< code that was adapted to other extents by passing them as arguments
    std::int64_t restored = 0;      ///< code that came from the artifact store
  };
  Counts counts() const;

 private:
  struct CodeEntry {
    std::weak_ptr<const Code> code;
    Hash128 embedded;  ///< of the constants that Code::embedded() lists
    std::shared_ptr<const NodeNames> names;
  };
  /// What a kernel of a region is made of.
  struct Source {
    const Backend& backend;
    const MappedFiles& files;
    std::vector<Tensor> constants{};  ///< by weight slot
    std::string key{};                ///< canonical bytes of all that its code depends on
    NodeNames names{};
    std::function<Result<std::unique_ptr<const Code>>()> compile{};
  };
  /// Returns the source of the weights, without the parts by which the code is found.
  static Source weightsOf(const Backend& backend, const KernelRequest& request);
  static Source sourceOf(const Backend& backend, const KernelRequest& request, const Tactic& tactic);
  Result<CodeEntry> compiled(const Source& source, std::shared_ptr<const Code>& code);
  Result<CodeEntry> restoredOrCompiled(const Source& source, std::shared_ptr<const Code>& code);
  std::shared_ptr<const Packed> packed(const Packing& packing, const Source& source);
  std::vector<std::shared_ptr<const Packed>> allPacked(const Code& code, const Source& source);
  class PackedContents;
  void prune();

  std::shared_ptr<ArtifactStore> m_artifacts;
  mutable std::mutex m_mutex;
  std::map<std::string, std::vector<CodeEntry>> m_code;            ///< by codeKey()
  std::map<std::string, std::weak_ptr<const Packed>> m_packedAt;   ///< by form and addresses of the sources
  std::map<std::string, std::weak_ptr<const Code>> m_conversions;  ///< by conversionKey()
  std::shared_ptr<PackedContents> m_packed;                        ///< kernels may outlive the store
  std::size_t m_pruneAt = 0;                                       ///< entries
  Counts m_counts;
};

/// Returns the canonical bytes of everything that the code of a region depends on: regions with equal keys share one
/// Code if the constants that it embeds are equal too. Extents, types, formats and threads are part of the key;
/// weights, names and ids are not.
std::string codeKey(const Backend& backend, const KernelRequest& request, const Tactic& tactic);
/// Returns the same without a tactic: the canonical bytes of everything that the tactics of a region, and the code of
/// each, depend on, with the content of its small constants. `region` is regionKey(request).
std::string requestKey(const Backend& backend, const KernelRequest& request, const std::string& region);

}  // namespace fusescope
