#include "base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace fusescope {

Result<TemporaryFolder> TemporaryFolder::in(const std::filesystem::path& parent, std::string_view name) {
  std::string path = (parent / (std::string(name) + "-XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr)
    return Diagnostic{
        .message = std::string("no folder for temporary files can be made there: ") + std::strerror(errno),
        .where = {.file = parent.empty() ? "." : parent.string()}};
  return TemporaryFolder(std::filesystem::path(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!m_path.empty()) std::filesystem::remove_all(m_path, ignored);
}

}  // namespace fusescope
