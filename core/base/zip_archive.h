#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/zip_places.h"

struct zip;

namespace fusescope {

/// A zip archive that is read. What it says of itself is not trusted. For one thread.
class ZipReader {
 public:
  struct Entry {
    std::string name;
    std::uint64_t bytes = 0;  ///< unpacked
  };
  /// Errors: there is no such file, it is no archive (the message is the library's reason), an entry cannot be read.
  static Result<ZipReader> open(const std::filesystem::path& path);
  /// The same of an archive that lies in memory, for as long as the reader lives.
  static Result<ZipReader> of(std::span<const std::byte> archive);
  const std::vector<Entry>& entries() const { return m_entries; }
  std::uint64_t fileBytes() const { return m_fileBytes; }  ///< of the archive
  /// Unpacks an entry and hands its bytes to `take`, a piece at a time. Errors: its size is absurd or a lie, which is
  /// found before anything is unpacked; it is damaged; what `take` returns.
  Status read(std::size_t index, const std::function<Status(std::span<const std::byte>)>& take) const;
  /// All bytes of an entry. Errors: as read(), and more than `most`.
  Result<std::vector<std::byte>> bytes(std::size_t index, std::uint64_t most) const;
  /// Of an archive in memory: the bytes of an entry that is neither compressed nor encrypted, where the archive has
  /// them; nothing for others. Its check sum is not compared.
  std::optional<std::span<const std::byte>> inPlace(std::size_t index) const;

 private:
  struct Discard {
    void operator()(zip* archive) const;
  };
  Status checkSize(std::size_t index) const;
  Status list();

  std::unique_ptr<zip, Discard> m_archive;
  std::uint64_t m_fileBytes = 0;
  std::span<const std::byte> m_inMemory;
  std::vector<ZipPlace> m_places;  ///< of an archive in memory, by index
  std::vector<Entry> m_entries;
};

/// A zip archive that is written, without compression and without times: equal contents are equal bytes. What is added
/// is read when finish() is called and must be there until then.
class ZipWriter {
 public:
  /// Writes a new archive, or with `keepsEntries` one that has what the archive at `path` has.
  static Result<ZipWriter> at(const std::filesystem::path& path, bool keepsEntries = false);
  Status add(const std::string& name, std::span<const std::span<const std::byte>> pieces);
  Status add(const std::string& name, std::string_view text);
  Status add(const std::string& name, const std::filesystem::path& file);
  Status finish();

 private:
  struct Discard {
    void operator()(zip* archive) const;
  };
  Status addSource(const std::string& name, void* source);

  std::filesystem::path m_path;
  std::unique_ptr<zip, Discard> m_archive;
};

}  // namespace fusescope
