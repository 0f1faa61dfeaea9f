#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/descriptor.h"
#include "base/mapped_file.h"
#include "base/owned_path.h"
#include "base/temporary_folder.h"
#include "base/write_pieces.h"

namespace fusescope {
namespace {

Status writePiece(int fd, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return systemError(path, "cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return Done{};
}

/// A function that fills a file, given its descriptor and its path.
using Fill = std::function<Status(int, const std::string&)>;

constexpr int kMostLinks = 40, kMostTries = 100;

struct stat statusOf(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) info.st_mode = 0;
  return info;
}

/// Returns whether it is a device or a pipe, which another file cannot replace.
bool isSpecial(const struct stat& info) {
  return info.st_mode != 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/// Returns where the symbolic links at its end lead.
std::filesystem::path behindLinks(std::filesystem::path path) {
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, error); ++i)
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  return path;
}

/// Returns whether a file called `name` is one that createdBeside() makes for `target`: "TARGET.PROCESS-NUMBER".
bool isBeside(std::string_view name, std::string_view target) {
  if (!name.starts_with(target) || !name.substr(target.size()).starts_with('.')) return false;
  const std::string_view rest = name.substr(target.size() + 1);
  const std::size_t dash = rest.find('-');
  const auto isNumber = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dash != std::string_view::npos && isNumber(rest.substr(0, dash)) && isNumber(rest.substr(dash + 1));
}

/// Makes an empty file called `path` with a suffix, with the permissions of new files. Such files of this path that
/// killed processes left are removed.
int createdBeside(const std::filesystem::path& path, std::string& name) {
  static std::atomic<unsigned> number = 0;
  removeAbandoned(path.parent_path(),
                  [target = path.filename().string()](std::string_view found) { return isBeside(found, target); });
  for (int i = 0; i < kMostTries; ++i) {
    name = path.string() + "." + std::to_string(::getpid()) + "-" + std::to_string(++number);
    Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.number() < 0 && errno != EEXIST) return -1;
    if (file.number() >= 0 && lockNewFile(file.number())) return file.release();
  }
  return -1;
}

/// Fills a temporary file and copies it to the device or pipe `path`.
Status writeThrough(const std::filesystem::path& path, const Fill& fill) {
  const Descriptor to(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (to.number() < 0) return systemError(path, "cannot open");
  std::error_code error;
  const auto temporary = std::filesystem::temp_directory_path(error);
  if (error) return Diagnostic{.message = "there is no folder for temporary files: " + error.message()};
  const TemporaryFolder folder = TRY(TemporaryFolder::in(temporary, "fusescope-output"));
  std::string name;
  {
    const Descriptor file(createdBeside(folder / "file", name));
    if (file.number() < 0) return systemError(name, "cannot create");
    TRY(fill(file.number(), name));
  }
  return writePiece(to.number(), TRY(MappedFile::open(name))->bytes(), path);
}

/// Gives the file `temporary` the name `path`; false and errno if that fails.
using Put = bool (*)(const std::filesystem::path& temporary, const std::filesystem::path& path);

bool put(const std::filesystem::path& temporary, const std::filesystem::path& path) {
  return ::rename(temporary.c_str(), path.c_str()) == 0;
}

/// Does the same for a file that is not on disk yet. If it replaces another by rename(), the system starts to write it
/// to disk (ext4), which takes longer than everything else: the two change their names instead, and the other is
/// removed. If that is not possible there, or there is no other, it is renamed.
bool putUnflushed(const std::filesystem::path& temporary, const std::filesystem::path& path) {
  if (!S_ISREG(statusOf(path).st_mode) ||
      ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) != 0)
    return put(temporary, path);
  ::unlink(temporary.c_str());  // the other one
  return true;
}

