#include "interchange/npz.h"

#include <fmt/format.h>
#include <zip.h>

#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/files.h"

namespace fusescope {
namespace {

constexpr std::string_view kSuffix = ".npy";
/// More than this from one array is refused before memory is asked for.
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 30;

Diagnostic npzError(std::string message, const std::filesystem::path& path, const std::string& array = {},
                    std::string help = {}) {
  return {.message = std::move(message), .where = {.file = path.string(), .value = array}, .help = std::move(help)};
}

std::string zipProblem(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};

/// `fileBytes`: of the whole archive.
Result<std::vector<std::byte>> readEntry(zip_t* archive, std::uint64_t index, const zip_stat_t& entry,
                                         std::uint64_t fileBytes, const std::filesystem::path& path,
                                         const std::string& array) {
  if (!(entry.valid & ZIP_STAT_SIZE) || entry.size > kMostBytes) {
    return npzError("the array's size is missing or absurd", path, array);
  }
  // A deflated byte stands for at most 1032: a size beyond that is a lie, refused before memory is asked for.
  const bool fits = !(entry.valid & ZIP_STAT_COMP_SIZE) ||
                    (entry.comp_size <= fileBytes && entry.size / 1100 <= entry.comp_size + 64);
  if (!fits) {
    return npzError(
        fmt::format("the archive of {} bytes says that {} bytes are in {}", fileBytes, entry.size, entry.comp_size),
        path, array);
  }
  const std::unique_ptr<zip_file_t, Discard> file(zip_fopen_index(archive, index, 0));
  if (!file) return npzError(fmt::format("cannot be unpacked: {}", zip_strerror(archive)), path, array);
  std::vector<std::byte> bytes(entry.size);
  std::uint64_t done = 0;
  while (done < bytes.size()) {
    const auto got = zip_fread(file.get(), bytes.data() + done, bytes.size() - done);
    if (got <= 0) {
      return npzError(fmt::format("is damaged or cut off after {} of {} bytes: {}", done, entry.size,
                                  zip_file_strerror(file.get())),
                      path, array);
    }
    done += static_cast<std::uint64_t>(got);
  }
  std::byte beyond;
  if (zip_fread(file.get(), &beyond, 1) != 0) {  // also where the check sum is compared
    return npzError(fmt::format("is damaged: {}", zip_file_strerror(file.get())), path, array);
  }
  return bytes;
}

NpzArrays chosen(const NpzArrays& arrays, std::string_view wanted, std::string_view other) {
  NpzArrays prefixed, plain;
  for (const auto& [name, tensor] : arrays) {
    if (name.starts_with(wanted)) {
      prefixed.emplace(name.substr(wanted.size()), tensor);
    } else if (!name.starts_with(other)) {
      plain.emplace(name, tensor);
    }
  }
  return prefixed.empty() ? plain : prefixed;
}

/// Adds an array to what closing the archive writes; libzip reads `pieces` then.
Status add(zip_t* archive, const std::string& name, const NpyPieces& pieces, const std::filesystem::path& path) {
  const auto part = [](const void* data, std::size_t bytes) {
    return zip_buffer_fragment_t{static_cast<zip_uint8_t*>(const_cast<void*>(data)), bytes};
  };
  const std::array parts{part(pieces.head.data(), pieces.head.size()),
                         part(pieces.elements.bytes(), pieces.elements.byteSize())};
  const std::size_t count = pieces.elements.byteSize() > 0 ? parts.size() : 1;
  zip_source_t* source = zip_source_buffer_fragment(archive, parts.data(), count, 0);
  const auto index = zip_file_add(archive, (name + std::string(kSuffix)).c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    return npzError(fmt::format("cannot be packed: {}", zip_strerror(archive)), path, name);
  }
  zip_set_file_compression(archive, static_cast<std::uint64_t>(index), ZIP_CM_STORE, 0);
  return Done{};
}

}  // namespace

Result<NpzArrays> readNpz(const std::filesystem::path& path) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(path, missing)) {
    return npzError("there is no such file", path);
  }
  int code = 0;
  const std::unique_ptr<zip_t, Discard> archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) {
    return npzError(fmt::format("this is not a readable .npz archive ({})", zipProblem(code)), path, {},
                    "Write the file with numpy.savez.");
  }
  const auto fileBytes = std::filesystem::file_size(path, missing);
  if (missing) return npzError("cannot be read: " + missing.message(), path);
  NpzArrays arrays;
  const auto count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t entry;
    if (zip_stat_index(archive.get(), static_cast<std::uint64_t>(i), 0, &entry) != 0 ||
        !(entry.valid & ZIP_STAT_NAME)) {
      return npzError(fmt::format("entry {} of the archive cannot be read", i), path);
    }
    std::string name = entry.name;
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
    const auto bytes = TRY(readEntry(archive.get(), static_cast<std::uint64_t>(i), entry, fileBytes, path, name));
    arrays.insert_or_assign(name, TRY(parseNpy(bytes, path.string(), name)));
  }
  return arrays;
}

Status writeNpz(const std::filesystem::path& path, const NpzArrays& arrays) {
  std::vector<std::pair<std::string, NpyPieces>> all;
  for (const auto& [name, tensor] : arrays) all.emplace_back(name, TRY(npyPieces(tensor, name)));
  return writeFileAtomically(path, [&](const std::filesystem::path& temporary) -> Status {
    int code = 0;
    std::unique_ptr<zip_t, Discard> archive(zip_open(temporary.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
    if (!archive) return npzError(fmt::format("the archive could not be begun: {}", zipProblem(code)), path);
    for (const auto& [name, pieces] : all) TRY(add(archive.get(), name, pieces, path));
    if (zip_close(archive.get()) != 0)
      return npzError(fmt::format("the archive could not be written: {}", zip_strerror(archive.get())), path);
    (void)archive.release();
    return Done{};
  });
}

NpzArrays inputsFrom(const NpzArrays& arrays) {
  return chosen(arrays, "in:", "out:");
}
NpzArrays outputsFrom(const NpzArrays& arrays) {
  return chosen(arrays, "out:", "in:");
}

}  // namespace fusescope
