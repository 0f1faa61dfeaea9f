#pragma once

#include <map>
#include <string>

namespace fusescope {

/// Tells kernels apart that a compiler calls alike: the second "a" is "a #2", in the order in which they are asked for.
class KernelNames {
 public:
  std::string next(std::string name) {
    const int count = ++m_count[name];
    return count == 1 ? name : name + " #" + std::to_string(count);
  }

 private:
  std::map<std::string, int> m_count;
};

}  // namespace fusescope
