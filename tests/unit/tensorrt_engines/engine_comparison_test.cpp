// Two engines of one network side by side: of two versions, under other names, with and without the network.
#include <gtest/gtest.h>

#include <algorithm>

#include "session/compare_engine_files.h"
#include "session/documents/compare_report.h"
#include "session/layer_match.h"
#include "tests/unit/tensorrt_engines/imported_engine.h"

namespace fusescope::test {
namespace {

std::shared_ptr<const ReadBackPlan> overItsNetwork(const std::string& engine) {
  return Imported(engineNamed(engine)).read();
}

/// From its layers alone.
std::shared_ptr<const ReadBackPlan> alone(const std::string& engine) {
  EngineImport request;
  request.files.layers = data(engineNamed(engine).layers);
  request.files.profile = data(engineNamed(engine).profile);
  const auto artifact = importEngine(request);
  EXPECT_TRUE(artifact.ok()) << (artifact.ok() ? "" : artifact.error().text());
  return artifact.ok() ? artifact.value().made : nullptr;
}

std::shared_ptr<const ReadBackPlan> ofText(const TemporaryFolder& folder, const std::string& layers) {
  EngineImport request;
  request.files.layers = folder.write("layers.json", layers);
  const auto artifact = importEngine(request);
  EXPECT_TRUE(artifact.ok()) << (artifact.ok() ? "" : artifact.error().text());
  return artifact.ok() ? artifact.value().made : nullptr;
}

std::size_t timedOnBothSides(const EngineFilesComparison& comparison) {
  return static_cast<std::size_t>(
      std::ranges::count_if(comparison.groups, [](const CompareGroup& group) { return group.deltaMs.has_value(); }));
}

TEST(EngineComparison, TypesOfOneVersionAreComparedByNodes) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto a = overItsNetwork("pytorch-resnet18-A100-fp32"), b = overItsNetwork("pytorch-resnet18-A100-fp16");
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const EngineFilesComparison comparison = compareEngineFiles(*a, *b);
  EXPECT_EQ(timedOnBothSides(comparison), 23U);
  EXPECT_EQ(comparison.groups.size(), 23U);
  EXPECT_EQ(comparison.a.conversions, 9);
  EXPECT_EQ(comparison.b.conversions, 13);
  EXPECT_NEAR(*comparison.totals.aMs, *comparison.a.kernelsMs, 1e-9) << "conversions are no part of the groups";
  EXPECT_FALSE(comparison.totals.onlyAMs || comparison.totals.onlyBMs);
  EXPECT_NE(comparison.notRanked.find("on which device"), std::string::npos);
}

TEST(EngineComparison, VersionsUnderOtherNamesAreComparedByNodes) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto a = overItsNetwork("pytorch-resnet18-A100-fp16"), b = overItsNetwork("trt10-onnx-resnet18-fp16");
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const EngineFilesComparison comparison = compareEngineFiles(*a, *b);
  EXPECT_EQ(timedOnBothSides(comparison), 23U);
  EXPECT_EQ(comparison.groups.size(), 23U);
  EXPECT_NE(comparison.matchedBy.find("node by node"), std::string::npos) << comparison.matchedBy;
  EXPECT_EQ(comparison.notRanked, "A was built for input.1 32x3x224x224, B for input 1x3x224x224");
}

TEST(EngineComparison, WithoutNetworksTheLayersSayWhatBelongsTogether) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto a = alone("pytorch-resnet18-A100-fp32"), b = alone("pytorch-resnet18-A100-fp16"),
             c = alone("trt10-onnx-resnet18-fp16"), d = alone("trt10-onnx-api-resnet18");
  ASSERT_TRUE(a != nullptr && b != nullptr && c != nullptr && d != nullptr);
  // By names of nodes, in the names of layers and in metadata.
  const LayerMatch named = matchLayers(*a, *b);
  EXPECT_EQ(named.byNames, 23);
  EXPECT_EQ(named.onlyA + named.onlyB, 0);
  const LayerMatch metadata = matchLayers(*c, *d);
  EXPECT_EQ(metadata.byNames, 23);
  // Of two versions under other names by structure alone.
  const LayerMatch structured = matchLayers(*b, *c);
  EXPECT_EQ(structured.byNames, 0);
  EXPECT_GE(structured.byStructure, 22);
  const EngineFilesComparison comparison = compareEngineFiles(*b, *c);
  EXPECT_FALSE(comparison.a.hasNetwork);
  EXPECT_NE(comparison.matchedBy.find("by the names and types of their layers"), std::string::npos)
      << comparison.matchedBy;
  EXPECT_EQ(comparison.a.conversions, 13);
  EXPECT_EQ(comparison.b.conversions, 3);
  for (const CompareGroup& group : comparison.groups) {
    if (group.a.empty() || group.b.empty()) continue;
    const std::string &ofA = group.a.front().place.name, &ofB = group.b.front().place.name;
    EXPECT_EQ(ofA.find("Conv") == std::string::npos, ofB.find("Conv") == std::string::npos) << ofA << " and " << ofB;
  }
}

TEST(EngineComparison, ANetworkOnOneSideIsEnoughForItsNames) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto a = overItsNetwork("pytorch-resnet18-A100-fp32"), b = alone("pytorch-resnet18-A100-fp16");
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const LayerMatch match = matchLayers(*a, *b);
  EXPECT_EQ(match.byNames, 23);
  EXPECT_NE(compareEngineFiles(*a, *b).matchedBy.find("B has no network"), std::string::npos);
}

std::string layer(const std::string& name, const std::string& type, const std::string& in, const std::string& out,
                  int extent) {
  return R"({"Name": ")" + name + R"(", "LayerType": ")" + type + R"(", "Inputs": [{"Name": ")" + in +
         R"(", "Dimensions": [1, 4], "Format/Datatype": "Row major linear FP32"}], "Outputs": [{"Name": ")" + out +
         R"(", "Dimensions": [1, )" + std::to_string(extent) +
         R"(], "Format/Datatype": "Row major linear FP32"}], "ParameterType": "Convolution"})";
}

TEST(EngineComparison, NumbersOfTwoNetworksAreNoNames) {
  const TemporaryFolder one, other;
  const auto a = ofText(one, R"({"Layers": [)" + layer("Conv_0", "CaskConvolution", "x", "t", 8) + "," +
                                 layer("Conv_1", "CaskConvolution", "t", "y", 16) + R"(], "Bindings": ["x", "y"]})");
  const auto b = ofText(other, R"({"Layers": [)" + layer("Conv_0", "CaskConvolution", "x", "t", 3) + "," +
                                   layer("Conv_1", "CaskConvolution", "t", "y", 5) + R"(], "Bindings": ["x", "y"]})");
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const LayerMatch match = matchLayers(*a, *b);
  EXPECT_TRUE(match.namesContradict);
  EXPECT_EQ(match.byNames + match.byStructure, 0) << "what they write is of other sizes";
  EXPECT_EQ(match.onlyA, 2);
  EXPECT_NE(compareEngineFiles(*a, *b).matchedBy.find("they were not used"), std::string::npos);
}

}  // namespace
}  // namespace fusescope::test
