#include "probe/file_names.h"

#include <string>

#include "base/text.h"

namespace fusescope {

bool isSafeFileName(std::string_view name) {
  constexpr std::size_t kMost = 1024;
  if (name.empty() || name.size() > kMost || name.find('\\') != name.npos || name.find('\0') != name.npos) return false;
  for (const std::string& part : split(name, '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return true;
}

}  // namespace fusescope
