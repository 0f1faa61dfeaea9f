// What OpenVINO is asked for, and what it says of nodes.
#include <gtest/gtest.h>

#include "compilers/openvino/openvino_options.h"
#include "compilers/openvino/openvino_support.h"
#include "tests/support/paths.h"
#include "tests/unit/compilers/file_graphs.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::fileGraph;
using testing::ModelBuilder;

/// relu(x·w) · w, softmaxed, as it is handed to OpenVINO.
CompilerInput handed(Directives directives, std::vector<DataType> precisions = {}, const std::string& hint = "") {
  ModelBuilder m;
  const ValueId x = m.input("x", {4, 8});
  const ValueId first = m.node("MatMul", "first", {x, m.weight("w", {8, 8})}, {4, 8});
  const ValueId relu = m.node("Relu", "relu", {first}, {4, 8});
  const ValueId second = m.node("MatMul", "second", {relu, m.weight("u", {8, 8})}, {4, 8});
  m.output(m.node("Softmax", "softmax", {second}, {4, 8}));
  PlanOptions options{.compiler = "openvino",
                      .target = "openvino",
                      .precisions = std::move(precisions),
                      .directives = std::move(directives)};
  if (!hint.empty()) options.compilerOptions["hint"] = hint;
  CompilerInput network{.plan = testing::planned(m.build(), options), .path = {}, .folder = nullptr, .file = {}};
  network.file.graph = fileGraph({"in v0", "MatMul n0 v0 w0 -> v1", "Relu n1 v1 -> v2", "MatMul n2 v2 w1 -> v3",
                                  "Softmax n3 v3 -> v4", "const w0", "const w1", "out v4"});
  for (const NodeId id : network.plan->graph().order())
    network.nodes["n" + std::to_string(network.nodes.size())] = {id};
  return network;
}

Json asked(CompilerInput& network) {
  auto options = openvinoOptions(network, {.threads = 3});
  EXPECT_TRUE(options.ok()) << (options.ok() ? "" : options.error().text());
  return options.ok() ? options.value() : Json();
}

TEST(OpenvinoOptions, WithoutDirectivesAreF32) {
  CompilerInput network = handed({});
  EXPECT_EQ(asked(network), (Json{{"hint", "f32"}, {"keep", Json::array()}, {"threads", 3}}));
  EXPECT_TRUE(network.pins.empty());
}

TEST(OpenvinoOptions, APinBelowF32IsAskedOfAllAndTheOthersAreKept) {
  CompilerInput network = handed({parsePin("second=bf16").value()});
  const Json options = asked(network);
  EXPECT_EQ(options["hint"], "bf16");
  EXPECT_TRUE(std::ranges::count(options["keep"], "v1") == 1) << options;
  EXPECT_TRUE(std::ranges::count(options["keep"], "v3") == 0) << options;
  ASSERT_EQ(network.pins.size(), 1U);
  EXPECT_TRUE(network.pins[0].isExpressible);
  EXPECT_NE(network.pins[0].how.find("hint"), std::string::npos);
}

TEST(OpenvinoOptions, WhereTheTypeIsFreeOnlyPinsAreKept) {
  CompilerInput network = handed({parsePin("softmax=f32").value()}, {DataType::BF16}, "bf16");
  const Json options = asked(network);
  EXPECT_EQ(options["hint"], "bf16");
  EXPECT_EQ(options["keep"], Json::array({"v4"}));
  ASSERT_EQ(network.pins.size(), 1U);
  EXPECT_NE(network.pins[0].how.find("DisablePrecisionConversion"), std::string::npos);
}

TEST(OpenvinoOptions, TwoTypesBelowF32AreOneTooMany) {
  CompilerInput network = handed({parsePin("first=f16").value(), parsePin("second=bf16").value()});
  EXPECT_EQ(asked(network)["hint"], "bf16");
  ASSERT_EQ(network.pins.size(), 2U);
  EXPECT_FALSE(network.pins[0].isExpressible);
  EXPECT_EQ(network.pins[0].how,
            "OpenVINO accepts only one type narrower than f32 for a network, and here that type is bf16.");
  EXPECT_TRUE(network.pins[1].isExpressible);
}

TEST(OpenvinoOptions, AHintThatThereIsNot) {
  CompilerInput network = handed({}, {}, "int8");
  const auto options = openvinoOptions(network, {});
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.error().where.attribute, "hint");
}

ImportedNetwork imported() {
  return importedNetwork(R"({"format":"fusescope.openvino_model","version":1,"ops":[
      {"name":"#0","type":"Parameter","outs":[["v0"]],"ins":[]},
      {"name":"#1","type":"MatMul","outs":[["v1"]],"ins":[["#0",0]]},
      {"name":"#2","type":"ONNXFrameworkNode","outs":[["v2"]],"ins":[["#1",0]]},
      {"name":"#3","type":"MatMul","outs":[["v3"]],"ins":[["#2",0]]},
      {"name":"#4","type":"Exp","outs":[[]],"ins":[["#3",0]]},
      {"name":"#5","type":"Divide","outs":[["v4"]],"ins":[["#4",0]]}]})")
      .value();
}

TEST(OpenvinoSupport, SaysWhatWasNotImportedInItsWords) {
  const CompilerInput network = handed({});
  const Json answer{
      {"devices", {{"#0", "CPU"}, {"#1", "CPU"}}},
      {"unconverted", Json::array({{{"op", "#2"}, {"attributes", {{"ONNX_META_type", "Relu"}}}}})},
      {"words",
       "Model wasn't fully converted. Failed operations detailed log:\n-- Relu-14 with a message:\nWhile "
       "validating ONNX node '<Node(Relu): v2>': Check 'false' failed at x.cpp:28:\nFailure:\nonly small ones "
       "are supported\n\nSummary:\n-- Conversion is failed for: Relu-14"}};
  const CompilerSupport support = openvinoSupport(network, imported(), answer);
  ASSERT_EQ(support.nodes.size(), 4U);
  EXPECT_EQ(support.find("first")->isAccepted, true);
  EXPECT_EQ(support.find("relu")->isAccepted, false);
  EXPECT_EQ(support.find("relu")->message, "only small ones are supported");
  EXPECT_EQ(support.find("second")->isAccepted, std::nullopt) << "types behind it are not known";
}

TEST(OpenvinoSupport, SaysWhatTheDeviceLacks) {
  const CompilerInput network = handed({});
  const Json answer{{"devices", {{"#0", "CPU"}, {"#1", "CPU"}, {"#2", "CPU"}, {"#3", "CPU"}, {"#5", "CPU"}}}};
  const CompilerSupport support = openvinoSupport(network, imported(), answer);
  EXPECT_EQ(support.find("second")->isAccepted, true);
  EXPECT_EQ(support.find("softmax")->isAccepted, false) << "a part of it";
  EXPECT_EQ(support.find("softmax")->message, "The device does not run the operator Exp.");
  EXPECT_EQ(support.find("softmax")->code, "validate.compiler_refused");
  for (const Json& odd : {Json::object(), Json{{"devices", 1}}, Json{{"unconverted", {1, "x"}}, {"words", 2}}})
    EXPECT_EQ(openvinoSupport(network, imported(), odd).nodes.size(), 4U);
}

}  // namespace
}  // namespace fusescope
