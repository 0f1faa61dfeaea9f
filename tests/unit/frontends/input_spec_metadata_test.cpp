#include "frontends/input_spec_metadata.h"

#include <gtest/gtest.h>

#include "onnxlib/network_edits.h"
#include "passes/pipelines.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

constexpr const char* kNetwork = "g (float[batch, 3] x, float[batch, 3] z) => (float[batch, 3] y) { y = Add (x, z) }";

Result<Model> importWith(const std::string& specs) {
  const TemporaryFolder folder;
  onnxlib::NetworkEdits edits;
  edits.metadata[kInputSpecsKey] = specs;
  const auto edited = onnxlib::editNetwork(folder.write("model.onnx", onnxBytes(kNetwork)), edits, "w");
  EXPECT_TRUE(edited.ok()) << edited.error().text();
  return importBytes(edited.value().model);
}

TEST(InputSpecMetadata, TextIsReadBack) {
  const std::vector<InputSpec> specs{{.name = "x", .min = {1, 3}, .opt = {4, 3}, .max = {8, 3}, .source = "metadata"}};
  const std::string text = inputSpecsText(specs);
  EXPECT_EQ(text, R"({"x":{"min":[1,3],"opt":[4,3],"max":[8,3]}})");
  const auto read = inputSpecsFromText(text);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read.value(), specs);
}

TEST(InputSpecMetadata, HoldsForTheInputsThatItNamesAndTheirSymbols) {
  const auto model = importWith(R"({"x":{"min":[2,3],"opt":[4,3],"max":[8,3]}})");
  ASSERT_TRUE(model.ok()) << model.error().text();
  const InputSpec& spec = model.value().inputSpecs[0];
  EXPECT_EQ(spec.source, "metadata");
  EXPECT_EQ(spec.min, (Dims{2, 3}));
  EXPECT_EQ(spec.opt, (Dims{4, 3}));
  EXPECT_EQ(spec.max, (Dims{8, 3}));
  EXPECT_EQ(countCode(model.value(), "import.input_specs_ignored"), 0U);
  const auto prepared = prepareModel(model.value());
  ASSERT_TRUE(prepared.ok()) << prepared.error().text();
  EXPECT_EQ(prepared.value().inputSpecs[0].opt, (Dims{4, 3}));
  EXPECT_EQ(prepared.value().inputSpecs[1].opt, (Dims{4, 3})) << "z has the same batch";
}

TEST(InputSpecMetadata, WhatCannotBeMeantIsLeftOutAndSaid) {
  for (const char* specs :
       {"no json", R"({"x":{"min":[1,3],"opt":[4,3]}})", R"({"x":{"min":[5,3],"opt":[4,3],"max":[8,3]}})",
        R"({"q":{"min":[1],"opt":[1],"max":[1]}})", R"({"x":{"min":[1],"opt":[1],"max":[1]}})",
        R"({"x":{"min":[1,4],"opt":[1,4],"max":[1,4]}})", R"({"x":{"min":[-1,3],"opt":[1,3],"max":[1,3]}})"}) {
    const auto model = importWith(specs);
    ASSERT_TRUE(model.ok()) << model.error().text();
    EXPECT_EQ(model.value().inputSpecs[0].source, "assumed") << specs;
    EXPECT_EQ(countCode(model.value(), "import.input_specs_ignored"), 1U) << specs;
  }
}

}  // namespace
}  // namespace fusescope::test
