#include "base/name_hints.h"

#include "base/text.h"

namespace fusescope {

std::string nearestInWords(std::string_view wanted, const std::vector<std::string>& names, std::string_view otherwise) {
  return nearestInWords(nearestNames(wanted, names), otherwise);
}

std::string nearestInWords(const std::vector<std::string>& near, std::string_view otherwise) {
  if (near.empty()) return std::string(otherwise);
  return (near.size() == 1 ? "The nearest is " : "The nearest are ") + joined(near) + ".";
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::ptrdiff_t kMost = 8;
  if (std::ssize(names) <= kMost) return joined(names);
  return joined({names.begin(), names.begin() + kMost}) + " and " + std::to_string(std::ssize(names) - kMost) + " more";
}

}  // namespace fusescope
