#include <algorithm>
#include <cmath>
#include <limits>

#include "planning/fused_node_facts.h"
#include "tests/unit/engine/engine_fixture.h"
#include "verify/compare_tensors.h"

namespace fusescope::testing {
namespace {

std::vector<float> expectedSmallNetwork(const Tensor& x) {
  const Tensor w = noise({4, 4}, 1), bias = noise({4}, 2);
  std::vector<float> y;
  for (std::int64_t row = 0; row < x.dims()[0]; ++row)
    for (std::size_t column = 0; column < 4; ++column) {
      float sum = 0;
      for (std::size_t k = 0; k < 4; ++k)
        sum += x.data<float>()[static_cast<std::size_t>(row) * 4 + k] * w.data<float>()[k * 4 + column];
      sum += bias.data<float>()[column];
      y.push_back(std::max(sum, 0.0F) + x.data<float>()[static_cast<std::size_t>(row) * 4 + column]);
    }
  return y;
}

TEST(EngineRun, ComputesTheNetworkAtEveryBatch) {
  const auto engine = engineOf(planOf(smallNetwork()), kReference);
  for (const std::int64_t batch : {2, 1, 3, 7, 2, 5, 8}) {
    const Tensor x = noise({batch, 4}, 17);
    const auto result = engine->run({{"x", x}});
    ASSERT_TRUE(result.ok()) << result.error().text();
    const auto comparison = compareTensors("y", result.value().outputs.at("y"),
                                           floats({batch, 4}, expectedSmallNetwork(x)), {.absolute = 1e-6});
    EXPECT_TRUE(comparison.ok) << "batch " << batch << " max_abs " << comparison.maxAbs << comparison.problem;
  }
}

TEST(EngineRun, ChecksItsInputs) {
  const auto engine = engineOf(planOf(smallNetwork()), kReference);
  const auto message = [&](const std::map<std::string, Tensor>& inputs) {
    const auto result = engine->run(inputs);
    return result.ok() ? std::string("it ran") : result.error().text();
  };
  EXPECT_NE(message({}).find("is missing"), std::string::npos) << message({});
  const std::string unknown = message({{"x", noise({2, 4}, 1)}, {"xx", noise({2, 4}, 1)}});
  EXPECT_NE(unknown.find("is not an input"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("xx"), std::string::npos) << unknown;
  const std::string type = message({{"x", Tensor::zeros(DataType::F64, {2, 4})}});
  EXPECT_NE(type.find("is f64, expected f32"), std::string::npos) << type;
  const std::string extent = message({{"x", noise({2, 5}, 1)}});
  EXPECT_NE(extent.find("[2, 5]"), std::string::npos) << extent;
  const std::string rank = message({{"x", noise({8}, 1)}});
  EXPECT_NE(rank.find("2 dimensions"), std::string::npos) << rank;
  const std::string outside = message({{"x", noise({9, 4}, 1)}});
  EXPECT_NE(outside.find("allowed is from [1, 4] to [8, 4]"), std::string::npos) << outside;
}

TEST(EngineRun, WhatWasOnlyAssumedRefusesNothing) {
  Model model = *smallNetwork();
  model.inputSpecs.front().source = "assumed";
  const auto engine = engineOf(planOf(std::make_shared<const Model>(std::move(model))), kReference);
  for (const std::int64_t batch : {std::int64_t{9}, std::int64_t{300}}) {
    const Tensor x = noise({batch, 4}, 17);
    const auto result = engine->run({{"x", x}});
    ASSERT_TRUE(result.ok()) << result.error().text();
    EXPECT_EQ(result.value().outputs.at("y").dims(), (Dims{batch, 4}));
  }
  EXPECT_FALSE(engine->run({{"x", noise({2, 5}, 1)}}).ok()) << "what the file declares still does";
}

TEST(EngineRun, MarksValuesThatAreInMemory) {
  const auto plan = planOf(smallNetwork(), {.directives = {splitDirective("add_bias")}});
  const auto engine = engineOf(plan, kReference);
  const Tensor x = noise({2, 4}, 3);
  const auto result = engine->run({{"x", x}}, {"sum"});
  ASSERT_TRUE(result.ok()) << result.error().text();
  ASSERT_EQ(result.value().marked.count("sum"), 1U);
  EXPECT_EQ(result.value().marked.at("sum").dims(), (Dims{2, 4}));
  const auto all = engine->run({{"x", x}}, {"all"});
  ASSERT_TRUE(all.ok()) << all.error().text();
  EXPECT_TRUE(all.value().marked.at("sum").identical(result.value().marked.at("sum")));
  EXPECT_TRUE(all.value().outputs.at("y").identical(result.value().outputs.at("y")));
}

TEST(EngineRun, SaysWhyAValueCannotBeMarked) {
  const auto plan = planOf(smallNetwork());
  ASSERT_LT(plan->fusedNodes.size(), 4U) << "nothing fused: the test needs an inner value";
  const auto engine = engineOf(plan, kReference);
  const auto result = engine->run({{"x", noise({2, 4}, 3)}}, {"product"});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().text().find("inside fused node '"), std::string::npos) << result.error().text();
  EXPECT_NE(result.error().text().find("--split matmul"), std::string::npos) << result.error().text();
  const auto unknown = engine->run({{"x", noise({2, 4}, 3)}}, {"produkt"});
  ASSERT_FALSE(unknown.ok());
}

TEST(EngineRun, LowerPrecisionRoundsButStaysNear) {
  const auto model = smallNetwork();
  const auto exact = engineOf(planOf(model), kReference);
  const auto lowered = engineOf(planOf(model, {.target = "cpu:avx2", .precisions = {DataType::F16}}), kReference);
  const Tensor x = noise({4, 4}, 5);
  const Tensor a = exact->run({{"x", x}}).value().outputs.at("y");
  const auto run = lowered->run({{"x", x}});
  ASSERT_TRUE(run.ok()) << run.error().text();
  const Tensor& b = run.value().outputs.at("y");
  EXPECT_EQ(b.type(), DataType::F32);
  EXPECT_FALSE(b.identical(a)) << "nothing was rounded";
  const auto comparison = compareTensors("y", b, a, {.absolute = 5e-3});
  EXPECT_TRUE(comparison.ok) << comparison.maxAbs;
}

TEST(EngineRun, TimesAreAbsentWhereATypeIsEmulatedWhateverTheCpuHas) {
  for (const char* target : {"cpu:avx2", "cpu:avx2+avx512+avx512_fp16+amx_fp16", "cpu"}) {
    const auto plan = planOf(smallNetwork(), {.target = target, .precisions = {DataType::F16}});
    const auto engine = engineOf(plan, {.backend = "reference", .threads = 1});
    for (const TacticChoice& choice : engine->report().tactics)
      for (const TacticTime& time : choice.candidates) EXPECT_EQ(time.ms, std::nullopt) << choice.fusedNode;
    const auto report =
        engine->time({{"x", noise({2, 4}, 1)}}, {.seconds = 0.01, .warmupSeconds = 0, .perLayer = true});
    ASSERT_TRUE(report.ok()) << report.error().text();
    EXPECT_FALSE(report.value().medianMs.has_value() || report.value().minMs.has_value());
    const std::string& reason = report.value().unavailableReason;
    EXPECT_TRUE(reason.starts_with("the reference runs f16 here: it calculates exactly, in software")) << reason;
    EXPECT_EQ(reason.find("avx"), std::string::npos) << reason;
    for (const StepTime& layer : report.value().layers)
      EXPECT_NE(layer.emulated, layer.medianMs.has_value()) << layer.name;
  }
}

TEST(EngineRun, NarrowFloatsHaveTimesOnEveryCpu) {
  for (const char* target : {"cpu:none", "cpu"}) {
    for (const DataType type : {DataType::F16, DataType::BF16}) {
      const auto engine = engineOf(planOf(smallNetwork(), {.target = target, .precisions = {type}}), {.threads = 1});
      const auto report =
          engine->time({{"x", noise({2, 4}, 1)}}, {.seconds = 0.01, .warmupSeconds = 0, .perLayer = true});
      ASSERT_TRUE(report.ok()) << report.error().text();
      EXPECT_TRUE(report.value().medianMs.has_value()) << report.value().unavailableReason;
      for (const StepTime& layer : report.value().layers) EXPECT_TRUE(layer.medianMs.has_value()) << layer.name;
    }
  }
}

TEST(EngineRun, LayersThatAreNotEmulatedKeepTheirTimes) {
  // The network is one kernel, which would mix the types: it is split, so that a kernel of f32 alone stands beside one
  // of f16 and one that reads what that leaves.
  const auto plan =
      planOf(smallNetwork(),
             {.directives = {parsePin("matmul=f16").value(), splitDirective("matmul"), splitDirective("add_bias")}});
  const auto engine = engineOf(plan, {.backend = "reference", .threads = 1});
  const auto report = engine->time({{"x", noise({2, 4}, 1)}}, {.seconds = 0.01, .warmupSeconds = 0, .perLayer = true});
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_FALSE(report.value().medianMs.has_value());
  std::size_t emulated = 0, real = 0, conversions = 0;
  for (const StepTime& layer : report.value().layers) {
    EXPECT_NE(layer.emulated, layer.medianMs.has_value()) << layer.name;
    if (!layer.fused.valid()) {
      ++conversions;
      continue;
    }
    ++(layer.emulated ? emulated : real);
  }
  EXPECT_EQ(emulated, 2U);
  EXPECT_EQ(real, 1U);
  EXPECT_GT(conversions, 0U);
}

TEST(EngineRun, APinThatRoundsNothingIsNoEmulation) {
  const auto plan = planOf(smallNetwork(), {.directives = {parsePin("relu=f16").value()}});
  ASSERT_EQ(plan->fusedNodes.size(), 1U) << "relu is calculated inside the product's kernel";
  const auto engine = engineOf(plan, {.threads = 1});
  const auto report = engine->time({{"x", noise({2, 4}, 1)}}, {.seconds = 0.01, .warmupSeconds = 0});
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_TRUE(report.value().medianMs.has_value()) << report.value().unavailableReason;
}

TEST(EngineRun, TimesRuns) {
  const auto engine = engineOf(planOf(smallNetwork()), kReference);
  const auto report = engine->time({{"x", noise({2, 4}, 1)}}, {.seconds = 0.05, .warmupSeconds = 0, .perLayer = true});
  ASSERT_TRUE(report.ok()) << report.error().text();
  ASSERT_TRUE(report.value().medianMs.has_value());
  EXPECT_GE(report.value().samples, 5);
  EXPECT_LE(*report.value().minMs, *report.value().medianMs);
  EXPECT_LE(*report.value().medianMs, *report.value().p95Ms);
  EXPECT_LE(*report.value().p95Ms, *report.value().p99Ms);
  ASSERT_EQ(report.value().layers.size(), engine->plan().fusedNodes.size());
  for (const StepTime& layer : report.value().layers) EXPECT_TRUE(layer.medianMs.has_value()) << layer.name;
}

TEST(EngineRun, PlanningOnlyTargetsAreRefused) {
  const auto plan = planOf(smallNetwork(), {.target = "tensorrt-10"});
  const auto engine = buildEngine(plan, kReference);
  ASSERT_FALSE(engine.ok());
  EXPECT_NE(engine.error().text().find("tensorrt-10"), std::string::npos) << engine.error().text();
}

TEST(EngineRun, CancelledBuildsLeaveNothing) {
  std::stop_source source;
  source.request_stop();
  BuildOptions options = kReference;
  options.stop = source.get_token();
  const auto engine = buildEngine(planOf(smallNetwork()), options);
  ASSERT_FALSE(engine.ok());
  EXPECT_TRUE(engine.error().cancelled);
}

TEST(EngineRun, AnOperatorWithoutKernelIsNamed) {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({4}));
  const ValueId y = editor.addValue("y", f32({4}));
  editor.addNode({.op = "Mystery", .domain = "com.example", .name = "strange", .inputs = {x}, .outputs = {y}});
  editor.addOutput(y);
  const auto engine = buildEngine(planOf(modelOf(editor)), kReference);
  ASSERT_FALSE(engine.ok());
  EXPECT_NE(engine.error().text().find("Mystery"), std::string::npos) << engine.error().text();
  EXPECT_EQ(engine.error().where.node, "strange");
}

/// A convolution, a Relu, a MaxPool and a product with a Clip: libraries take NaN for a number in each.
std::shared_ptr<const Model> clampingNetwork() {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({1, 8, 9, 9}));
  const auto add = [&](const std::string& op, std::vector<ValueId> inputs, std::vector<Dim> dims,
                       std::map<std::string, Attribute> attributes = {}) {
    const ValueId made = editor.addValue("made_" + op, f32(std::move(dims)));
    editor.addNode(
        {.op = op, .name = op, .inputs = std::move(inputs), .outputs = {made}, .attributes = std::move(attributes)});
    return made;
  };
  const ValueId conv = add("Conv", {x, editor.addConstant("filters", noise({20, 8, 3, 3}, 1))}, {1, 20, 7, 7});
  const ValueId relu = add("Relu", {conv}, {1, 20, 7, 7});
  const ValueId pool = add("MaxPool", {relu}, {1, 20, 6, 6}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}});
  const ValueId product = add("MatMul", {pool, editor.addConstant("weights", noise({6, 16}, 2))}, {1, 20, 6, 16});
  const ValueId low = editor.addConstant("low", Tensor::scalar(-1)),
                high = editor.addConstant("high", Tensor::scalar(1));
  editor.addOutput(add("Clip", {product, low, high}, {1, 20, 6, 16}));
  return modelOf(editor);
}

