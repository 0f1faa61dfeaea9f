#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "ir/tensor.h"

namespace fusescope {

/// The limit of memory for activations of one round of samples. The size of all values of one sample determines how
/// many samples are run together.
inline constexpr std::size_t kMostKeptBytes = std::size_t{1} << 30;

/// The values of several samples; each is stored until its last use.
class KeptValues {
 public:
  void willUse(ValueId value) { ++m_uses[value]; }
  bool has(ValueId value) const { return m_tensors.contains(value); }
  /// Stores the value if it will be used.
  void keep(ValueId value, std::vector<Tensor> ofSamples) {
    if (m_uses.contains(value)) m_tensors.insert_or_assign(value, std::move(ofSamples));
  }
  const std::vector<Tensor>& of(ValueId value) const { return m_tensors.at(value); }
  void used(ValueId value) {
    const auto uses = m_uses.find(value);
    if (uses == m_uses.end() || --uses->second > 0) return;
    m_uses.erase(uses);
    m_tensors.erase(value);
  }

 private:
  std::map<ValueId, int> m_uses;
  std::map<ValueId, std::vector<Tensor>> m_tensors;
};

}  // namespace fusescope
