#include "probe/answer_folder.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace fusescope {
namespace {

namespace fs = std::filesystem;
constexpr const char* kPrefix = "fusescope-answers-";

/// Whether it is a folder of this user whose lock nobody holds. One without a lock is being made.
bool isAbandoned(const fs::path& folder) {
  struct stat facts {};
  if (::lstat(folder.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) || facts.st_uid != ::getuid()) return false;
  const Descriptor lock(::open((folder / "lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  return lock.isOpen() && ::flock(lock.number(), LOCK_EX | LOCK_NB) == 0;
}

void removeAbandoned(const fs::path& parent) {
  std::error_code failed;
  for (fs::directory_iterator entry(parent, failed), end; !failed && entry != end; entry.increment(failed)) {
    std::error_code ignored;
    if (entry->path().filename().string().starts_with(kPrefix) && isAbandoned(entry->path()))
      fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace

Result<AnswerFolder> AnswerFolder::make() {
  std::error_code failed;
  const fs::path parent = fs::temp_directory_path(failed);
  removeAbandoned(parent);
  std::string path = (parent / (std::string(kPrefix) + "XXXXXX")).string();
  const auto problem = [&] {
    return Diagnostic{.message = fmt::format("no folder for answers can be made there: {}", std::strerror(errno)),
                      .where = {.file = parent.string()}};
  };
  if (failed || ::mkdtemp(path.data()) == nullptr) return problem();
  const std::string unlocked = path + "/new-lock";
  Descriptor lock(::open(unlocked.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.isOpen() || ::flock(lock.number(), LOCK_EX | LOCK_NB) != 0) return problem();
  if (::rename(unlocked.c_str(), (path + "/lock").c_str()) != 0) return problem();  // never there without being locked
  return AnswerFolder(path, std::move(lock));
}

AnswerFolder::~AnswerFolder() {
  std::error_code ignored;
  if (!m_path.empty()) fs::remove_all(m_path, ignored);
}

}  // namespace fusescope
