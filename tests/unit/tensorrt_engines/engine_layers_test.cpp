// Files of engines as they are read, before their layers are placed on a network.
#include "frontends/tensorrt/engine_layers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "frontends/tensorrt/lenient_json.h"
#include "session/import_engine.h"
#include "tests/support/paths.h"
#include "tests/unit/tensorrt_engines/engine_networks.h"
#include "tests/unit/tensorrt_engines/imported_engine.h"

namespace fusescope::test {
namespace {

TEST(EngineFiles, AreRecognisedByTheirContent) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto sorted = sortEngineFiles({data("trt10-onnx-alexnet-fp16/alexnet_fp16.timing.json"),
                                       data("trt10-onnx-alexnet-fp16/alexnet_fp16.profile.json"),
                                       data("trt10-onnx-alexnet-fp16/alexnet_fp16.graph.json")});
  ASSERT_TRUE(sorted.ok()) << sorted.error().text();
  EXPECT_EQ(sorted.value().layers.filename(), "alexnet_fp16.graph.json");
  EXPECT_EQ(sorted.value().profile.filename(), "alexnet_fp16.profile.json");
  EXPECT_EQ(sorted.value().times.filename(), "alexnet_fp16.timing.json");
  const auto log = sortEngineFiles({data("trt10.16-mnist/trtexec-verbose-build.log")});
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log.value().layers, log.value().log);
  EXPECT_FALSE(sortEngineFiles({data("trt10.16-mnist/trtexec-help.txt")}).ok());
  EXPECT_FALSE(
      sortEngineFiles({data("trt10.16-mnist/exportLayerInfo.json"), data("torch-trt-vgg16/trt_engine_info.json")})
          .ok());
}

TEST(EngineFiles, DamagedFilesAreErrorsWithTheirPlace) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text) {
    EngineImport request;
    request.files.layers = folder.write("layers.json", text);
    const auto artifact = importEngine(request);
    EXPECT_FALSE(artifact.ok()) << text.substr(0, 80);
    return artifact.ok() ? std::string() : artifact.error().text();
  };
  EXPECT_NE(refused("").find("empty"), std::string::npos);
  EXPECT_NE(refused("{\"Layers\": [{\"Name\": \"a\"").find("line 1, column 25"), std::string::npos)
      << refused("{\"Layers\": [{\"Name\": \"a\"");
  EXPECT_NE(refused("{\"Layers\": []}").find("empty"), std::string::npos);
  EXPECT_NE(refused("{\"Layers\": [{}]}").find("layer 0"), std::string::npos);
  EXPECT_NE(refused("{\"Layers\": [7]}").find("layer 0"), std::string::npos);
  EXPECT_NE(refused("{\"Layers\": " + std::string(1000, '[')).find("nesting"), std::string::npos);
  EXPECT_NE(refused("{\"other\": 1}").find("not layer information"), std::string::npos);
  EXPECT_FALSE(refused("Layers:\nName: a, LayerType: b, Inputs: [\n\nBindings:\n").empty());
  // Numbers that no extent can be are open extents.
  const auto huge = parseEngineLayers(
      R"({"Layers": [{"Name": "a", "LayerType": "b", "Outputs": [{"Name": "t", "Dimensions": [1e400, 99999999999999999999, -1],
          "Format/Datatype": "Float"}]}]})");
  ASSERT_TRUE(huge.ok()) << huge.error().text();
  EXPECT_EQ(huge.value().layers.front().outputs.front().dims, (std::vector<std::int64_t>{-1, -1, -1}));
}

TEST(EngineFiles, Version11SplitsTypeFromFormat) {
  const auto layers = parseEngineLayers(
      R"json({"Layers": [{"Name": "n_myl0_1", "LayerType": "kgen", "Inputs": [{"Name": "x", "Dimensions": [4], "Datatype": "Half",
          "Format": "Row major linear FP16 format (kLINEAR)"}], "Outputs": [{"Name": "y", "Dimensions": [4],
          "DataType": "Float", "Format": "Row major linear FP32 format (kLINEAR)"}],
          "Metadata": "[ONNX Layer: a]\u001e[ONNX Layer: b | Local Function: f]"
}],
          "I/O Tensors": [{"Name": "x", "IOMode": "Input", "DataType": "Half", "Dimensions": [4]},
                          {"Name": "y", "IOMode": "Output", "DataType": "Float", "Dimensions": [4]}]
})json");
  ASSERT_TRUE(layers.ok()) << layers.error().text();
  EXPECT_EQ(layers.value().oldestVersion, "11");
  const ListedLayer& layer = layers.value().layers.front();
  EXPECT_EQ(listedType(layer.inputs.front().type), DataType::F16);
  EXPECT_EQ(listedType(layer.outputs.front().type), DataType::F32);
  EXPECT_EQ(namesInMetadata(layer.metadata), (std::vector<std::string>{"a", "b | Local Function: f"}));
  EXPECT_EQ(layers.value().tensors.front().isInput, true);
  EXPECT_EQ(layers.value().tensors.back().isInput, false);
}

TEST(LenientJson, ReadsWhatTensorrtWrites) {
  const auto json = parseLenientJson(
      "[ {\"name\" : \"a \"quoted\" \x01 name\", \"ms\" : nan, \"more\": -inf, \"big\": "
      "9007199254740993, \"e\": \"\\u001e\\q\"} ]");
  ASSERT_TRUE(json.ok()) << json.error().text();
  const Json& entry = json.value()[0];
  EXPECT_EQ(entry["name"], "a \"quoted\" \x01 name");
  EXPECT_TRUE(std::isnan(entry["ms"].get<double>()));
  EXPECT_EQ(entry["big"].get<std::int64_t>(), 9007199254740993);
  EXPECT_EQ(entry["e"], "\x1e\\q");
  EXPECT_FALSE(parseLenientJson("[1, 2").ok());
  EXPECT_FALSE(parseLenientJson("[1, 2] 3").ok());
}

}  // namespace
}  // namespace fusescope::test