TEST(EngineRun, NotANumberStaysThroughKernelsThatWouldLoseIt) {
  const auto plan = planOf(clampingNetwork());
  const auto native = engineOf(plan, {.backend = "native", .threads = 2, .measureTactics = false});
  const auto reference = engineOf(plan, {.backend = "reference", .threads = 1, .measureTactics = false});
  for (const float special :
       {0.5F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 0.25F}) {
    Tensor x = noise({1, 8, 9, 9}, 3);
    x.mutableData<float>()[40] = special;
    const auto given = native->run({{"x", x}}), expected = reference->run({{"x", x}});
    ASSERT_TRUE(given.ok() && expected.ok());
    const Tensor &a = given.value().outputs.at("made_Clip"), &e = expected.value().outputs.at("made_Clip");
    std::int64_t lost = 0, notNumbers = 0;
    for (std::int64_t i = 0; i < e.count(); ++i) {
      notNumbers += std::isnan(e.asDouble(i)) ? 1 : 0;
      lost += std::isnan(e.asDouble(i)) != std::isnan(a.asDouble(i)) ? 1 : 0;
    }
    EXPECT_EQ(lost, 0) << "of " << special;
    if (std::isnan(special)) {
      EXPECT_GT(notNumbers, 0);
    }
    if (std::isfinite(special)) {
      EXPECT_TRUE(compareTensors("y", a, e, Tolerance::standard()).ok) << special;
    }
  }
}

}  // namespace
}  // namespace fusescope::testing
