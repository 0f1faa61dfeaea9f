#pragma once

#include <map>
#include <set>
#include <string>

#include "planning/cover.h"

namespace fusescope {

/// Tells which kernels of a cover hold a node of the file. The kernels are indexed when it is made, so that each of
/// many nodes is one look-up. It keeps nothing of the cover.
class FileKernels {
 public:
  explicit FileKernels(const Cover& cover);
  /// The names of the kernels that hold the node of this name. There are none for a node that falls back, that was
  /// folded, or that is a view.
  const std::set<std::string>& namesOf(const std::string& node) const;

 private:
  std::map<std::string, std::set<std::string>> m_names;
};

}  // namespace fusescope
