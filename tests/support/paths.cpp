#include "tests/support/paths.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace fusescope::test {

std::filesystem::path sampleFolder(std::string_view network) {
  return std::filesystem::path(FUSESCOPE_SOURCE_DIR) / "resources" / "samples" / network;
}

std::optional<std::filesystem::path> sharedFolder() {
  const char* set = std::getenv("FUSESCOPE_SHARED");
  const std::filesystem::path folder =
      set != nullptr && *set != '\0' ? set : std::filesystem::path(FUSESCOPE_SOURCE_DIR) / ".." / "shared";
  if (!std::filesystem::is_directory(folder / "zoo")) return std::nullopt;
  return folder;
}

std::optional<std::filesystem::path> zooModel(std::string_view network) {
  const auto shared = sharedFolder();
  if (!shared) return std::nullopt;
  const auto folder = *shared / "zoo" / network;
  for (const char* file : {"model.onnx", "model.weightless.onnx"})
    if (std::filesystem::exists(folder / file)) return folder / file;
  return std::nullopt;
}

std::filesystem::path binary(std::string_view name) {
  return std::filesystem::path(FUSESCOPE_BIN_DIR) / name;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "fusescope-test.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  m_path = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(m_path, ignored);
}

std::filesystem::path TemporaryFolder::write(std::string_view name, std::string_view bytes) const {
  std::ofstream(m_path / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return m_path / name;
}

}  // namespace fusescope::test
