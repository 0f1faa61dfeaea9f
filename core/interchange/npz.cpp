#include "interchange/npz.h"

#include <fmt/format.h>
#include <zip.h>

#include <memory>
#include <span>
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

/// The bytes that libzip has put together in memory, after it closed the archive into `source`.
Result<std::string> collected(zip_source_t* source, const std::filesystem::path& path) {
  zip_stat_t entry;
  if (zip_source_stat(source, &entry) != 0 || zip_source_open(source) != 0) {
    return npzError("the archive could not be put together", path);
  }
  std::string bytes(entry.size, '\0');
  const auto got = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  if (got != static_cast<zip_int64_t>(bytes.size())) return npzError("the archive could not be put together", path);
  return bytes;
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
  zip_error_t problem;
  zip_error_init(&problem);
  std::unique_ptr<zip_source_t, Discard> target(zip_source_buffer_create(nullptr, 0, 0, &problem));
  if (!target) return npzError("the archive could not be begun", path);
  zip_source_keep(target.get());  // closing the archive gives up one reference; the bytes are read after that
  std::unique_ptr<zip_t, Discard> archive(zip_open_from_source(target.get(), ZIP_TRUNCATE, &problem));
  if (!archive) {
    zip_source_free(target.get());
    return npzError("the archive could not be begun", path);
  }
  std::vector<std::string> kept;  // libzip reads them when the archive is closed
  kept.reserve(arrays.size());
  for (const auto& [name, tensor] : arrays) {
    kept.push_back(TRY(npyBytes(tensor, name)));
    zip_source_t* source = zip_source_buffer(archive.get(), kept.back().data(), kept.back().size(), 0);
    const auto index = zip_file_add(archive.get(), (name + std::string(kSuffix)).c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      return npzError(fmt::format("cannot be packed: {}", zip_strerror(archive.get())), path, name);
    }
    zip_set_file_compression(archive.get(), static_cast<std::uint64_t>(index), ZIP_CM_STORE, 0);
  }
  if (zip_close(archive.get()) != 0) {
    return npzError(fmt::format("the archive could not be written: {}", zip_strerror(archive.get())), path);
  }
  (void)archive.release();
  const auto bytes = TRY(collected(target.get(), path));
  return writeFileAtomically(path, bytes);
}

NpzArrays inputsFrom(const NpzArrays& arrays) {
  return chosen(arrays, "in:", "out:");
}
NpzArrays outputsFrom(const NpzArrays& arrays) {
  return chosen(arrays, "out:", "in:");
}

}  // namespace fusescope
