#include "base/named_file.h"

#include <system_error>

namespace fusescope {

std::filesystem::path fileNamedIn(const std::filesystem::path& holder, const std::string& named) {
  const std::filesystem::path asWritten = named, folder = holder.parent_path();
  for (const auto& place : {asWritten, folder / asWritten, folder / asWritten.filename()}) {
    std::error_code error;
    if (std::filesystem::exists(place, error)) return place;
  }
  return asWritten;
}

}  // namespace fusescope
