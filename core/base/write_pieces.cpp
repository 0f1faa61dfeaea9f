#include "base/write_pieces.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <optional>
#include <vector>

#include "base/mapped_file.h"
#include "base/on_two_threads.h"
#include "base/reread_file.h"

namespace fusescope {
namespace {

constexpr std::size_t kPart = 4 * 1024 * 1024;          ///< bytes that a thread takes at once
constexpr std::size_t kLeastShared = 16 * 1024 * 1024;  ///< bytes that two threads write faster than one

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
      : m_to(to), m_path(path), m_sources(reread(sources)) {
    for (std::span<const std::byte> piece : pieces)
      while (!piece.empty()) {
        const std::size_t bytes = std::min(piece.size(), untilMultiple(m_end, kPart));
        m_parts.push_back({.bytes = piece.first(bytes), .at = m_end});
        m_end += static_cast<off_t>(bytes);
        piece = piece.subspan(bytes);
      }
  }

  Status run() {
    if (m_end < static_cast<off_t>(kLeastShared)) {
      writeParts();
    } else {
      TRY(reserveRoom());
      onTwoThreads(2, [this](std::size_t) { writeParts(); });
    }
    return m_error ? Status(*m_error) : Status(Done{});
  }

 private:
  /// Lets the file system find room for the whole file at once, which makes writing on ext4 a third faster; a disk that
  /// is too full is noticed before anything is written. File systems that cannot do it find room bit by bit.
  Status reserveRoom() const {
    if (::fallocate(m_to, 0, 0, m_end) == 0 || (errno != ENOSPC && errno != EDQUOT)) return Done{};
    return systemError(m_path, "cannot write");
  }

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
    const RereadFile* const source = holderOf(part.bytes, m_sources);
    while (source != nullptr && part.bytes.size() >= RereadFile::kLeastPart) {
      buffer.resize(RereadFile::kPiece);
      const std::size_t room = untilMultiple(part.at, RereadFile::kPiece);
      const std::size_t got = source->read(part.bytes, std::span(buffer).first(room));
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
  const std::vector<RereadFile> m_sources;
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
