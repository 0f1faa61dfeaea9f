#include <gtest/gtest.h>

#include "passes/pipelines.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

/// Imports and prepares `bytes` as "model.onnx" and hands back the error's text, without the folder.
std::string errorOf(const TemporaryFolder& folder, const std::string& bytes, const ImportLimits& limits = {}) {
  const auto path = folder.write("model.onnx", bytes);
  auto model = importModel(path, limits);
  Diagnostic error;
  if (!model.ok()) {
    error = model.error();
  } else {
    auto prepared = prepareModel(std::move(model).value());
    if (prepared.ok()) return "no error";
    error = prepared.error();
  }
  EXPECT_EQ(error.where.file, path.string()) << error.text();
  error.where.file.clear();
  return error.text();
}

struct BadModel {
  const char* name;
  const char* graph;
  std::vector<std::string> says;  ///< each stands in the message
  int opset = 18;
};

const std::vector<BadModel> kBadModels{
    // ONNX's own inference never comes to the end of this equation.
    {"einsum_equation",
     "g (float[5, 2, 3] x, float[5, 3, 4] y) => (float[5, 2, 4] z) "
     "{ [first] z = Einsum <equation = \"b(ij,bjk->bik\"> (x, y) }",
     {"first", "equation"}},
    {"cycle", "g (float[2] x) => (float[2] y) { [first] y = Add (x, z) [second] z = Relu (y) }", {"first", "cycle"}},
    {"two_producers",
     "g (float[2] x) => (float[2] y) { [first] y = Relu (x) [second] y = Neg (x) }",
     {"second", "'y'", "defined twice"}},
    {"nobody_produces",
     "g (float[2] x) => (float[2] y) { [first] y = Add (x, z) }",
     {"first", "'z'", "nothing produces"}},
    {"output_nobody_produces", "g (float[2] x) => (float[2] z) { [first] y = Relu (x) }", {"'z'", "nothing produces"}},
    {"missing_attribute", "g (float[2] x) => (int64[2] y) { [first] y = Cast (x) }", {"first", "to"}},
    {"too_few_inputs", "g (float[2] x) => (float[2] y) { [first] y = Add (x) }", {"first", "input"}},
    {"unknown_attribute", "g (float[2] x) => (float[2] y) { [first] y = Relu <alpha=1.0> (x) }", {"first", "alpha"}},
    {"wrong_shapes", "g (float[2,3] x, float[4,5] w) => (float[2,5] y) { [first] y = MatMul (x, w) }", {"first"}},
    {"wrong_types", "g (float[2] x, int64[2] w) => (float[2] y) { [first] y = Add (x, w) }", {"first"}},
    {"two_different_initializers",
     "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}, float[2] w = {1, 3}> { [first] y = Add (x, w) }",
     {"'w'", "two initializers that differ"}},
    {"an_input_twice", "g (float[2] x, float[2] x) => (float[2] y) { [first] y = Relu (x) }", {"'x'", "defined twice"}},
    {"more_elements_than_any_machine_holds",
     "g (float[1] x) => (float[] z) <int64[1] s = {4611686018427387904}> { [first] a = Expand (x, s) z = Mul (a, a) }",
     {"first", "too large"}},
    {"more_bytes_than_can_be_counted",
     "g (float[1] x) => (float[] z) <int64[2] s = {2147483648, 1073741824}> { [first] a = Expand (x, s) z = Relu (a) }",
     {"first", "too large"}},
    {"many_elements_but_for_a_zero",
     "g (float[1] x) => (float[] z) <int64[3] s = {1099511627776, 1099511627776, 0}> { [first] a = Expand (x, s) z = "
     "Relu "
     "(a) }",
     {"first", "too large"}},
    {"an_input_too_large",
     "g (float[1099511627776, 1099511627776] x) => (float[1099511627776, 1099511627776] y) { [first] y = Relu (x) }",
     {"first", "too large"}},
    {"old_opset", "g (float[2] x) => (float[2] y) { [first] y = Relu (x) }", {"first", "opset 5", "7"}, 5},
};

TEST(BadFiles, EachWrongNetworkIsRefusedWithItsPlace) {
  for (const BadModel& bad : kBadModels) {
    const TemporaryFolder folder;
    const std::string error = errorOf(folder, onnxBytes(bad.graph, bad.opset));
    for (const std::string& part : bad.says)
      EXPECT_NE(error.find(part), std::string::npos) << bad.name << ": wanted '" << part << "' in: " << error;
  }
  EXPECT_EQ(kBadModels.size(), 17U);
}

TEST(BadFiles, AbsurdExtentsAreRefusedBeforeAnythingIsAllocated) {
  const std::string bytes = onnxBytes("g (float[2] x) => (float[2] y) { [first] y = Add (x, w) }");
  const std::vector<std::vector<std::uint64_t>> cases{{4'000'000'000'000, 4'000'000'000'000},
                                                      {1'000'000, 1'000'000},
                                                      {std::uint64_t{1} << 63},
                                                      {std::uint64_t{1} << 62, 4, 0}};
  for (const auto& dims : cases) {
    const TemporaryFolder folder;
    const std::string error = errorOf(folder, bytes + weightlessInitializer("w", dims));
    EXPECT_NE(error.find("'w'"), std::string::npos) << error;
    EXPECT_TRUE(error.find("too large") != std::string::npos || error.find("negative") != std::string::npos) << error;
  }
}

