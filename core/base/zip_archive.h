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

/// Reads a zip archive. Nothing that the archive says about itself is trusted. Not thread-safe.
class ZipReader {
 public:
  struct Entry {
    std::string name;
    std::uint64_t bytes = 0;  ///< the size when it is unpacked
  };
  /// Opens an archive. It is an error if the file does not exist, if it is not an archive (the message is the library's
  /// reason), or if an entry cannot be read.
  static Result<ZipReader> open(const std::filesystem::path& path);
  /// Opens an archive in memory, which must exist as long as the reader.
  static Result<ZipReader> of(std::span<const std::byte> archive);
  const std::vector<Entry>& entries() const { return m_entries; }
  std::uint64_t fileBytes() const { return m_fileBytes; }  ///< the size of the archive
  /// Unpacks an entry and passes its bytes to `take`, one piece at a time. It is an error if the size of the entry is
  /// absurd or false, which is found before anything is unpacked, or if the entry is damaged. Errors of `take` are
  /// returned too.
  Status read(std::size_t index, const std::function<Status(std::span<const std::byte>)>& take) const;
  /// Returns all bytes of an entry. Errors are those of read(), and that there are more than `most` bytes.
  Result<std::vector<std::byte>> bytes(std::size_t index, std::uint64_t most) const;
  /// For an archive in memory, returns the bytes of an entry inside the archive, if the entry is neither compressed nor
  /// encrypted; otherwise nothing. Its checksum is not compared.
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
  std::vector<ZipPlace> m_places;  ///< for an archive in memory: where each entry lies, by index
  std::vector<Entry> m_entries;
};

/// Writes a zip archive without compression and without times, so that equal contents give equal bytes. The data that
/// is added is read when finish() is called, and must exist until then.
class ZipWriter {
 public:
  /// Starts a new archive at `path`. If `keepsEntries` is true, it begins with the entries of the archive that is there
  /// now.
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
