#pragma once

#include <list>
#include <map>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "ir/tensor.h"

namespace fusescope {

/// A value of several samples.
using Activations = std::shared_ptr<const std::vector<Tensor>>;

/// Values of runs, kept by what they were calculated of, as far as memory allows: those of the runs that others differ
/// little from, then the latest used. What is kept bears on time alone.
class ActivationStore {
 public:
  explicit ActivationStore(std::size_t mostBytes) : m_mostBytes(mostBytes) {}
  Activations find(const Hash128& key);  ///< null: not there
  void keep(const Hash128& key, const Activations& values);
  /// The values of one run, which go after all others. Another call with the same `run` lets those before go.
  void prefer(std::size_t run, const std::vector<Hash128>& keys);
  std::size_t bytes() const { return m_bytes; }

 private:
  struct Entry {
    Activations values;
    std::size_t bytes = 0;
    int preferred = 0;  ///< by so many runs
    std::list<Hash128>::iterator place;
  };
  void makeRoom();

  std::size_t m_mostBytes, m_bytes = 0, m_preferredBytes = 0;
  std::map<Hash128, Entry> m_entries;
  std::list<Hash128> m_used;  ///< the latest first; of those that no run prefers
  std::map<std::size_t, std::vector<Hash128>> m_runs;
};

}  // namespace fusescope
