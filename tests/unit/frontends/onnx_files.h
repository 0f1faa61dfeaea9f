#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "frontends/importers.h"
#include "onnxlib/onnx_text.h"
#include "tests/support/paths.h"

namespace fusescope::test {

/// An .onnx file's bytes from ONNX's textual syntax; the header is put before `graph`.
inline std::string onnxBytes(const std::string& graph, int opset = 18, const std::string& moreOpsets = "") {
  const std::string header = "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + moreOpsets + "]>\n";
  const auto bytes = onnxlib::onnxTextToBytes(header + graph);
  EXPECT_TRUE(bytes.ok()) << bytes.error().text();
  return bytes.ok() ? bytes.value() : std::string();
}

/// A length-delimited field of protobuf's wire format; fields and lengths below 128 only.
inline std::string wireField(int number, std::string_view content) {
  EXPECT_LT(content.size(), 128U);
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} + std::string(content);
}

/// What to append to a model's bytes to give it a float32 initializer without data (protobuf merges the two graphs).
inline std::string weightlessInitializer(const std::string& name, const std::vector<std::uint64_t>& dims) {
  std::string tensor;
  for (std::uint64_t dim : dims) {
    tensor += '\x08';
    for (; dim >= 0x80; dim >>= 7) tensor += static_cast<char>(dim | 0x80);
    tensor += static_cast<char>(dim);
  }
  tensor += std::string("\x10\x01") + wireField(8, name);
  return wireField(7, wireField(5, tensor));
}

inline Result<Model> importBytes(const std::string& bytes) {
  const TemporaryFolder folder;
  return importModel(folder.write("model.onnx", bytes));
}

inline Result<Model> importText(const std::string& graph, int opset = 18, const std::string& moreOpsets = "") {
  const TemporaryFolder folder;
  return importModel(folder.write("model.onnx", onnxBytes(graph, opset, moreOpsets)));
}

inline std::filesystem::path samplesFolder() {
  return std::filesystem::path(FUSESCOPE_SOURCE_DIR) / "resources/samples";
}

inline std::string fileBytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Where the zoo of real networks is, if this machine has it: $FUSESCOPE_SHARED/zoo, else ../shared/zoo.
inline std::filesystem::path zooFolder() {
  const char* shared = std::getenv("FUSESCOPE_SHARED");
  return (shared != nullptr ? std::filesystem::path(shared)
                            : std::filesystem::path(FUSESCOPE_SOURCE_DIR) / "../shared") /
         "zoo";
}

inline std::size_t countCode(const Model& model, std::string_view code) {
  std::size_t count = 0;
  for (const Decision& decision : model.decisions) count += decision.code == code;
  return count;
}

}  // namespace fusescope::test
