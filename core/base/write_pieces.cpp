#include "base/write_pieces.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <optional>
#include <vector>

#include "base/descriptor.h"
#include "base/mapped_file.h"
#include "base/on_two_threads.h"

namespace fusescope {
namespace {

constexpr std::size_t kLeastCopied = 64 * 1024;  ///< bytes of a piece that is read from its file
constexpr std::size_t kRead = 256 * 1024;        ///< bytes that are read at once: they stay in the processor's cache
constexpr std::size_t kPart = 4 * 1024 * 1024;   ///< bytes that a thread takes at once
constexpr std::size_t kLeastShared = 16 * 1024 * 1024;  ///< bytes that two threads write faster than one

/// A mapped file that is read again.
class Source {
 public:
  explicit Source(const MappedFile& file)
      : m_file(file), m_descriptor(::open(file.identity().path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat info {};
    m_isOpen = m_descriptor.number() >= 0 && ::fstat(m_descriptor.number(), &info) == 0 &&
               info.st_dev == file.identity().device && info.st_ino == file.identity().inode;
  }
  bool holds(std::span<const std::byte> bytes) const { return m_isOpen && m_file.holds(bytes.data()); }
  /// Reads the first of `bytes`, which it holds, into `buffer`, at most as many as fit. Returns how many: none if it
  /// became shorter or cannot be read.
  std::size_t read(std::span<const std::byte> bytes, std::span<std::byte> buffer) const {
    const ssize_t got = ::pread(m_descriptor.number(), buffer.data(), std::min(bytes.size(), buffer.size()),
                                static_cast<off_t>(bytes.data() - m_file.bytes().data()));
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }

 private:
  const MappedFile& m_file;
  Descriptor m_descriptor;
  bool m_isOpen = false;
};

/// Bytes, and where they belong in the file.
struct Part {
  std::span<const std::byte> bytes;
  off_t at = 0;
};

/// Returns how many bytes there are from `at` to the next multiple of `size`. Writes that end there fill whole pages,
/// which file systems then handle together.
std::size_t untilMultiple(off_t at, std::size_t size) {
  return size - static_cast<std::size_t>(at) % size;
}

class Writer {
 public:
  Writer(int to, const std::filesystem::path& path, std::span<const std::span<const std::byte>> pieces,
         std::span<const std::shared_ptr<const MappedFile>> sources)
      : m_to(to), m_path(path) {
    for (const auto& file : sources) m_sources.push_back(std::make_unique<Source>(*file));
    for (std::span<const std::byte> piece : pieces)
      while (!piece.empty()) {
        const std::size_t bytes = std::min(piece.size(), untilMultiple(m_end, kPart));
        m_parts.push_back({.bytes = piece.first(bytes), .at = m_end});
        m_end += static_cast<off_t>(bytes);
        piece = piece.subspan(bytes);
      }
  }

  Status run() {
    // Room is not reserved with fallocate(): that halves the time of one file, but after a few gigabytes ext4 then
    // waits for the disk, which takes ten times as long.
    if (m_end < static_cast<off_t>(kLeastShared))
      writeParts();
    else
      onTwoThreads(2, [this](std::size_t) { writeParts(); });
    return m_error ? Status(*m_error) : Status(Done{});
  }

 private:
  void writeParts() {
    std::vector<std::byte> buffer;
    for (std::size_t next = m_next++; next < m_parts.size(); next = m_next++) {
      const Status written = write(m_parts[next], buffer);
      if (written.ok()) continue;
      m_next = m_parts.size();
      const std::scoped_lock lock(m_mutex);
      if (!m_error) m_error = written.error();
    }
  }

  Status write(Part part, std::vector<std::byte>& buffer) const {
    const auto source = std::ranges::find_if(m_sources, [&](const auto& each) { return each->holds(part.bytes); });
    while (source != m_sources.end() && part.bytes.size() >= kLeastCopied) {
      buffer.resize(kRead);
      const std::size_t got = (*source)->read(part.bytes, std::span(buffer).first(untilMultiple(part.at, kRead)));
      if (got == 0) break;  // the rest is written from the mapping
      TRY(put({.bytes = std::span(buffer).first(got), .at = part.at}));
      part = {.bytes = part.bytes.subspan(got), .at = part.at + static_cast<off_t>(got)};
    }
    return put(part);
  }

  Status put(Part part) const {
    while (!part.bytes.empty()) {
      const ssize_t written = ::pwrite(m_to, part.bytes.data(), part.bytes.size(), part.at);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return systemError(m_path, "cannot write");
      part = {.bytes = part.bytes.subspan(static_cast<std::size_t>(written)), .at = part.at + written};
    }
    return Done{};
  }

  const int m_to;
  const std::filesystem::path& m_path;
  std::vector<std::unique_ptr<Source>> m_sources;
  std::vector<Part> m_parts;
  off_t m_end = 0;
  std::atomic<std::size_t> m_next = 0;  ///< of the parts, that nobody took yet
  std::mutex m_mutex;
  std::optional<Diagnostic> m_error;  ///< the first
};

}  // namespace

Status writePieces(int to, const std::filesystem::path& path, std::span<const std::span<const std::byte>> pieces,
                   std::span<const std::shared_ptr<const MappedFile>> sources) {
  return Writer(to, path, pieces, sources).run();
}

}  // namespace fusescope
