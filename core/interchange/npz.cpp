#include "interchange/npz.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/zip_archive.h"

namespace fusescope {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 30;  ///< of one array

Diagnostic npzError(std::string message, const std::filesystem::path& path, const std::string& array = {},
                    std::string help = {}) {
  return {.message = std::move(message), .where = {.file = path.string(), .value = array}, .help = std::move(help)};
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

/// Adds an array to what finishing the archive writes; `pieces` are read then.
Status add(ZipWriter& archive, const std::string& name, const NpyPieces& pieces) {
  const std::array parts{std::as_bytes(std::span(pieces.head)),
                         std::span(pieces.elements.bytes(), pieces.elements.byteSize())};
  return archive.add(name + std::string(kSuffix), parts);
}

}  // namespace

Result<NpzArrays> readNpz(const std::filesystem::path& path) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(path, missing)) {
    return npzError("there is no such file", path);
  }
  const auto archive = ZipReader::open(path);
  if (!archive.ok()) {
    return npzError(fmt::format("this is not a readable .npz archive ({})", archive.error().message), path, {},
                    "Write the file with numpy.savez.");
  }
  NpzArrays arrays;
  for (std::size_t i = 0; i < archive.value().entries().size(); ++i) {
    std::string name = archive.value().entries()[i].name;
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
    const auto bytes = archive.value().bytes(i, kMostBytes);
    if (!bytes.ok()) return npzError(bytes.error().message, path, name);
    arrays.insert_or_assign(name, TRY(parseNpy(bytes.value(), path.string(), name)));
  }
  return arrays;
}

Status writeNpz(const std::filesystem::path& path, const NpzArrays& arrays) {
  std::vector<std::pair<std::string, NpyPieces>> all;
  for (const auto& [name, tensor] : arrays) all.emplace_back(name, TRY(npyPieces(tensor, name)));
  return writeFileAtomically(path, [&](const std::filesystem::path& temporary) -> Status {
    auto archive = ZipWriter::at(temporary);
    if (!archive.ok()) return npzError(archive.error().message, path);
    for (const auto& [name, pieces] : all)
      if (const auto added = add(archive.value(), name, pieces); !added.ok())
        return npzError(added.error().message, path, name);
    if (const auto written = archive.value().finish(); !written.ok()) return npzError(written.error().message, path);
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
