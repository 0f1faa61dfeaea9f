#pragma once

#include <map>
#include <set>
#include <string>

#include "planning/cover.h"

namespace fusescope {

/// Which kernels of a cover hold a node of the file: by the name that the network has for the node, the names of the
/// kernels. Made once, so that many nodes are looked up.
class FileKernels {
 public:
  explicit FileKernels(const Cover& cover);
  /// Empty: no kernel holds it, as one that falls back or that nothing calculates.
  const std::set<std::string>& namesOf(const std::string& node) const;

 private:
  std::map<std::string, std::set<std::string>> m_names;
};

}  // namespace fusescope
