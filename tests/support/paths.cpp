#include "tests/support/paths.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace fusescope::test {

std::filesystem::path sampleFolder(std::string_view network) {
  return std::filesystem::path(FUSESCOPE_SOURCE_DIR) / "resources" / "samples" / network;
}

std::filesystem::path replayScript() {
  return std::filesystem::path(FUSESCOPE_SOURCE_DIR) / "tests" / "support" / "replay.py";
}

std::string sampleInputs(std::string_view network) {
  return (sampleFolder(network) / "io.npz").string();
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

std::optional<std::filesystem::path> filledNetwork(std::string_view network) {
  const char* folder = std::getenv("FUSESCOPE_ZOO");
  if (folder == nullptr) return std::nullopt;
  const auto path = std::filesystem::path(folder) / (std::string(network) + ".onnx");
  return std::filesystem::exists(path) ? std::optional(path) : std::nullopt;
}

std::optional<std::filesystem::path> networkWithWeights(std::string_view network) {
  if (const auto filled = filledNetwork(network)) return filled;
  const auto shared = zooModel(network);
  return shared && shared->filename() == "model.onnx" ? shared : std::nullopt;
}

std::filesystem::path binary(std::string_view name) {
  return std::filesystem::path(FUSESCOPE_BIN_DIR) / name;
}

TemporaryFolder::TemporaryFolder()
    : m_folder(fusescope::TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope-test").value()) {}

std::filesystem::path TemporaryFolder::write(std::string_view name, std::string_view bytes) const {
  std::ofstream(m_folder / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return m_folder / name;
}

}  // namespace fusescope::test