TEST(BadFiles, WhatIsNoOnnxFileIsSaidSo) {
  const TemporaryFolder folder;
  EXPECT_EQ(errorOf(folder, ""), "is empty");
  for (const std::string& text : {std::string("hello world, this is text\n"), std::string("\x89PNG\r\n\x1a\n0000"),
                                  std::string("{\"json\": 1}"), std::string(100, '\0')})
    EXPECT_NE(errorOf(folder, text).find("is not an ONNX model"), std::string::npos) << text;
  const std::string cutShort = errorOf(folder, "PK\x03\x04 zip");  // as an exported program of PyTorch begins
  EXPECT_NE(cutShort.find("cannot be read as a zip archive"), std::string::npos) << cutShort;
}

TEST(BadFiles, MissingFilesAndFoldersAreSaidSo) {
  const TemporaryFolder folder;
  EXPECT_NE(importModel(folder.path() / "none.onnx").error().text().find("no such file"), std::string::npos);
  EXPECT_NE(importModel(folder.path()).error().text().find("is a folder"), std::string::npos);
}

TEST(BadFiles, ATruncatedFileIsRefusedWhereverItIsCut) {
  const TemporaryFolder folder;
  const std::string whole = fileBytes(samplesFolder() / "long_double/model.onnx");
  ASSERT_GT(whole.size(), 10000U);
  for (const double part : {0.02, 0.1, 0.3, 0.5, 0.9, 0.99}) {
    const auto cut = static_cast<std::size_t>(static_cast<double>(whole.size()) * part);
    EXPECT_NE(errorOf(folder, whole.substr(0, cut)).find("truncated"), std::string::npos) << cut;
  }
}

TEST(BadFiles, DamagedBytesNeverDoMoreThanFail) {
  const TemporaryFolder folder;
  const std::string whole = fileBytes(samplesFolder() / "long_double/model.onnx");
  unsigned state = 12345;
  const auto random = [&] { return (state = state * 1664525U + 1013904223U) >> 8; };
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 1 + round % 8; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    refused += importModel(folder.write("model.onnx", damaged)).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 10);
}

TEST(BadFiles, NamesMustBeText) {
  const TemporaryFolder folder;
  const std::string bytes = onnxBytes("g (float[2] x) => (float[2] y) { [first] y = Relu (x) }");
  const std::vector<std::pair<std::string, bool>> names{{"f\xC3\xBCr!", true},     {"f\xE2\x82\xACr", true},
                                                        {"fir\xFEt", false},       {"f\xC0\x80st", false},
                                                        {"f\xED\xA0\x80t", false}, {"firs\xC3", false}};
  for (const auto& [name, isText] : names) {
    std::string renamed = bytes;
    renamed.replace(renamed.find("first"), 5, name);
    const std::string error = errorOf(folder, renamed);
    if (isText)
      EXPECT_EQ(error, "no error") << name;
    else
      EXPECT_NE(error.find("not UTF-8 text: 'f"), std::string::npos) << error;
  }
}

TEST(BadFiles, LimitsHold) {
  const TemporaryFolder folder;
  const std::string bytes = fileBytes(samplesFolder() / "bert_tiny/model.onnx");
  EXPECT_NE(errorOf(folder, bytes, {.nodes = 50}).find("more than 50 nodes"), std::string::npos);
  EXPECT_NE(errorOf(folder, bytes, {.tensorBytes = 100000}).find("too large"), std::string::npos);
}

std::string externalModel(const std::string& entries) {
  return onnxBytes("g (float[4] x) => (float[4] y) <float[4] w = [" + entries + "]> { [first] y = Add (x, w) }");
}

TEST(BadFiles, ExternalDataStaysInTheModelsFolder) {
  const TemporaryFolder outside;
  outside.write("secret.bin", std::string(16, 'x'));
  const TemporaryFolder folder;
  folder.write("short.bin", std::string(8, 'x'));
  std::filesystem::create_symlink(outside.path() / "secret.bin", folder.path() / "link.bin");
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"("location": "none.bin")", "is missing"},
      {R"("location": "/etc/passwd")", "absolute"},
      {R"("location": "../secret.bin")", "refers to a place outside the folder"},
      {R"("location": "link.bin")", "link"},
      {R"("location": "short.bin")", "too short"},
      {R"("location": "short.bin", "offset": "18446744073709551615")", "too short"},
      {R"("location": "short.bin", "offset": "-1")", "not a number"},
      {R"("location": "short.bin", "length": "8")", "contains 8 bytes"},
  };
  for (const auto& [entries, says] : cases) {
    const std::string error = errorOf(folder, externalModel(entries));
    EXPECT_NE(error.find(says), std::string::npos) << entries << ": " << error;
    EXPECT_NE(error.find("'w'"), std::string::npos) << entries << ": " << error;
  }
}

TEST(ExternalData, IsMappedAtItsOffset) {
  const TemporaryFolder folder;
  const std::vector<float> numbers{9, 1, 2, 3, 4, 9};
  folder.write("w.bin", {reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4});
  const auto model =
      importModel(folder.write("model.onnx", externalModel(R"("location": "w.bin", "offset": "4", "length": "16")")));
  ASSERT_TRUE(model.ok()) << model.error().text();
  const Graph& graph = *model.value().graph;
  const Tensor* w = graph.constantData(*graph.findValue("w"));
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->asDouble(0), 1);
  EXPECT_EQ(w->asDouble(3), 4);
}

TEST(BadFiles, AFunctionThatCallsItselfIsRefused) {
  const TemporaryFolder folder;
  const std::string error = errorOf(folder, onnxBytes("g (float[2] x) => (float[2] y) { [call] y = local.f (x) }\n"
                                                      "<domain: \"local\", opset_import: [\"\" : 18, \"local\" : 1]>\n"
                                                      "f (a) => (b) { b = local.f (a) }",
                                                      18, ", \"local\" : 1"));
  EXPECT_NE(error.find("call"), std::string::npos) << error;
  EXPECT_NE(error.find("calls itself"), std::string::npos) << error;
}

}  // namespace
}  // namespace fusescope::test
