#include "base/zip_archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/files.h"

namespace fusescope {
namespace {

/// A larger entry is refused before memory is allocated.
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 30;

/// The end of the directory, which is the whole content of an archive without entries.
constexpr std::string_view kEmptyArchive("PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);

std::string zipProblem(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

struct CloseEntry {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

}  // namespace

void ZipReader::Discard::operator()(zip* archive) const {
  zip_discard(archive);
}
void ZipWriter::Discard::operator()(zip* archive) const {
  zip_discard(archive);
}

Result<ZipReader> ZipReader::open(const std::filesystem::path& path) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(path, missing)) return Diagnostic{.message = "there is no such file"};
  int code = 0;
  ZipReader reader;
  reader.m_archive.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!reader.m_archive) return Diagnostic{.message = zipProblem(code)};
  reader.m_fileBytes = std::filesystem::file_size(path, missing);
  if (missing) return Diagnostic{.message = "cannot be read: " + missing.message()};
  TRY(reader.list());
  return reader;
}

Result<ZipReader> ZipReader::of(std::span<const std::byte> archive) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(archive.data(), archive.size(), 0, &error);
  ZipReader reader;
  if (source != nullptr) reader.m_archive.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
  const std::string problem = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (!reader.m_archive) {
    if (source != nullptr) zip_source_free(source);
    return Diagnostic{.message = problem};
  }
  reader.m_fileBytes = archive.size();
  reader.m_inMemory = archive;
  TRY(reader.list());
  reader.m_places = zipPlaces(archive);
  return reader;
}

Status ZipReader::list() {
  const auto count = zip_get_num_entries(m_archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t entry;
    if (zip_stat_index(m_archive.get(), static_cast<std::uint64_t>(i), 0, &entry) != 0 ||
        !(entry.valid & ZIP_STAT_NAME))
      return Diagnostic{.message = fmt::format("entry {} of the archive cannot be read", i)};
    m_entries.push_back({.name = entry.name, .bytes = (entry.valid & ZIP_STAT_SIZE) != 0 ? entry.size : 0});
  }
  return Done{};
}

Status ZipReader::checkSize(std::size_t index) const {
  zip_stat_t entry;
  if (zip_stat_index(m_archive.get(), index, 0, &entry) != 0 || !(entry.valid & ZIP_STAT_SIZE) ||
      entry.size > kMostBytes)
    return Diagnostic{.message = "the size of the entry is missing or too large"};
  // One deflated byte represents at most 1032 bytes. A larger size is false, and is refused before memory is allocated.
  const bool fits = !(entry.valid & ZIP_STAT_COMP_SIZE) ||
                    (entry.comp_size <= m_fileBytes && entry.size / 1100 <= entry.comp_size + 64);
  if (!fits)
    return Diagnostic{.message = fmt::format("the archive has {} bytes, but claims that {} bytes are in {}",
                                             m_fileBytes, entry.size, entry.comp_size)};
  return Done{};
}

Status ZipReader::read(std::size_t index, const std::function<Status(std::span<const std::byte>)>& take) const {
  TRY(checkSize(index));
  const std::unique_ptr<zip_file_t, CloseEntry> file(zip_fopen_index(m_archive.get(), index, 0));
  if (!file) return Diagnostic{.message = fmt::format("cannot be unpacked: {}", zip_strerror(m_archive.get()))};
  std::vector<std::byte> piece(std::size_t{1} << 18);
  const std::uint64_t all = m_entries[index].bytes;
  for (std::uint64_t done = 0;;) {
    const auto got = zip_fread(file.get(), piece.data(), piece.size());
    if (got < 0 || (got == 0 && done < all))
      return Diagnostic{.message = fmt::format("is damaged or cut off after {} of {} bytes: {}", done, all,
                                               zip_file_strerror(file.get()))};
    if (got == 0) return Done{};  // the checksum was compared
    done += static_cast<std::uint64_t>(got);
    if (done > all) return Diagnostic{.message = "is damaged, because it contains more data than its header says"};
    TRY(take(std::span(piece).first(static_cast<std::size_t>(got))));
  }
}

Result<std::vector<std::byte>> ZipReader::bytes(std::size_t index, std::uint64_t most) const {
  TRY(checkSize(index));
  if (m_entries[index].bytes > most)
    return Diagnostic{.message = fmt::format("is too large: {} bytes", m_entries[index].bytes)};
  std::vector<std::byte> all;
  all.reserve(m_entries[index].bytes);
  TRY(read(index, [&](std::span<const std::byte> piece) -> Status {
    all.insert(all.end(), piece.begin(), piece.end());
    return Done{};
  }));
  return all;
}

std::optional<std::span<const std::byte>> ZipReader::inPlace(std::size_t index) const {
  if (index >= m_places.size() || m_places.size() != m_entries.size()) return std::nullopt;
  const ZipPlace& place = m_places[index];
  if (!place.isStored || place.name != m_entries[index].name || place.bytes != m_entries[index].bytes)
    return std::nullopt;
  return m_inMemory.subspan(place.offset, place.bytes);
}

Result<ZipWriter> ZipWriter::at(const std::filesystem::path& path, bool keepsEntries) {
  int code = 0;
  ZipWriter writer;
  writer.m_archive.reset(zip_open(path.c_str(), keepsEntries ? 0 : ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (!writer.m_archive)
    return Diagnostic{.message = fmt::format("the archive could not be created: {}", zipProblem(code))};
  writer.m_path = path;
  return writer;
}

Status ZipWriter::addSource(const std::string& name, void* source) {
  const auto index = zip_file_add(m_archive.get(), name.c_str(), static_cast<zip_source_t*>(source), ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(static_cast<zip_source_t*>(source));
    return Diagnostic{.message = fmt::format("cannot be packed: {}", zip_strerror(m_archive.get()))};
  }
  constexpr zip_uint16_t kFirstDay = 0x21;  // of 1980, so that equal contents give equal archives at any time
  zip_set_file_compression(m_archive.get(), static_cast<std::uint64_t>(index), ZIP_CM_STORE, 0);
  zip_file_set_dostime(m_archive.get(), static_cast<std::uint64_t>(index), 0, kFirstDay, 0);
  return Done{};
}

Status ZipWriter::add(const std::string& name, std::span<const std::span<const std::byte>> pieces) {
  std::vector<zip_buffer_fragment_t> parts;
  for (const auto piece : pieces)
    if (!piece.empty())
      parts.push_back({reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(piece.data())), piece.size()});
  return addSource(name, zip_source_buffer_fragment(m_archive.get(), parts.data(), parts.size(), 0));
}

Status ZipWriter::add(const std::string& name, std::string_view text) {
  return addSource(name, zip_source_buffer(m_archive.get(), text.data(), text.size(), 0));
}

Status ZipWriter::add(const std::string& name, const std::filesystem::path& file) {
  return addSource(name, zip_source_file(m_archive.get(), file.c_str(), 0, -1));
}

Status ZipWriter::finish() {
  if (zip_get_num_entries(m_archive.get(), 0) == 0) {  // the library does not write an archive without entries
    m_archive.reset();
    return writeFileAtomically(m_path, kEmptyArchive);
  }
  if (zip_close(m_archive.get()) != 0)
    return Diagnostic{.message = fmt::format("the archive could not be written: {}", zip_strerror(m_archive.get()))};
  (void)m_archive.release();
  return Done{};
}

}  // namespace fusescope
