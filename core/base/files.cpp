#include "base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace fusescope {
namespace {

/// Closes on leaving the scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : m_fd(fd) {}
  ~Descriptor() {
    if (m_fd >= 0) ::close(m_fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return m_fd; }

 private:
  int m_fd;
};

Diagnostic systemError(const std::filesystem::path& path, std::string_view action) {
  return {.message = std::string(action) + ": " + std::strerror(errno), .where = {.file = path.string()}};
}

Status writePiece(int fd, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return systemError(path, "cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return Done{};
}

Status writeAll(int fd, std::span<const std::span<const std::byte>> pieces, const std::filesystem::path& path) {
  for (const std::span<const std::byte> piece : pieces) TRY(writePiece(fd, piece, path));
  if (::fsync(fd) != 0) return systemError(path, "cannot flush to disk");
  return Done{};
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return systemError(path, "cannot open");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return systemError(path, "cannot read its size");
  if (!S_ISREG(info.st_mode)) return Diagnostic{.message = "is not a regular file", .where = {.file = path.string()}};
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) return std::shared_ptr<const MappedFile>(new MappedFile({}));
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) return systemError(path, "cannot map");
  return std::shared_ptr<const MappedFile>(new MappedFile({static_cast<const std::byte*>(address), size}));
}

MappedFile::~MappedFile() {
  if (!m_bytes.empty()) ::munmap(const_cast<std::byte*>(m_bytes.data()), m_bytes.size());
}

Result<std::string> readTextFile(const std::filesystem::path& path) {
  const auto file = TRY(MappedFile::open(path));
  return std::string(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
}

Status writePiecesAtomically(const std::filesystem::path& path, std::span<const std::span<const std::byte>> pieces) {
  std::string temporary = path.string() + ".XXXXXX";
  {
    const Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (file.get() < 0) return systemError(path, "cannot create");
    ::fchmod(file.get(), 0644);
    Status written = writeAll(file.get(), pieces, path);
    if (!written.ok()) {
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

Status writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  return writePiecesAtomically(path, std::span(&bytes, 1));
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
