// Lists of layers as TensorRT prints them, of both generations, with names that look like the list itself.
#include "frontends/tensorrt/layer_list.h"

#include "tests/unit/compilers/tensorrt_rtx_testing.h"

namespace fusescope::test {
namespace {

std::vector<ListedLayer> parsed(std::string_view text) {
  auto layers = parseLayerList(text);
  EXPECT_TRUE(layers.ok()) << (layers.ok() ? "" : layers.error().text());
  return layers.ok() ? std::move(layers).value() : std::vector<ListedLayer>();
}

TEST(TensorrtLayerList, ReadsLayersWithAllThatIsSaidOfThem) {
  const auto layers = parsed(
      "Layers:\n"
      "Name: n0_myl0_0, LayerType: gemm, Inputs: [ { Name: v0, Dimensions: [4,8], Strides: [1,4], StrideOrder: [0,1], "
      "Datatype: Half, Format: (Arbitrary) Format with stride order = [0,1] }, { Name: v1, Dimensions: [], Strides: "
      "[], "
      "StrideOrder: [], Datatype: Int64, Format: (Linear) Row major linear format }], Constants: [ { Name: w, "
      "Dimensions: [8,8], Strides: [8,1], StrideOrder: [1,0], Datatype: FP8, Format: (Linear) Row major linear format "
      "}], Outputs: [], TacticName: some_kernel, StreamId: 1, Metadata: [ONNX Layer: n0]\x1f[ONNX Layer: n1]\n"
      "Name: s, LayerType: signal, Inputs: [], Constants: [], Outputs: [], TacticName: , StreamId: 0, EventId: 1, "
      "Metadata: \n\n"
      "I/O Tensors:\n Name: v0, LayerType: none, IOMode: Input, DataType: Float\n");
  ASSERT_EQ(layers.size(), 2U);
  const ListedLayer& gemm = layers[0];
  EXPECT_EQ(gemm.name, "n0_myl0_0");
  EXPECT_EQ(gemm.type, "gemm");
  EXPECT_EQ(gemm.tactic, "some_kernel");
  EXPECT_EQ(gemm.stream, 1);
  ASSERT_EQ(gemm.inputs.size(), 2U);
  EXPECT_EQ(gemm.inputs[0].name, "v0");
  EXPECT_EQ(gemm.inputs[0].dims, (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(gemm.inputs[0].strides, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(gemm.inputs[0].strideOrder, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(gemm.inputs[0].format, "(Arbitrary) Format with stride order = [0,1]");
  EXPECT_EQ(listedType(gemm.inputs[0].type), DataType::F16);
  EXPECT_TRUE(gemm.inputs[1].dims.empty());
  ASSERT_EQ(gemm.constants.size(), 1U);
  EXPECT_EQ(listedType(gemm.constants[0].type), DataType::F8E4M3);
  EXPECT_EQ(namesInMetadata(gemm.metadata), (std::vector<std::string>{"n0", "n1"}));
  EXPECT_EQ(layers[1].type, "signal");
  EXPECT_EQ(layers[1].stream, 0);
  EXPECT_EQ(layers[1].tactic, "");
  EXPECT_TRUE(namesInMetadata(layers[1].metadata).empty());
}

TEST(TensorrtLayerList, ReadsTheListOfTheServersTensorrt) {
  const auto layers = parsed(
      "Layers:\nName: conv + relu, LayerType: CaskConvolution, Inputs: [ { Name: x, Location: Device, Dimensions: "
      "[1,1,28,28], Format/Datatype: Row major linear FP32 }], Outputs: [ { Name: y, Location: Device, Dimensions: "
      "[1,32,28,28], Format/Datatype: Float }], ParameterType: Convolution, Kernel: [5,5], HasBias: 1, TacticName: "
      "sm80_xmma, TacticValue: 0x5b, StreamId: 0, Metadata: [ONNX Layer: conv]\x1e[ONNX Layer: "
      "relu]\n\nBindings:\nx\n");
  ASSERT_EQ(layers.size(), 1U);
  EXPECT_EQ(layers[0].name, "conv + relu");
  EXPECT_TRUE(layers[0].constants.empty());
  ASSERT_EQ(layers[0].outputs.size(), 1U);
  EXPECT_EQ(listedType(layers[0].outputs[0].type), DataType::F32);
  EXPECT_EQ(layers[0].tactic, "sm80_xmma");
  EXPECT_EQ(namesInMetadata(layers[0].metadata), (std::vector<std::string>{"conv", "relu"}));
}

TEST(TensorrtLayerList, NamesMayHoldWhatTheListIsPartedBy) {
  const std::string name = "a, b [c] } { Name: d\ne";
  const auto layers = parsed("Layers:\nName: k_myl0_0, LayerType: kgen, Inputs: [ { Name: " + name +
                             ", Dimensions: [2], Strides: [1], StrideOrder: [0], Datatype: Float, Format: (Linear) Row "
                             "major linear format }], Constants: [], Outputs: [], TacticName: , StreamId: 0, Metadata: "
                             "[ONNX Layer: " +
                             name + "]\x1f[ONNX Layer: x]y]\n");
  ASSERT_EQ(layers.size(), 1U);
  ASSERT_EQ(layers[0].inputs.size(), 1U);
  EXPECT_EQ(layers[0].inputs[0].name, name);
  EXPECT_EQ(namesInMetadata(layers[0].metadata), (std::vector<std::string>{name, "x]y"}));
}

TEST(TensorrtLayerList, ALayersNameMayHaveLineEndsAndTheWordsOfAList) {
  const auto layers = parsed(
      "Layers:\nName: a, LayerType: kgen, Inputs: [], Outputs: [], Metadata: [ONNX Layer: a]\n"
      "Name: b\nName: c, LayerType: d_myl0_1, LayerType: gemm, Inputs: [], Outputs: [], Metadata: [ONNX Layer: b]\n");
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(namesInMetadata(layers[0].metadata), std::vector<std::string>{"a"});
  EXPECT_EQ(layers[1].name, "b\nName: c, LayerType: d_myl0_1");
  EXPECT_EQ(layers[1].type, "gemm");
}

TEST(TensorrtLayerList, SaysWhereItCannotBeRead) {
  const std::string good = "Layers:\nName: a, LayerType: kgen, Inputs: [], Outputs: [], Metadata: \n";
  EXPECT_EQ(parsed(good).size(), 1U);
  for (const std::string bad :
       {"Name: b, LayerType: kgen, Inputs: [ { Name: x, Dimensions: [1,], Datatype: Float }], Metadata: ",
        "Name: b, LayerType: kgen, Inputs: [ { Name: x, Dimensions: [1 }], Metadata: ",
        "Name: b, LayerType: kgen, Inputs: [ { Name: x, Dimensions: [99999999999999999999] }], Metadata: ",
        "Name: b, LayerType: kgen, Inputs: { }, Metadata: ", "Name: b, LayerType: kgen",
        "Name: b, LayerType: kgen, "}) {
    const auto layers = parseLayerList(good + bad + "\n");
    ASSERT_FALSE(layers.ok()) << bad;
    EXPECT_NE(layers.error().message.find("line 3"), std::string::npos) << layers.error().message;
  }
}

TEST(TensorrtLayerList, MetadataThatIsNoneNamesNothing) {
  for (const std::string_view text :
       {"", "\x1f\x1e", "[ONNX Layer: a", "ONNX Layer: a]", "[Other: a]", "[ONNX Layer:a]"})
    EXPECT_TRUE(namesInMetadata(text).empty()) << text;
  EXPECT_EQ(namesInMetadata("[ONNX Layer: ]"), std::vector<std::string>{""});
}

}  // namespace
}  // namespace fusescope::test
