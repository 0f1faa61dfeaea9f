#include "frontends/input_spec_metadata.h"

#include <gtest/gtest.h>

#include <random>

#include "frontends/exporter_ranges.h"
#include "onnxlib/edited_network.h"
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
  const InputSpec spec{
      .name = "x", .dtype = DataType::F32, .min = {1, 3}, .opt = {4, 3}, .max = {8, 3}, .source = "metadata"};
  const std::vector<CarriedInput> inputs{{.spec = spec, .symbols = {"batch", ""}, .givenBy = "user"}};
  const std::string text = carriedInputsText(inputs);
  EXPECT_EQ(text, R"({"version":2,"inputs":[{"name":"x","type":"f32","min":[1,3],"opt":[4,3],"max":[8,3],)"
                  R"("symbols":["batch",null],"source":"user"}]})");
  const auto read = carriedInputsFromText(text);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read.value().inputs, inputs);
  EXPECT_FALSE(read.value().isNewer());
}

TEST(InputSpecMetadata, TheFirstVersionIsReadStill) {
  const auto read =
      carriedInputsFromText(R"({"x":{"min":[1,3],"opt":[4,3],"max":[8,3]},"version":{"min":[],"opt":[],"max":[]}})");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read.value().version, 1);
  ASSERT_EQ(read.value().inputs.size(), 2U);
  EXPECT_EQ(read.value().inputs[0].spec.max, (Dims{8, 3}));
  EXPECT_EQ(read.value().inputs[0].spec.dtype, DataType::Undefined);
  EXPECT_EQ(read.value().inputs[1].spec.name, "version");
}

TEST(InputSpecMetadata, RandomSpecsAreReadBack) {
  std::mt19937 random(30);
  const std::vector<std::string> pieces{"x", ",", "=",  "'", "\"", " ", "\n", "é", "名",   ":", "\\",
                                        "{", "0", "..", "%", "\t", "]", "#",  "*", "🙂", ""};
  const std::vector<DataType> types{DataType::F32, DataType::I64, DataType::Bool, DataType::BF16, DataType::Undefined};
  for (int round = 0; round < 500; ++round) {
    std::vector<CarriedInput> inputs;
    for (std::size_t i = random() % 5; i > 0; --i) {
      CarriedInput input{.spec = {.name = std::to_string(i), .dtype = types[random() % types.size()]}};
      for (std::size_t piece = random() % 6; piece > 0; --piece) input.spec.name += pieces[random() % pieces.size()];
      input.spec.source = "metadata";
      bool named = false;
      std::vector<std::string> symbols;
      for (std::size_t axis = random() % 6; axis > 0; --axis) {
        const auto least = static_cast<std::int64_t>(random() % 100);
        input.spec.min.push_back(least);
        input.spec.opt.push_back(least + static_cast<std::int64_t>(random() % 3));
        input.spec.max.push_back(input.spec.opt.back() + (random() % 4 == 0 ? std::int64_t{1} << 40 : 0));
        symbols.push_back(random() % 2 == 0 ? pieces[random() % pieces.size()] : "");
        named = named || !symbols.back().empty();
      }
      if (named) input.symbols = symbols;
      if (random() % 2 == 0) input.givenBy = "user";
      inputs.push_back(std::move(input));
    }
    const auto read = carriedInputsFromText(carriedInputsText(inputs));
    ASSERT_TRUE(read.ok()) << read.error().text();
    ASSERT_EQ(read.value().inputs, inputs) << carriedInputsText(inputs);
  }
}

TEST(InputSpecMetadata, DamagedTextIsAnErrorAndNothingElse) {
  const std::string good = inputSpecsText({{.name = "x", .dtype = DataType::F32, .min = {1}, .opt = {2}, .max = {3}},
                                           {.name = "s", .dtype = DataType::I64, .min = {}, .opt = {}, .max = {}}});
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string bad = good;
    for (std::size_t i = 1 + random() % 4; i > 0; --i) bad[random() % bad.size()] = static_cast<char>(random());
    (void)carriedInputsFromText(bad);
    (void)carriedInputsFromText(good.substr(0, random() % good.size()));
  }
  for (const char* bad :
       {R"({"version":2})", R"({"version":2,"inputs":{}})", R"({"version":2,"inputs":[{}]})",
        R"({"version":0,"inputs":[]})",
        R"({"version":2,"inputs":[{"name":"x","min":[1],"opt":[1],"max":[1],"type":"f99"}]})",
        R"({"version":2,"inputs":[{"name":"x","min":[1],"opt":[1],"max":[1],"symbols":[]}]})",
        R"({"version":2,"inputs":[{"name":"x","min":[],"opt":[],"max":[]},{"name":"x","min":[],"opt":[],"max":[]}]})",
        R"({"version":2,"inputs":[{"name":"x","min":[18446744073709551615],"opt":[1],"max":[1]}]})"})
    EXPECT_FALSE(carriedInputsFromText(bad).ok()) << bad;
}

TEST(InputSpecMetadata, ANewerVersionIsLeftOutWithAWord) {
  const auto model = importWith(R"({"version":3,"inputs":"in another form"})");
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(model.value().inputSpecs[0].source, "assumed");
  EXPECT_EQ(countCode(model.value(), "import.input_specs_newer"), 1U);
  EXPECT_EQ(countCode(model.value(), "import.input_specs_ignored"), 0U);
}

