#include "base/owned_path.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.h"

namespace fusescope {
namespace {

bool lock(int descriptor, int how) {
  while (::flock(descriptor, how) != 0)
    if (errno != EINTR) return false;
  return true;
}

}  // namespace

bool lockNewFile(int descriptor) {
  if (!lock(descriptor, LOCK_EX)) return true;
  struct stat now {};
  return ::fstat(descriptor, &now) != 0 || now.st_nlink > 0;
}

void removeAbandoned(const std::filesystem::path& folder, const std::function<bool(std::string_view name)>& isOurs) {
  std::error_code failed, ignored;
  const std::filesystem::path at = folder.empty() ? "." : folder;
  for (std::filesystem::directory_iterator entry(at, failed), end; !failed && entry != end; entry.increment(failed)) {
    struct stat found {};
    if (!isOurs(entry->path().filename().native()) || ::lstat(entry->path().c_str(), &found) != 0) continue;
    if (found.st_uid != ::getuid() || (!S_ISDIR(found.st_mode) && !S_ISREG(found.st_mode))) continue;
    const Descriptor left(::open(entry->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (left.isOpen() && lock(left.number(), LOCK_EX | LOCK_NB)) std::filesystem::remove_all(entry->path(), ignored);
  }
}

}  // namespace fusescope
