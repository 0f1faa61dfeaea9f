#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/name_map.h"

namespace fusescope {

/// Returns names that are not used yet: `name`, or `name#2`, `name#3`, … if it is used.
class UniqueNames {
 public:
  std::string take(const std::string& wanted);
  void reserve(std::size_t names) { m_used.reserve(names); }
  bool isUsed(std::string_view name) const { return m_used.contains(name); }

 private:
  NameSet m_used;
  std::unordered_map<std::string, int> m_lastNumber;
};

}  // namespace fusescope
