#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/name_map.h"

namespace fusescope {

/// Hands out names that nobody has yet: `name`, else `name#2`, `name#3`, ….
class UniqueNames {
 public:
  std::string take(const std::string& wanted);
  void reserve(std::size_t names) { m_taken.reserve(names); }
  bool taken(std::string_view name) const { return m_taken.contains(name); }

 private:
  NameSet m_taken;
  std::unordered_map<std::string, int> m_lastNumber;
};

}  // namespace fusescope
