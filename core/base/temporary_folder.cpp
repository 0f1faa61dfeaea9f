#include "base/temporary_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "base/descriptor.h"
#include "base/owned_path.h"

namespace fusescope {
namespace {

constexpr std::string_view kRandom = "XXXXXX";   // replaced by mkdtemp()
constexpr std::string_view kOurs = "fusescope";  // the prefix of all our temporary folders

/// The locked folders of this process, by path.
class OwnFolders {
 public:
  static OwnFolders& all() {
    static auto* const kAll = new OwnFolders;  // never freed, because a folder may be in a static object
    return *kAll;
  }
  void add(const std::string& path, Descriptor lock) {
    const std::lock_guard guard(m_mutex);
    m_locks.emplace(path, std::move(lock));
  }
  void remove(const std::string& path) {
    const std::lock_guard guard(m_mutex);
    m_locks.erase(path);
  }

 private:
  std::mutex m_mutex;
  std::map<std::string, Descriptor> m_locks;
};

}  // namespace

Result<TemporaryFolder> TemporaryFolder::in(const std::filesystem::path& parent, std::string_view name) {
  const std::string stem = std::string(name) + ".";
  removeAbandoned(parent, [&](std::string_view found) {
    if (found.size() <= kRandom.size() + 1) return false;
    const std::string_view its = found.substr(0, found.size() - kRandom.size());
    return its == stem || (its.starts_with(kOurs) && its.ends_with('.'));
  });
  for (;;) {
    std::string path = (parent / stem).string() + std::string(kRandom);
    if (::mkdtemp(path.data()) == nullptr)
      return Diagnostic{
          .message = std::string("no folder for temporary files can be created there: ") + std::strerror(errno),
          .where = {.file = parent.empty() ? "." : parent.string()}};
    Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Until it is locked, even before it is opened, another process may take it for left over and remove it.
    const bool isGone = folder.isOpen() ? !lockNewFile(folder.number()) : errno == ENOENT;
    if (isGone) continue;
    OwnFolders::all().add(path, std::move(folder));
    return TemporaryFolder(std::filesystem::path(path));
  }
}

TemporaryFolder::~TemporaryFolder() {
  if (m_path.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(m_path, ignored);
  OwnFolders::all().remove(m_path.string());
}

}  // namespace fusescope
