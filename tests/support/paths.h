#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/temporary_folder.h"

namespace fusescope::test {

/// resources/samples/NETWORK
std::filesystem::path sampleFolder(std::string_view network);
/// tests/support/replay.py
std::filesystem::path replayScript();
/// The file of its inputs and expected outputs.
std::string sampleInputs(std::string_view network);
/// The folder of shared test material: $FUSESCOPE_SHARED, else ../shared beside the checkout; nothing if it is not
/// there.
std::optional<std::filesystem::path> sharedFolder();
/// A model of the shared zoo (model.onnx or model.weightless.onnx), if the shared folder is there.
std::optional<std::filesystem::path> zooModel(std::string_view network);
/// The file of a network of the zoo that was filled with weights, in $FUSESCOPE_ZOO; nothing where nobody filled it.
std::optional<std::filesystem::path> filledNetwork(std::string_view network);
/// A network of the zoo with weights: filled, or as the shared folder has it; nothing: it is not there.
std::optional<std::filesystem::path> networkWithWeights(std::string_view network);
/// A program of this build: "fusescope", "fusescope-worker", …
std::filesystem::path binary(std::string_view name);

/// A fresh folder, removed with everything in it when the object goes.
class TemporaryFolder {
 public:
  TemporaryFolder();
  const std::filesystem::path& path() const { return m_folder.path(); }
  std::filesystem::path operator/(std::string_view name) const { return m_folder / name; }
  /// Writes a file into it; the path of the file.
  std::filesystem::path write(std::string_view name, std::string_view bytes) const;

 private:
  fusescope::TemporaryFolder m_folder;
};

}  // namespace fusescope::test

/// Skips the test, with a reason, where the shared material is missing.
#define FUSESCOPE_REQUIRE_SHARED() \
  if (!fusescope::test::sharedFolder()) GTEST_SKIP() << "no shared test material; set FUSESCOPE_SHARED to its folder"
