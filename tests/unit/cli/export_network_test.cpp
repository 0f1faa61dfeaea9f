// `export --to onnx`: what is written where, what is refused, and what the exit status says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/files.h"
#include "frontends/importers.h"
#include "interchange/npz.h"
#include "ir/graph.h"
#include "onnxlib/onnx_text.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

class ExportNetwork : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (m_folder / name).string(); }

  std::string network(const std::string& text) const {
    const auto bytes = onnxlib::onnxTextToBytes("<ir_version: 8, opset_import: [\"\" : 18, \"custom\" : 1]>\n" + text);
    EXPECT_TRUE(bytes.ok()) << bytes.error().text();
    return m_folder.write("model.onnx", bytes.value()).string();
  }

  /// Inputs "x" of `dims`: a number, and from element to element a step more.
  std::string inputs(Dims dims, float number, float step = 0) const {
    Tensor x = Tensor::zeros(DataType::F32, std::move(dims));
    for (float& element : x.mutableData<float>()) element = std::exchange(number, number + step);
    EXPECT_TRUE(writeNpz(path("in.npz"), {{"x", x}}).ok());
    return path("in.npz");
  }

  static ProcessResult exported(const std::string& model, const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> arguments{"export", model, "--to", "onnx", "-o", out, "--precision", "f16"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fusescopeCommand(arguments);
  }

  static std::size_t countOf(const Model& model, std::string_view op) {
    const auto isOne = [&](const Origin& origin) { return origin.op == op; };
    return static_cast<std::size_t>(std::ranges::count_if(model.origins, isOne));
  }

  TemporaryFolder m_folder;
};

TEST_F(ExportNetwork, TheNetworkIsWrittenWithThePlansTypes) {
  const auto result = exported(samplePath("fp16_overflow"), path("out.onnx"), {"--pin", "node_linear=f32", "--json"});
  const Json json = jsonOf(result);
  EXPECT_EQ(json["to"], "onnx");
  EXPECT_EQ(json["bytes"], std::filesystem::file_size(path("out.onnx")));
  const auto model = importModel(path("out.onnx"));
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_GE(countOf(model.value(), "Cast"), 1U);
  const Graph& graph = *model.value().graph;
  const Node& pinned = graph.node(*graph.findNode("node_linear"));
  EXPECT_EQ(graph.value(pinned.inputs[1]).type.dtype, DataType::F32) << "its weight";
  for (const auto& entry : std::filesystem::directory_iterator(m_folder.path()))
    EXPECT_EQ(entry.path().filename(), "out.onnx") << "what was checked is gone";
}

TEST_F(ExportNetwork, InputsAndOutputsGetThePlansTypesWhereAsked) {
  ASSERT_EQ(exported(samplePath("fp16_overflow"), path("out.onnx"), {"--io", "plan"}).status, 0);
  const auto model = importModel(path("out.onnx"));
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(countOf(model.value(), "Cast"), 0U);
  EXPECT_EQ(model.value().graph->value(model.value().graph->inputs()[0]).type.dtype, DataType::F16);
}

/// Statistics of f32 that a normalisation in f16 leaves are no reason to calculate it in f32.
TEST_F(ExportNetwork, ResultsThatAreDeclaredWiderStayWithoutCasts) {
  const std::string model = network(
      "net (float16[2, 4] x) => (float16[2, 4] y, float[2, 1] mean) <float16[4] scale = {1, 2, 3, 4}> "
      "{ [norm] y, mean = LayerNormalization(x, scale) }");
  const auto result = fusescopeCommand({"export", model, "--to", "onnx", "-o", path("out.onnx")});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto written = importModel(path("out.onnx"));
  ASSERT_TRUE(written.ok()) << written.error().text();
  EXPECT_EQ(countOf(written.value(), "Cast"), 0U);
}

