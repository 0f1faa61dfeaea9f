#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/temporary_folder.h"

namespace fusescope::test {

/// Returns resources/samples/NETWORK.
std::filesystem::path sampleFolder(std::string_view network);
/// Returns the path of tests/support/replay.py.
std::filesystem::path replayScript();
/// Returns the file that contains the sample's inputs and expected outputs.
std::string sampleInputs(std::string_view network);
/// Returns the folder of shared test material: $FUSESCOPE_SHARED, or else ../shared beside the checkout. Returns
/// nothing if it does not exist.
std::optional<std::filesystem::path> sharedFolder();
/// Returns a model of the shared zoo (model.onnx or model.weightless.onnx), or nothing if there is no shared folder.
std::optional<std::filesystem::path> zooModel(std::string_view network);
/// Returns the file of a network of the zoo that was filled with weights, in $FUSESCOPE_ZOO, or nothing if it was not
/// filled.
std::optional<std::filesystem::path> filledNetwork(std::string_view network);
/// Returns a network of the zoo with weights, either filled or with those in the shared folder, or nothing if there is
/// none.
std::optional<std::filesystem::path> networkWithWeights(std::string_view network);
/// Returns the path of a program of this build: "fusescope", "fusescope-worker", …
std::filesystem::path binary(std::string_view name);

/// A new folder, which is removed with all its contents when this object is destroyed.
class TemporaryFolder {
 public:
  TemporaryFolder();
  const std::filesystem::path& path() const { return m_folder.path(); }
  std::filesystem::path operator/(std::string_view name) const { return m_folder / name; }
  /// Writes a file into the folder and returns its path.
  std::filesystem::path write(std::string_view name, std::string_view bytes) const;

 private:
  fusescope::TemporaryFolder m_folder;
};

}  // namespace fusescope::test

/// Skips the test, with a reason, if the shared material is missing.
#define FUSESCOPE_REQUIRE_SHARED() \
  if (!fusescope::test::sharedFolder()) GTEST_SKIP() << "no shared test material; set FUSESCOPE_SHARED to its folder"
