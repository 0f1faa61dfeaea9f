#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/hash.h"
#include "cache/kept_store.h"
#include "tests/support/paths.h"
#include "tests/unit/cache/mutant_network.h"

namespace fusescope::test {

/// Keeps entries in the memory of the test.
class HeldStore final : public KeptStore {
 public:
  std::optional<Kept> find(std::string_view kind, std::string_view key) override;
  bool keep(const KeptFacts& facts, std::string_view key, std::string_view bytes) override;
  std::string problem() const override { return {}; }
  std::vector<DamagedEntry> takeDamaged() override { return {}; }

 private:
  std::map<std::pair<std::string, std::string>, Kept> m_kept;
};

/// A key and the meaning of that for which it was made. Two things with equal keys must have equal meanings.
struct KeyOfMeaning {
  Hash128 key, meaning;
  auto operator<=>(const KeyOfMeaning&) const = default;
};

/// These are the keys of a region. Each meaning is the hash of a text about the region that the test writes
/// without the functions that make keys.
struct RegionKeys {
  KeyOfMeaning region;   ///< regionKey()
  KeyOfMeaning request;  ///< requestKey(): what a build takes over from an earlier one, its tactics among it
  KeyOfMeaning code;     ///< codeKey() and the constants that the code contains
  KeyOfMeaning timing;   ///< timingKey() of the first tactic
  KeyOfMeaning tactics;  ///< regionKey(), by which one build asks for tactics once (TacticChooser::offered)
  auto operator<=>(const RegionKeys&) const = default;
};

/// A network has these keys, and this plan.
struct NetworkKeys {
  std::shared_ptr<const Plan> plan;  ///< of our own compiler
  std::vector<RegionKeys> regions;   ///< sorted; those of bodies are among them
  KeyOfMeaning network;              ///< answerKey() of the question to another compiler
};

/// Makes the keys of networks.
class KeyMaker {
 public:
  /// Returns nothing if the text is not a valid network, or if the compiler cannot be asked for what is asked.
  std::optional<NetworkKeys> keysOf(const MutantNetwork& network);
  /// Removes the files of all networks so far, which plans of them need.
  void removeFiles() { m_folder.emplace(); }

 private:
  /// This is what the backend makes of regions that are equal in everything.
  struct Made {
    std::string tactics, code;
    Tactic first;
    std::vector<std::size_t> embedded;
  };
  void addRegions(const Plan& plan, const std::map<std::string, Dims>& extents, int threads, NetworkKeys& keys);
  RegionKeys keysOf(const KernelRequest& request);
  const Made& madeOf(const KernelRequest& request, const std::string& everything);

  std::optional<TemporaryFolder> m_folder{std::in_place};
  int m_written = 0;  ///< networks: a file is not written again while somebody has it
  HeldStore m_store;
  std::map<Hash128, Made> m_made;
};

/// Returns whether `plan`, built with the kernels and the memory of a build of `before`, gives what it gives when it is
/// built alone.
bool isRightBehind(const std::shared_ptr<const Plan>& before, const std::shared_ptr<const Plan>& plan);

/// Returns the graph with everything that it calculates, and without names.
std::string meaningOf(const Graph& graph);
/// Returns everything that a kernel for `request` may depend on. `hasContent` says of which constants the elements are
/// part of the text.
std::string meaningOf(const KernelRequest& request, const std::function<bool(const Tensor&, std::size_t)>& hasContent);
/// Returns only what it calculates with which constants of structure: no order of inputs and outputs, and no bindings.
std::string structureOf(const KernelRequest& request);

}  // namespace fusescope::test