/// A Cast of the author's own is the one that rounds what the plan stores narrow.
TEST_F(ExportNetwork, AnExportThatIsExportedAgainHasTheSameNodes) {
  const std::string tail = "[cast] b = Cast <to = 10>(a) [last] y = Relu(b) }";
  const std::vector<std::pair<std::string, std::size_t>> networks = {
      {"net (float[4, 16] x) => (float16[4, 16] y) { [first] a = Softmax(x) " + tail, 1},
      {"net (float[4, 16] x) => (float16[4, 16] y) { [first] a = CumSum(x, k) " + tail, 1},
      {"net (float[4, 16] x) => (float16[4, 3] y) { [first] a, i = TopK(x, k1) " + tail, 1},
      {"net (float[4, 16] x) => (float16 y, uint8[4, 16] q) { [first] q, a, z = DynamicQuantizeLinear(x) " + tail, 1},
      {"net (float16[4, 16] x) => (float16[4, 1] y) { [first] n, m, a = LayerNormalization(x, scale) " + tail, 1},
      {"net (float[4, 16] x) => (float16[16, 4] y) { [first] a = Transpose(x) " + tail, 1},
      // The Cast stands behind another reader, or behind a move.
      {"net (float[4, 16] x) => (float16[4, 16] y, float16[4, 16] o) { [first] a = Softmax(x) [copy] c = Identity(a) "
       "[down] d = Cast <to = 10>(c) [other] o = Sigmoid(d) " +
           tail,
       3},
      {"net (float[4, 16] x) => (float16[16, 4] y) { [first] t = Softmax(x) [move] a = Transpose(t) " + tail, 2}};
  for (const auto& [text, casts] : networks) {
    const std::size_t brace = text.find('{');
    std::string from = network(text.substr(0, brace) +
                               "<float16[16] scale = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, int64 k = {1}, "
                               "int64[1] k1 = {3}> " +
                               text.substr(brace));
    std::vector<std::string> nodes;
    for (const char* name : {"once.onnx", "twice.onnx", "thrice.onnx"}) {
      const auto result = fusescopeCommand({"export", from, "--to", "onnx", "-o", path(name)});
      ASSERT_EQ(result.status, 0) << text << result.err;
      from = path(name);
      const auto model = importModel(from);
      ASSERT_TRUE(model.ok()) << model.error().text();
      nodes.emplace_back();
      for (const Origin& origin : model.value().origins) nodes.back() += origin.op + " " + origin.name + "\n";
      EXPECT_EQ(countOf(model.value(), "Cast"), casts) << text << nodes.back();
    }
    EXPECT_EQ(nodes[0], nodes[1]) << text;
    EXPECT_EQ(nodes[0], nodes[2]) << text;
  }
}

/// What lies in sequences and optionals keeps the file's types, and so does what goes into them and comes out.
TEST_F(ExportNetwork, SequencesKeepTheTypesOfTheFile) {
  const char* const joined =
      "net (float[4, 4] x) => (float[8, 4] y) { [first] a = MatMul(x, x) [second] b = Relu(a) "
      "[list] s = SequenceConstruct(a, b) [join] c = ConcatFromSequence <axis = 0>(s) [last] y = MatMul(c, x) }";
  const char* const taken =
      "net (float[4, 4] x) => (float[2, 4] y) <int64 one = {1}, int64 two = {2}> { [first] a = MatMul(x, x) "
      "[cut] s = SplitToSequence <axis = 0>(a, two) [second] b = Relu(a) [put] t = SequenceInsert(s, b) "
      "[at] c = SequenceAt(t, one) [last] y = MatMul(c, x) }";
  for (const char* text : {joined, taken}) {
    const std::string model = network(text);
    const auto result = exported(model, path("out.onnx"), {"--inputs", inputs({4, 4}, 0.1F, 0.05F)});
    EXPECT_EQ(result.status, 0) << text << result.err;
  }
}

TEST_F(ExportNetwork, WhatOverflowsBetweenNodesStaysWide) {
  const std::string model = network(
      "net (float[1, 2, 1, 1] x) => (float[1, 2, 1, 1] y) <float[2, 2, 1, 1] w = {200, 200, 100, 100}, float k = "
      "{0.001}>"
      " { [conv] c = Conv(x, w) [scale] m = Mul(c, k) [relu] y = Relu(m) }");
  const std::string values = inputs({1, 2, 1, 1}, 200);
  const auto result = exported(model, path("out.onnx"), {"--inputs", values});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("these stay wide, at 2 more Casts and 24 B more to move"), std::string::npos) << result.err;
  // The network as it is written, with each value stored, gives what the plan gives.
  const std::string expected = path("expected.npz");
  ASSERT_EQ(fusescopeCommand({"run", model, "--precision", "f16", "--inputs", values, "--outputs", expected}).status,
            0);
  EXPECT_EQ(fusescopeCommand({"run", path("out.onnx"), "--split", "*", "--backend", "reference", "--inputs", values,
                              "--expect", expected})
                .status,
            0);
}

