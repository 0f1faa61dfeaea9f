#pragma once

#include <list>
#include <map>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "ir/tensor.h"

namespace fusescope {

/// The tensors of one value for several samples.
using Activations = std::shared_ptr<const std::vector<Tensor>>;

/// Stores values of runs under a hash of what they were calculated from, up to a limit of memory. It prefers the values
/// of runs from which other runs differ little, and then those that were used last. It affects only the time of later
/// runs.
class ActivationStore {
 public:
  explicit ActivationStore(std::size_t mostBytes) : m_mostBytes(mostBytes) {}
  Activations find(const Hash128& key);  ///< null if it is not stored
  void keep(const Hash128& key, const Activations& values);
  /// Marks the values of one run, which are removed only after all others. Another call with the same `run` replaces
  /// the previous values.
  void prefer(std::size_t run, const std::vector<Hash128>& keys);
  std::size_t bytes() const { return m_bytes; }

 private:
  struct Entry {
    Activations values;
    std::size_t bytes = 0;
    int preferred = 0;  ///< the number of runs that prefer it
    std::list<Hash128>::iterator place;
  };
  void makeRoom();

  std::size_t m_mostBytes, m_bytes = 0, m_preferredBytes = 0;
  std::map<Hash128, Entry> m_entries;
  std::list<Hash128> m_used;  ///< entries that no run prefers, most recently used first
  std::map<std::size_t, std::vector<Hash128>> m_runs;
};

}  // namespace fusescope
