#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/descriptor.h"
#include "base/mapped_file.h"

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

/// Lets `write` fill a file beside `path`, given its descriptor, and puts that in its place.
Status replaceFile(const std::filesystem::path& path, const std::function<Status(int)>& write) {
  std::string temporary = path.string() + ".XXXXXX";
  {
    const Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (file.get() < 0) return systemError(path, "cannot create");
    ::fchmod(file.get(), 0644);
    if (Status written = write(file.get()); !written.ok()) {
      ::unlink(temporary.c_str());
      return written;
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const Diagnostic error = systemError(path, "cannot replace");
    ::unlink(temporary.c_str());
    return error;
  }
  return Done{};
}

}  // namespace

Result<std::string> readTextFile(const std::filesystem::path& path) {
  const auto file = TRY(MappedFile::open(path));
  std::string text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  TRY(file->checkIntact());
  return text;
}

Status writePiecesAtomically(const std::filesystem::path& path, std::span<const std::span<const std::byte>> pieces,
                             const std::function<Status()>& check) {
  return replaceFile(path, [&](int fd) -> Status {
    Status written = Done{};
    for (std::size_t i = 0; i < pieces.size() && written.ok(); ++i) written = writePiece(fd, pieces[i], path);
    // Pieces of a file that changed are the cause of whatever went wrong, and worth nothing where nothing did.
    if (check) TRY(check());
    return written;
  });
}

Status writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  return replaceFile(path, [&](int fd) -> Status {
    TRY(writePiece(fd, bytes, path));
    if (::fsync(fd) != 0) return systemError(path, "cannot flush to disk");
    return Done{};
  });
}

Status writeFileAtomically(const std::filesystem::path& path, std::string_view text) {
  return writeFileAtomically(path, std::as_bytes(std::span(text.data(), text.size())));
}

Result<std::filesystem::path> cacheFolder() {
  std::filesystem::path folder;
  if (const char* set = std::getenv("FUSESCOPE_CACHE"); set != nullptr && *set != '\0') {
    folder = set;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    folder = std::filesystem::path(home) / ".cache" / "fusescope";
  } else {
    return Diagnostic{.message = "no folder for caches: neither FUSESCOPE_CACHE nor HOME is set"};
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Diagnostic{.message = "cannot create: " + error.message(), .where = {.file = folder.string()}};
  return folder;
}

}  // namespace fusescope