/// The kernel holds the product wide, and what is stored of it is wide as well: a Relu between them hides nothing.
TEST_F(ExportNetwork, WhatIsStoredWideBehindAReluStaysWideBeforeIt) {
  const std::string folder = std::filesystem::path(samplePath("fp16_overflow")).parent_path().string();
  const auto result =
      exported(samplePath("fp16_overflow"), path("out.onnx"),
               {"--pin", "node_relu_1=f32", "--pin", "node_layer_norm=f32", "--inputs", folder + "/io.npz"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("'linear_1' of kernel 'node_linear_1 + node_relu_1'"), std::string::npos) << result.err;
  EXPECT_EQ(fusescopeCommand({"run", path("out.onnx"), "--split", "*", "--backend", "reference", "--inputs",
                              folder + "/io.npz", "--expect", folder + "/io.npz", "--tol-rms", "1e-2"})
                .status,
            0);
}

/// NaN equals NaN: what the plan gives says nothing of whether it is right.
TEST_F(ExportNetwork, OutputsThatAreFiniteInFloat32AloneAreRefusedWithTheNodes) {
  const std::string folder = std::filesystem::path(samplePath("fp16_overflow")).parent_path().string();
  const std::string before = "what was there";
  m_folder.write("out.onnx", before);
  const auto result =
      exported(samplePath("fp16_overflow"), path("out.onnx"), {"--inputs", folder + "/io.npz", "--tol-rms", "1e9"});
  EXPECT_EQ(result.status, 1) << result.err;
  for (const char* text :
       {"of output 'linear_2' is infinite or NaN where float32 is finite, by the reference backend",
        "it begins at node_linear_1 + node_relu_1 (relu_1)", "Nothing was written", "fusescope tune"})
    EXPECT_NE(result.err.find(text), std::string::npos) << text << "\n" << result.err;
  EXPECT_EQ(result.err.find("--tol-rms"), std::string::npos) << "no tolerance allows it: " << result.err;
  EXPECT_EQ(readTextFile(path("out.onnx")).value(), before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(m_folder.path()), {}), 1) << "nothing is left beside it";
}

TEST_F(ExportNetwork, EverySampleIsHeldAgainstFloat32) {
  const std::string model = network("net (float[2] x) => (float[2] y) { [square] y = Mul(x, x) }");
  const std::string small = inputs({2}, 1), large = path("large.npz");
  std::filesystem::rename(small, path("small.npz"));
  std::filesystem::rename(inputs({2}, 300), large);
  const auto result = exported(model, path("out.onnx"), {"--inputs", path("small.npz"), "--inputs", large});
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_NE(result.err.find("on sample large"), std::string::npos) << result.err;
  EXPECT_EQ(exported(model, path("out.onnx"), {"--inputs", path("small.npz")}).status, 0);
}