TEST(InputSpecMetadata, WhatIsFixedByMetadataIsFixedInTheNetwork) {
  const auto model = importWith(R"({"version":2,"inputs":[{"name":"x","min":[4,3],"opt":[4,3],"max":[4,3]},)"
                                R"({"name":"z","min":[1,3],"opt":[4,3],"max":[8,3]}]})");
  ASSERT_TRUE(model.ok()) << model.error().text();
  const auto prepared = prepareModel(model.value());
  ASSERT_TRUE(prepared.ok()) << prepared.error().text();
  const Graph& graph = *prepared.value().graph;
  EXPECT_EQ(graph.value(graph.inputs()[0]).type.shape.fixed(), (Dims{4, 3}));
}

TEST(InputSpecMetadata, ATypeThatTheFileContradictsIsLeftOut) {
  const auto model =
      importWith(R"({"version":2,"inputs":[{"name":"x","type":"f16","min":[1,3],"opt":[4,3],"max":[8,3]}]})");
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(model.value().inputSpecs[0].source, "assumed");
  EXPECT_EQ(countCode(model.value(), "import.input_specs_ignored"), 1U);
}

/// A network whose main graph has this note of PyTorch's exporter.
Result<Model> importRanges(const std::string& graph, const std::string& ranges) {
  const TemporaryFolder folder;
  onnxlib::NetworkEdits edits;
  edits.graphMetadata[kExporterRangesKey] = ranges;
  const auto edited = onnxlib::editNetwork(folder.write("model.onnx", onnxBytes(graph)), edits, "w");
  EXPECT_TRUE(edited.ok()) << edited.error().text();
  return importBytes(edited.value().model);
}

TEST(ExporterRanges, AreReadAndWritten) {
  const auto ranges = exporterRangesFromText("{s77: VR[1, 32], s10: VR[2, int_oo], 8*s39: VR[8, 512]}");
  ASSERT_TRUE(ranges);
  EXPECT_EQ(ranges->at("s77"), (ExporterRange{1, 32}));
  EXPECT_EQ(ranges->at("s10"), (ExporterRange{2, std::nullopt}));
  EXPECT_EQ(exporterRangesFromText(exporterRangesText(*ranges)), ranges);
  EXPECT_EQ(exporterRangesFromText("{}"), ExporterRanges());
  EXPECT_FALSE(exporterRangesFromText("{s0: VR[0, 9223372036854775806]}")->at("s0").most);
  const auto beside = exporterRangesFromText("{s77: VR[2, 32], u0: VR[-int_oo, int_oo]}");  // u0 is no extent
  ASSERT_TRUE(beside);
  EXPECT_EQ(beside->size(), 1U);
  EXPECT_EQ(beside->at("s77").most, 32);
  for (const char* bad : {"", "{", "s0", "{s0}", "{s0: VR[1, 2}", "{s0: VR[1]}", "{s0: VR[3, 2]}", "{s0: VR[a, 2]}",
                          "{: VR[1, 2]}", "{s0: VR[1, 2] s1: VR[1, 2]}"})
    EXPECT_FALSE(exporterRangesFromText(bad)) << bad;
}

TEST(ExporterRanges, BoundTheInputsOfAFile) {
  const auto named = importRanges(kNetwork, "{batch: VR[2, 16]}"), other = importRanges(kNetwork, "{s77: VR[2, 16]}");
  for (const auto* model : {&named, &other}) {
    ASSERT_TRUE(model->ok()) << model->error().text();
    const InputSpec& spec = model->value().inputSpecs[0];
    EXPECT_EQ(spec.source, "exporter");
    EXPECT_EQ(spec.min, (Dims{2, 3}));
    EXPECT_EQ(spec.max, (Dims{16, 3}));
    const auto prepared = prepareModel(model->value());
    ASSERT_TRUE(prepared.ok()) << prepared.error().text();
    EXPECT_EQ(prepared.value().inputSpecs[0].max, (Dims{16, 3}));
    EXPECT_EQ(prepared.value().inputSpecs[0].source, "exporter");
    EXPECT_EQ(countCode(prepared.value(), "input.range_of_exporter"), 2U);
    EXPECT_EQ(countCode(prepared.value(), "input.assumed"), 0U);
  }
}

TEST(ExporterRanges, OfSymbolsThatNobodyTiesBoundNothing) {
  constexpr const char* kTwo = "g (float[a, 3] x, float[b, 3] z) => (float[a, 3] y) { y = Identity (x) }";
  const auto untied = importRanges(kTwo, "{s1: VR[2, 16], s2: VR[2, 4]}");
  ASSERT_TRUE(untied.ok());
  EXPECT_EQ(untied.value().inputSpecs[0].source, "assumed");
  const auto half = importRanges(kTwo, "{b: VR[2, 16], s2: VR[2, 4]}");
  EXPECT_EQ(half.value().inputSpecs[0].source, "assumed");
  EXPECT_EQ(half.value().inputSpecs[1].source, "exporter");
  const auto open = importRanges(kTwo, "{b: VR[2, int_oo]}");
  EXPECT_EQ(open.value().inputSpecs[1].source, "assumed") << "a range without end is no range";
  EXPECT_EQ(open.value().inputSpecs[1].min, (Dims{2, 3}));
  const auto bad = importRanges(kTwo, "VR");
  EXPECT_EQ(countCode(bad.value(), "import.input_specs_ignored"), 1U);
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
