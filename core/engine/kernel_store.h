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
#include "engine/kernel.h"

namespace fusescope {

/// Makes kernels, and shares what they are made of for as long as somebody has it: code between equal regions (up to
/// their weights), packed weights between all that read equal constants in the same form. Thread-safe.
class KernelStore {
 public:
  /// `artifacts` is asked for code that can be kept, before it is compiled.
  explicit KernelStore(std::shared_ptr<ArtifactStore> artifacts = noArtifacts()) : m_artifacts(std::move(artifacts)) {}
  /// The one of this process: engines of the same weights share them.
  static KernelStore& ofProcess();

  /// The kernel that runs `request` by `tactic`. Errors: the backend's.
  Result<std::shared_ptr<const Kernel>> kernel(const Backend& backend, const KernelRequest& request,
                                               const Tactic& tactic);
  /// The same for the region of `former`, which was compiled by `tactic` for the extents `from`, at others: `to`, which
  /// are those of `request`. Nobody looks for what is made here: it is for extents that will hardly be met again.
  Result<std::shared_ptr<const Kernel>> atOtherExtents(const Backend& backend, const KernelRequest& request,
                                                       const RegionExtents& from, const RegionExtents& to,
                                                       const Tactic& tactic, const Kernel& former);
  /// Its code alone.
  Result<std::shared_ptr<const Code>> code(const Backend& backend, const KernelRequest& request, const Tactic& tactic);
  Result<std::shared_ptr<const Kernel>> conversion(const Backend& backend, const TensorDesc& from, const TensorDesc& to,
                                                   int threads);

  /// How often something had to be made, and how often it was there.
  struct Counts {
    std::int64_t compiled = 0, sharedCode = 0;
    std::int64_t packed = 0, sharedWeights = 0;
    std::int64_t otherExtents = 0;  ///< code that took other extents as arguments
    std::int64_t restored = 0;      ///< out of the artifact store
  };
  Counts counts() const;

 private:
  struct CodeEntry {
    std::weak_ptr<const Code> code;
    Hash128 embedded;  ///< of what Code::embedded() stands for
    std::shared_ptr<const NodeNames> names;
  };
  /// A packed weight as those have it who read these sources.
  struct PackedOfSources {
    std::shared_ptr<const Packed> packed;
    std::vector<Tensor> sources;  ///< kept as long as it, so that nothing else comes to lie at their addresses
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
  /// Without what its code is found by.
  static Source weightsOf(const Backend& backend, const KernelRequest& request);
  static Source sourceOf(const Backend& backend, const KernelRequest& request, const Tactic& tactic);
  Result<CodeEntry> compiled(const Source& source, std::shared_ptr<const Code>& code);
  Result<CodeEntry> restoredOrCompiled(const Source& source, std::shared_ptr<const Code>& code);
  Result<std::shared_ptr<const Packed>> packed(const Packing& packing, const Source& source);
  Result<std::vector<std::shared_ptr<const Packed>>> allPacked(const Code& code, const Source& source);
  void prune();

  std::shared_ptr<ArtifactStore> m_artifacts;
  mutable std::mutex m_mutex;
  std::map<std::string, std::vector<CodeEntry>> m_code;                    ///< by codeKey()
  std::map<std::string, std::weak_ptr<const PackedOfSources>> m_packedAt;  ///< by form and addresses of the sources
  std::map<std::string, std::weak_ptr<const Packed>> m_packed;             ///< by form and content of the sources
  std::map<std::string, std::weak_ptr<const Code>> m_conversions;          ///< by conversionKey()
  std::size_t m_pruneAt = 0;                                               ///< entries
  Counts m_counts;
};

/// Canonical bytes of all that the code of a region depends on: equal keys are served by one Code, if the constants
/// that it embeds are equal too. Extents, types, formats and threads are part of it; weights, names and ids are not.
std::string codeKey(const Backend& backend, const KernelRequest& request, const Tactic& tactic);

}  // namespace fusescope
