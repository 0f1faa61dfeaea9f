#include "cache/blob_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstring>

#include "base/descriptor.h"
#include "cache/packing.h"

namespace fusescope {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers of blobs are written as they lie in memory");

constexpr std::string_view kMagic = "FSCBLOB1";
constexpr std::string_view kUnfinished = ".part";

struct Header {
  std::array<char, 8> magic{};
  std::uint64_t bytes = 0, packed = 0;
  Hash128 content, key;
};
static_assert(sizeof(Header) == 56);

Status writeAll(int descriptor, const std::filesystem::path& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return systemError(path, "cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return Done{};
}

/// Removes an unfinished file when it is destroyed, unless keep() was called because the file got its final name.
class Unfinished {
 public:
  explicit Unfinished(std::filesystem::path path) : m_path(std::move(path)) {}
  ~Unfinished() {
    std::error_code ignored;
    if (!m_path.empty()) std::filesystem::remove(m_path, ignored);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  const std::filesystem::path& path() const { return m_path; }
  void keep() { m_path.clear(); }

 private:
  std::filesystem::path m_path;
};

Status flushFolder(const std::filesystem::path& folder) {
  const Descriptor open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!open.isOpen() || ::fsync(open.number()) != 0) return systemError(folder, "cannot be flushed to disk");
  return Done{};
}

Status writeFinished(const std::filesystem::path& path, std::string_view head, std::string_view body,
                     const OnWritePhase& onPhase) {
  const auto reached = [&](WritePhase phase) -> Status { return onPhase ? onPhase(phase) : Done{}; };
  Unfinished file(path.string() + std::string(kUnfinished));
  const Descriptor open(::open(file.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!open.isOpen()) return systemError(file.path(), "cannot be created");
  TRY(reached(WritePhase::Begun));
  TRY(writeAll(open.number(), path, head));
  TRY(writeAll(open.number(), path, body.substr(0, body.size() / 2)));
  TRY(reached(WritePhase::Half));
  TRY(writeAll(open.number(), path, body.substr(body.size() / 2)));
  TRY(reached(WritePhase::Written));
  if (::fsync(open.number()) != 0) return systemError(path, "cannot be flushed to disk");
  TRY(reached(WritePhase::Flushed));
  if (::rename(file.path().c_str(), path.c_str()) != 0) return systemError(path, "cannot be renamed");
  file.keep();
  return Done{};
}

Diagnostic notAsKept(const std::filesystem::path& path, std::string what) {
  return {.message = std::move(what), .where = {.file = path.string()}};
}

Result<std::string> wholeFile(const std::filesystem::path& path, std::uint64_t expected) {
  const Descriptor open(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!open.isOpen()) return systemError(path, "cannot be opened");
  struct stat found {};
  if (::fstat(open.number(), &found) != 0) return systemError(path, "cannot be read");
  if (static_cast<std::uint64_t>(found.st_size) != expected)
    return notAsKept(path, fmt::format("has {} bytes, but had {} when it was written", found.st_size, expected));
  std::string bytes(expected, '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = ::read(open.number(), bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return systemError(path, "cannot be read");
    if (count == 0) return notAsKept(path, "became shorter while it was read");
    at += static_cast<std::size_t>(count);
  }
  return bytes;
}

Hash128 hashOf(std::string_view bytes) {
  return hashBytes(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

}  // namespace

Result<BlobFacts> writeBlob(const std::filesystem::path& path, std::string_view bytes, const Hash128& key,
                            const OnWritePhase& onPhase) {
  if (bytes.size() > kMostUnpacked) return notAsKept(path, "is larger than an entry can be");
  const std::string body = TRY(packed(bytes));
  Header header{.bytes = bytes.size(), .packed = body.size(), .content = hashOf(bytes), .key = key};
  std::memcpy(header.magic.data(), kMagic.data(), kMagic.size());
  TRY(writeFinished(path, {reinterpret_cast<const char*>(&header), sizeof header}, body, onPhase));
  const BlobFacts facts{
      .bytes = header.bytes, .stored = sizeof header + body.size(), .content = header.content, .key = key};
  Status reached = flushFolder(path.parent_path());
  if (reached.ok() && onPhase) reached = onPhase(WritePhase::Renamed);
  if (reached.ok()) return facts;
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return std::move(reached).error();
}

Result<std::string> readBlob(const std::filesystem::path& path, const BlobFacts& facts) {
  if (facts.bytes > kMostUnpacked || facts.stored < sizeof(Header) || facts.stored > 2 * kMostUnpacked)
    return notAsKept(path, "is listed with a length that is not possible");
  const std::string file = TRY(wholeFile(path, facts.stored));
  Header header;
  std::memcpy(&header, file.data(), sizeof header);
  const std::string_view body = std::string_view(file).substr(sizeof header);
  if (std::string_view(header.magic.data(), header.magic.size()) != kMagic) return notAsKept(path, "is not a blob");
  if (header.key != facts.key) return notAsKept(path, "belongs to another entry");
  if (header.bytes != facts.bytes || header.packed != body.size() || header.content != facts.content)
    return notAsKept(path, "differs from its entry in the index");
  auto bytes = unpacked(body, facts.bytes);
  if (!bytes.ok()) return notAsKept(path, bytes.error().message);
  if (hashOf(bytes.value()) != facts.content)
    return notAsKept(path, "has another content than the one that was written");
  return bytes;
}

bool isUnfinishedBlob(const std::filesystem::path& path) {
  return path.extension() == kUnfinished;
}

}  // namespace fusescope
