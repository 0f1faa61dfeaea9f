#pragma once

#include <map>
#include <string>

namespace fusescope {

/// Makes names of kernels unique: the second kernel "a" becomes "a #2", in the order of calls.
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