// NaN equals NaN: such a sample would be 0 away from float32.
TEST_F(ExportNetwork, ASampleOnWhichFloat32HasNoNumberChecksNothing) {
  const std::string model = network("net (float[2] x) => (float[2] y) { [square] y = Mul(x, x) }");
  const auto result = exported(model, path("out.onnx"), {"--inputs", inputs({2}, std::nanf(""))});
  EXPECT_NE(result.status, 0);
  EXPECT_NE(result.err.find("the check would mean nothing"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("input 'x'"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(path("out.onnx")));
}

TEST_F(ExportNetwork, WhatTheTargetCannotRunIsSaid) {
  const std::string model = network("net (float[2,2] x) => (float d) { [sigmoid] y = Sigmoid(x) [det] d = Det(y) }");
  const auto refused = fusescopeCommand(
      {"export", model, "--target", "tensorrt-11", "--precision", "f16", "--to", "onnx", "-o", path("out.onnx")});
  EXPECT_EQ(refused.status, 0) << refused.err;
  EXPECT_NE(refused.err.find("tensorrt-11 cannot run these nodes, and it accepts a network only as a whole: det"),
            std::string::npos)
      << refused.err;
  EXPECT_EQ(refused.out.find("for strongly typed TensorRT"), std::string::npos) << refused.out;
}

TEST_F(ExportNetwork, ForWhomBf16IsIsSaid) {
  const auto lowered = fusescopeCommand(
      {"export", samplePath("fp16_overflow"), "--precision", "bf16", "--to", "onnx", "-o", path("bf16.onnx")});
  ASSERT_EQ(lowered.status, 0) << lowered.err;
  EXPECT_NE(lowered.err.find("ONNX Runtime's CPU provider"), std::string::npos) << lowered.err;
  EXPECT_NE(lowered.out.find("ONNX Runtime cannot do this on a CPU"), std::string::npos) << lowered.out;
  const auto half = exported(samplePath("fp16_overflow"), path("f16.onnx"), {});
  EXPECT_EQ(half.err.find("CPU provider"), std::string::npos) << half.err;
}

TEST_F(ExportNetwork, TheToleranceIsThatFromFloat32) {
  const std::string model = network("net (float[64] x) => (float[64] y) { [sigmoid] y = Sigmoid(x) }");
  const std::string values = inputs({64}, -3, 0.093F);
  const auto strict = exported(model, path("out.onnx"), {"--inputs", values, "--tol-rms", "1e-6"});
  EXPECT_EQ(strict.status, 1) << "one rounding to f16 is more: " << strict.err;
  EXPECT_NE(strict.err.find("differs from float32 by"), std::string::npos) << strict.err;
  EXPECT_NE(strict.err.find("--tol-rms"), std::string::npos) << strict.err;
  EXPECT_FALSE(std::filesystem::exists(path("out.onnx")));
  const Json json = jsonOf(exported(model, path("out.onnx"), {"--inputs", values, "--json"}));
  EXPECT_EQ(json["numbers"]["samples"], 1);
  for (const char* where : {"reference", "engine"}) {
    EXPECT_EQ(json["numbers"][where]["output"], "y");
    EXPECT_GT(json["numbers"][where]["error"], 1e-6);
    EXPECT_LT(json["numbers"][where]["error"], 1e-2);
  }
  EXPECT_EQ(json["numbers"]["plan"]["error"], 0) << "one node is stored as the plan stores it";
}

/// An engine for TensorRT cannot be built here, and what the network calculates can be.
TEST_F(ExportNetwork, NetworksForTensorRtAreCheckedToo) {
  const std::string model = network("net (float[2] x) => (float[2] y) { [square] y = Mul(x, x) }");
  const auto good = exported(model, path("out.onnx"), {"--inputs", inputs({2}, 3), "--target", "tensorrt-11"});
  EXPECT_EQ(good.status, 0) << good.err;
  const auto bad = exported(model, path("bad.onnx"), {"--inputs", inputs({2}, 300), "--target", "tensorrt-11"});
  EXPECT_EQ(bad.status, 1) << bad.err;
}

/// A Gemm between views is a product of rows to us, and stays what it is in the file.
TEST_F(ExportNetwork, GemmsBetweenViewsAreQuantised) {
  const std::string model = network(
      "net (float[2, 3, 4] x) => (float[2, 3, 4] y, float[2, 3, 4] z) <int64[2] flat = {-1, 4}, int64[3] back = "
      "{2, 3, 4}, float[4, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}, float[4] c = {1, 2, 3, 4}> {"
      "[down] m = Reshape(x, flat) [first] g = Gemm(m, w, c) [up] y = Reshape(g, back)"
      "[second] h = Gemm(m, w) [up_too] z = Reshape(h, back) }");
  const std::string values = inputs({2, 3, 4}, -1, 0.1F), ranges = path("ranges.json");
  ASSERT_EQ(fusescopeCommand({"calibrate", model, "--inputs", values, "-o", ranges}).status, 0);
  const auto result = fusescopeCommand({"export", model, "--precision", "int8", "--ranges", ranges, "--inputs", values,
                                        "--tol-rms", "0.1", "--to", "onnx", "-o", path("out.onnx"), "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_LT(jsonOf(result)["numbers"]["plan"]["error"], 1e-5) << result.out;
  const auto written = importModel(path("out.onnx"));
  ASSERT_TRUE(written.ok()) << written.error().text();
  EXPECT_EQ(countOf(written.value(), "Gemm"), 2U);
  EXPECT_EQ(countOf(written.value(), "QuantizeLinear"), 1U) << "both read the same codes";
  EXPECT_EQ(countOf(written.value(), "DequantizeLinear"), 4U);
}

/// TensorRT's parser takes no zero points.
TEST_F(ExportNetwork, ForWhomCodesAreGoodIsSaid) {
  const std::string model = network(
      "net (float[4, 4] x) => (float[4, 4] y) <float[4, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}> "
      "{ [product] y = MatMul(x, w) }");
  const std::string values = inputs({4, 4}, -1, 0.2F), ranges = path("ranges.json"), even = path("even.json");
  ASSERT_EQ(fusescopeCommand({"calibrate", model, "--inputs", values, "-o", ranges}).status, 0);
  ASSERT_EQ(fusescopeCommand({"calibrate", model, "--inputs", values, "--symmetric", "-o", even}).status, 0);
  const auto coded = [&](const std::string& by, std::vector<std::string> more) {
    std::vector<std::string> arguments{"export", model,  "--precision", "int8", "--ranges",
                                       by,       "--to", "onnx",        "-o",   path("out.onnx")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto result = fusescopeCommand(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result;
  };
  const auto shifted = coded(ranges, {});
  EXPECT_EQ(shifted.out.find("TensorRT"), std::string::npos) << shifted.out;
  for (const char* text : {"TensorRT's parser refuses them", "--symmetric", "--target tensorrt-11"})
    EXPECT_NE(shifted.err.find(text), std::string::npos) << shifted.err;
  for (const auto& result : {coded(even, {}), coded(ranges, {"--target", "tensorrt-11"})}) {
    EXPECT_NE(result.out.find("strongly typed TensorRT"), std::string::npos) << result.out;
    EXPECT_EQ(result.err.find("parser"), std::string::npos) << result.err;
  }
}

TEST_F(ExportNetwork, WhatNoCastMendsIsStatus1AndNothingIsWritten) {
  const std::string model = network(
      "net (float[64] x) => (float[64] y) { [call] h = custom.third(x) [last] y = Exp(h) }\n"
      "<domain: \"custom\", opset_import: [\"\" : 18]> third (a) => (b) "
      "{ k = Constant <value = float {3.3}>() b = Div(a, k) }");
  const std::string values = inputs({64}, 0.7F, 0.013F);
  const auto result = exported(model, path("out.onnx"), {"--inputs", values, "--tol-rms", "1e-9"});
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_NE(result.err.find("it begins at call/Div + last (y)"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(path("out.onnx")));
  const auto loose = exported(model, path("out.onnx"), {"--inputs", values});
  EXPECT_EQ(loose.status, 0) << loose.err;
  EXPECT_NE(loose.err.find("node 'call' keeps the types of the file"), std::string::npos) << loose.err;
}

TEST_F(ExportNetwork, InputSpecsAreReadBack) {
  const std::string model = network("net (float[batch, 4] x) => (float[batch, 4] y) { [sigmoid] y = Sigmoid(x) }");
  ASSERT_EQ(exported(model, path("out.onnx"), {"--min", "x=2x4", "--opt", "x=8x4", "--max", "x=16x4"}).status, 0);
  const Json spec = jsonOf(fusescopeCommand({"inspect", path("out.onnx"), "--json"}))["input_specs"][0];
  EXPECT_EQ(spec["source"], "metadata");
  EXPECT_EQ(spec["min"], Json({2, 4}));
  EXPECT_EQ(spec["opt"], Json({8, 4}));
  EXPECT_EQ(spec["max"], Json({16, 4}));
}

TEST_F(ExportNetwork, TheModelItselfIsNotWrittenOver) {
  const std::string model = network("net (float[4] x) => (float[4] y) { [sigmoid] y = Sigmoid(x) }");
  const auto before = readTextFile(model);
  const auto result = exported(model, model, {});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("would be written over"), std::string::npos) << result.err;
  EXPECT_EQ(readTextFile(model).value(), before.value());
}

/// Weights that are read from a file are converted: what is written holds nothing of it.
TEST_F(ExportNetwork, NothingThatWasReadIsWrittenOver) {
  const std::string model = network(
      "net (float[2, 64] x) => (float[2, 64] y) <float[64, 64] w = [\"location\": \"w.bin\"]> { y = MatMul(x, w) }");
  const std::string weights = m_folder.write("w.bin", std::string(64 * 64 * 4, '\0')).string();
  std::filesystem::create_hard_link(weights, path("out.onnx.data"));
  const std::string engine = path("built.fse");
  ASSERT_EQ(fusescopeCommand({"build", model, "-o", engine}).status, 0);
  const std::vector<std::vector<std::string>> exports = {
      {model, "--precision", "f16"}, {model, "--weight-only", "int8"}, {engine}};
  for (const auto& arguments : exports) {
    for (const std::string& over : {model, weights, path("out.onnx")}) {
      const auto before = readTextFile(weights);
      std::vector<std::string> command{"export", "--to", "onnx", "-o", over};
      command.insert(command.end(), arguments.begin(), arguments.end());
      const auto result = fusescopeCommand(command);
      EXPECT_EQ(result.status, 2) << arguments.back() << " " << over;
      EXPECT_NE(result.err.find("would be written over"), std::string::npos) << result.err;
      EXPECT_TRUE(importModel(model).ok());
      EXPECT_TRUE(readTextFile(weights).value() == before.value()) << over;
    }
  }
  EXPECT_EQ(fusescopeCommand({"export", engine, "--to", "onnx", "-o", engine}).status, 2);
  EXPECT_EQ(fusescopeCommand({"run", engine}).status, 0) << "the engine is as it was";
}

/// An engine file only names its model: another one may have been put there.
TEST_F(ExportNetwork, AnEngineIsExportedOnlyOfTheNetworkItWasBuiltOf) {
  const std::string text = "net (float[4] x) => (float[4] y) { [first] a = Relu(x) [second] y = ";
  const std::string model = network(text + "Sigmoid(a) }"), engine = path("built.fse"), out = path("out.onnx");
  ASSERT_EQ(fusescopeCommand({"build", model, "--precision", "f16", "-o", engine}).status, 0);
  const auto own = fusescopeCommand({"export", engine, "--to", "onnx", "-o", out});
  EXPECT_EQ(own.status, 0) << own.err;
  std::filesystem::remove(out);
  network(text + "Tanh(a) }");
  const auto other = fusescopeCommand({"export", engine, "--to", "onnx", "-o", out});
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("model.onnx: this is not the network from which"), std::string::npos) << other.err;
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(ExportNetwork, AnEngineIsExportedOnlyWithTheWeightsItWasBuiltOf) {
  const auto withWeights = [&](const std::string& number) {
    std::string weights = number;
    for (int i = 1; i < 64 * 64; ++i) weights += ", 0.5";
    return network("net (float[2, 64] x) => (float[2, 64] y) <float[64, 64] w = {" + weights +
                   "}> { y = MatMul(x, w) }");
  };
  const std::string engine = path("built.fse"), out = path("out.onnx");
  ASSERT_EQ(fusescopeCommand({"build", withWeights("0.5"), "-o", engine}).status, 0);
  withWeights("0.25");
  const auto other = fusescopeCommand({"export", engine, "--to", "onnx", "-o", out});
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("'w': this is not the network from which"), std::string::npos) << other.err;
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(ExportNetwork, TheModelOfAnEngineIsFoundBesideIt) {
  const std::string model = network("net (float[4] x) => (float[4] y) { [sigmoid] y = Sigmoid(x) }");
  std::filesystem::create_directory(path("moved"));
  const std::string engine = path("moved/built.fse"), out = path("out.onnx");
  ASSERT_EQ(fusescopeCommand({"build", model, "-o", engine}).status, 0);
  std::filesystem::rename(model, path("moved/model.onnx"));
  const auto beside = fusescopeCommand({"export", engine, "--to", "onnx", "-o", out});
  EXPECT_EQ(beside.status, 0) << beside.err;
  std::filesystem::remove(path("moved/model.onnx"));
  const auto gone = fusescopeCommand({"export", engine, "--to", "onnx", "-o", out});
  EXPECT_EQ(gone.status, 2);
  EXPECT_NE(gone.err.find("was built is not there"), std::string::npos) << gone.err;
}

TEST_F(ExportNetwork, BadUseIsRefused) {
  const std::string model = network("net (float[4] x) => (float[4] y) { [sigmoid] y = Sigmoid(x) }");
  EXPECT_EQ(fusescopeCommand({"export", model, "--to", "onnx"}).status, 2) << "no file is named";
  EXPECT_EQ(exported(model, path("out.onnx"), {"--weights", "halve"}).status, 2);
  EXPECT_EQ(exported(model, path("out.onnx"), {"--io", "all"}).status, 2);
  const auto text = fusescopeCommand({"export", model, "--to", "dot", "--inputs", inputs({4}, 1)});
  EXPECT_EQ(text.status, 2);
  EXPECT_NE(text.err.find("the format dot cannot be run"), std::string::npos) << text.err;
}

}  // namespace
}  // namespace fusescope::test
