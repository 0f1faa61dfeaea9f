#include "compilers/tensorrt/server_targets.h"

#include <charconv>
#include <string>

#include "target/target.h"

namespace fusescope {
namespace {

/// Returns the version at the end of a target's name; 0 if it is another target.
int versionOf(std::string_view target) {
  constexpr std::string_view kStart = "tensorrt-";
  int version = 0;
  if (!target.starts_with(kStart)) return 0;
  const auto read = std::from_chars(target.data() + kStart.size(), target.data() + target.size(), version);
  return read.ptr == target.data() + target.size() ? version : 0;
}

}  // namespace

bool isServerTarget(std::string_view target) {
  return versionOf(target) > 0;
}

std::string_view newestServerTarget() {
  static const std::string kNewest = [] {
    std::string newest;
    for (const std::string& name : targetNames())
      if (versionOf(name) > versionOf(newest)) newest = name;
    return newest;
  }();
  return kNewest;
}

}  // namespace fusescope
