#pragma once

#include <map>
#include <set>
#include <string>

#include "planning/cover.h"

namespace fusescope {

/// Finds the kernels of a cover that contain a node of the file. The kernels are indexed once, so that each query is
/// one look-up. The object does not refer to the cover.
class FileKernels {
 public:
  explicit FileKernels(const Cover& cover);
  /// Returns the names of the kernels that contain the node of this name. The set is empty for a node that falls back,
  /// was folded, or is a view.
  const std::set<std::string>& namesOf(const std::string& node) const;

 private:
  std::map<std::string, std::set<std::string>> m_names;
};

}  // namespace fusescope