/// Makes `fill` fill a file beside `path` and replaces `path` by it, with the same permissions. Symbolic links stay,
/// and the file to which they lead is replaced; a device or pipe is written to.
Status replaceFile(const std::filesystem::path& given, const Fill& fill, Put putInPlace = put) {
  const struct stat before = statusOf(given);
  if (isSpecial(before)) return writeThrough(given, fill);
  const std::filesystem::path path = behindLinks(given);
  std::string temporary;
  const Descriptor file(createdBeside(path, temporary));  // while it is open, it is locked until it has its name
  if (file.number() < 0) return systemError(given, "cannot create");
  struct stat made {};
  ::fstat(file.number(), &made);
  Status written = fill(file.number(), temporary);
  const mode_t mode = (before.st_mode != 0 ? before.st_mode : made.st_mode) & 07777;
  if (written.ok() && ::chmod(temporary.c_str(), mode) != 0) written = systemError(given, "cannot set the permissions");
  if (!written.ok()) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (!putInPlace(temporary, path)) {
    const Diagnostic error = systemError(given, "cannot replace");
    ::unlink(temporary.c_str());
    return error;
  }
  return Done{};
}

}  // namespace

Status checkWritable(const std::filesystem::path& path) {
  const auto bad = [&](std::string message) {
    return Diagnostic{.message = "cannot be written: " + std::move(message), .where = {.file = path.string()}};
  };
  if (path.empty()) return bad("the path is empty");
  const struct stat info = statusOf(path);
  if (S_ISDIR(info.st_mode)) return bad("it is a folder");
  if (isSpecial(info)) return ::access(path.c_str(), W_OK) == 0 ? Status(Done{}) : bad(std::strerror(errno));
  std::filesystem::path folder = behindLinks(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!S_ISDIR(statusOf(folder).st_mode)) return bad("there is no folder " + folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return bad(std::strerror(errno));
  return Done{};
}

Result<std::string> readTextFile(const std::filesystem::path& path) {
  const auto file = TRY(MappedFile::open(path));
  std::string text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  TRY(file->checkIntact());
  return text;
}

Status writePiecesAtomically(const std::filesystem::path& path, std::span<const std::span<const std::byte>> pieces,
                             const std::function<Status()>& check,
                             std::span<const std::shared_ptr<const MappedFile>> sources) {
  const auto fill = [&](int fd, const std::string&) -> Status {
    const Status written = writePieces(fd, path, pieces, sources);
    // If a file changed, its pieces are the cause of any error, and they are useless even if there was none.
    if (check) TRY(check());
    return written;
  };
  return replaceFile(path, fill, putUnflushed);
}

Status writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  return replaceFile(path, [&](int fd, const std::string&) -> Status {
    TRY(writePiece(fd, bytes, path));
    if (::fsync(fd) != 0) return systemError(path, "cannot flush to disk");
    return Done{};
  });
}

Status writeFileAtomically(const std::filesystem::path& path, std::string_view text) {
  return writeFileAtomically(path, std::as_bytes(std::span(text.data(), text.size())));
}

Status writeFileAtomically(const std::filesystem::path& path,
                           const std::function<Status(const std::filesystem::path& temporary)>& write) {
  return replaceFile(path, [&](int, const std::string& temporary) -> Status {
    TRY(write(temporary));
    const Descriptor file(::open(temporary.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number() < 0) return systemError(path, "cannot open what was written");
    if (::fsync(file.number()) != 0) return systemError(path, "cannot flush to disk");
    return Done{};
  });
}

std::string absolutePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

Result<std::filesystem::path> cacheFolder() {
  std::filesystem::path folder;
  if (const char* set = std::getenv("FUSESCOPE_CACHE"); set != nullptr && *set != '\0') {
    folder = set;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    folder = std::filesystem::path(home) / ".cache" / "fusescope";
  } else {
    return Diagnostic{.message = "there is no folder for caches, because neither FUSESCOPE_CACHE nor HOME is set"};
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Diagnostic{.message = "cannot create: " + error.message(), .where = {.file = folder.string()}};
  return folder;
}

}  // namespace fusescope
