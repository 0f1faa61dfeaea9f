// Values that no arena can hold: extents that depend on data, and text.
#include <numeric>

#include "backends/reference/reference_backend.h"
#include "engine/steps/dynamic_step.h"
#include "tests/unit/engine/engine_fixture.h"
#include "verify/compare_tensors.h"

namespace fusescope::testing {
namespace {

class Dynamic : public ::testing::TestWithParam<const char*> {
 protected:
  BuildOptions options() const { return {.backend = GetParam(), .threads = 1, .measureTactics = false}; }
};
INSTANTIATE_TEST_SUITE_P(Backends, Dynamic, ::testing::Values("reference", "native"),
                         [](const auto& info) { return std::string(info.param); });

Tensor bools(const std::vector<bool>& values) {
  Tensor tensor = Tensor::zeros(DataType::Bool, {std::ssize(values)});
  std::copy(values.begin(), values.end(), tensor.mutableData<bool>().begin());
  return tensor;
}

/// Relu(compress(x · 2) + 1): static, then of extents that depend on data, fused where fusion does.
std::shared_ptr<const Model> compressNetwork() {
  GraphEditor editor;
  const TensorType unknown = f32({Dim(), 3});
  const ValueId x = editor.addInput("x", f32({4, 3}));
  const ValueId keep = editor.addInput("keep", {DataType::Bool, Shape::of(Dims{4})});
  const ValueId two = editor.addConstant("two", Tensor::scalar(2)),
                minus = editor.addConstant("minus", floats({3}, {-1, 0, 1}));
  const ValueId doubled = editor.addValue("doubled", f32({4, 3})), kept = editor.addValue("kept", unknown);
  const ValueId moved = editor.addValue("moved", unknown), y = editor.addValue("y", unknown);
  editor.addNode({.op = "Mul", .name = "double", .inputs = {x, two}, .outputs = {doubled}});
  editor.addNode({.op = "Compress",
                  .name = "compress",
                  .inputs = {doubled, keep},
                  .outputs = {kept},
                  .attributes = {{"axis", std::int64_t{0}}}});
  editor.addNode({.op = "Add", .name = "move", .inputs = {kept, minus}, .outputs = {moved}});
  editor.addNode({.op = "Relu", .name = "relu", .inputs = {moved}, .outputs = {y}});
  editor.addOutput(y);
  editor.addOutput(kept);
  return modelOf(editor);
}

TEST_P(Dynamic, ExtentsThatDependOnData) {
  const auto engine = engineOf(planOf(compressNetwork()), options());
  const Tensor x = floats({4, 3}, {1, 2, 3, -1, -2, -3, 4, 5, 6, 0, 1, -1});
  const auto first = engine->run({{"x", x}, {"keep", bools({true, false, false, true})}}, {"all"});
  ASSERT_TRUE(first.ok()) << first.error().text();
  EXPECT_TRUE(first.value().outputs.at("kept").identical(floats({2, 3}, {2, 4, 6, 0, 2, -2})));
  EXPECT_TRUE(first.value().outputs.at("y").identical(floats({2, 3}, {1, 4, 7, 0, 2, 0})));
  EXPECT_EQ(first.value().marked.at("doubled").dims(), (Dims{4, 3}));
  const auto second = engine->run({{"x", x}, {"keep", bools({false, true, true, true})}});
  ASSERT_TRUE(second.ok()) << second.error().text();
  EXPECT_TRUE(second.value().outputs.at("y").identical(floats({3, 3}, {0, 0, 0, 7, 10, 13, 0, 2, 0})));
  EXPECT_TRUE(first.value().outputs.at("y").identical(floats({2, 3}, {1, 4, 7, 0, 2, 0}))) << "results are kept apart";
  const auto none = engine->run({{"x", x}, {"keep", bools({false, false, false, false})}});
  ASSERT_TRUE(none.ok()) << none.error().text();
  EXPECT_EQ(none.value().outputs.at("y").dims(), (Dims{0, 3}));
}

/// Data that ask for more than any machine has, for more than this one has, and for extents that only a 0 makes few.
TEST_P(Dynamic, DataThatAskForTooMuchMemoryAreRefused) {
  const auto model = modelOfText(R"(
    input %x: f32[1]
    input %s: int64[2]
    %a: f32[p, q] = Expand(%x, %s) {name="expand"}
    %y: f32[p, q] = Relu(%a) {name="relu"}
    output %y)");
  const auto engine = engineOf(planOf(model), options());
  const auto resultOf = [&](std::int64_t p, std::int64_t q) {
    return engine->run({{"x", floats({1}, {-1})}, {"s", Tensor::ofInt64({p, q})}});
  };
  for (const auto& [p, q] : {std::pair<std::int64_t, std::int64_t>{1LL << 31, 1LL << 31},
                             {1LL << 61, 1},
                             {1LL << 62, 1LL << 62},
                             {1LL << 21, 1LL << 21},
                             {1LL << 40, 1 << 6}}) {
    const auto result = resultOf(p, q);
    ASSERT_FALSE(result.ok()) << p << " times " << q;
    EXPECT_NE(result.error().text().find("expand"), std::string::npos) << result.error().text();
  }
  const auto few = resultOf(2, 2);
  ASSERT_TRUE(few.ok()) << few.error().text();
  EXPECT_TRUE(few.value().outputs.at("y").identical(floats({2, 2}, {0, 0, 0, 0})));
}

TEST_P(Dynamic, CanBeTimedLayerByLayer) {
  const auto engine = engineOf(planOf(compressNetwork()), options());
  const auto report = engine->time({{"x", noise({4, 3}, 1)}, {"keep", bools({true, false, false, true})}},
                                   {.seconds = 0.01, .warmupSeconds = 0, .perLayer = true});
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_TRUE(
      std::ranges::any_of(report.value().layers, [](const StepTime& layer) { return layer.tactic == "dynamic"; }));
}

/// y = reshape(x + x, shape): an output that is the bytes of an inner value under extents known only when it runs.
TEST_P(Dynamic, OutputsOutliveTheArena) {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({4, 3}));
  const ValueId shape = editor.addInput("shape", {DataType::I64, Shape::of(Dims{2})});
  const ValueId sum = editor.addValue("sum", f32({4, 3})), y = editor.addValue("y", f32({Dim(), Dim()}));
  editor.addNode({.op = "Add", .name = "add", .inputs = {x, x}, .outputs = {sum}});
  editor.addNode({.op = "Reshape", .name = "reshape", .inputs = {sum, shape}, .outputs = {y}});
  editor.addOutput(y);
  const auto engine = engineOf(planOf(modelOf(editor)), options());
  std::vector<float> values(12), twice;
  std::iota(values.begin(), values.end(), 0.0F);
  for (const float value : values) twice.push_back(2 * value);
  const auto first = engine->run({{"x", floats({4, 3}, values)}, {"shape", Tensor::ofInt64({2, 6})}});
  ASSERT_TRUE(first.ok()) << first.error().text();
  const auto second = engine->run({{"x", noise({4, 3}, 1)}, {"shape", Tensor::ofInt64({-1, 3})}});
  ASSERT_TRUE(second.ok()) << second.error().text();
  EXPECT_EQ(second.value().outputs.at("y").dims(), (Dims{4, 3}));
  EXPECT_TRUE(first.value().outputs.at("y").identical(floats({2, 6}, twice)));
  const auto wrong = engine->run({{"x", noise({4, 3}, 1)}, {"shape", Tensor::ofInt64({5, 5})}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().where.node.find("reshape"), std::string::npos) << wrong.error().text();
}

TEST_P(Dynamic, TextIsHeldAndHandedOut) {
  GraphEditor editor;
  const TensorType words{DataType::String, Shape::of(Dims{3})};
  const ValueId labels = editor.addConstant("labels", Tensor::ofStrings({2}, {"cat", "dog"}));
  const ValueId x = editor.addInput("x", words), index = editor.addInput("index", {DataType::I64, Shape::of(Dims{2})});
  const ValueId named = editor.addValue("named", {DataType::String, Shape::of(Dims{2})});
  const ValueId all = editor.addValue("all_words", {DataType::String, Shape::of(Dims{5})});
  editor.addNode({.op = "Gather", .name = "gather", .inputs = {labels, index}, .outputs = {named}});
  editor.addNode({.op = "Concat",
                  .name = "concat",
                  .inputs = {x, named},
                  .outputs = {all},
                  .attributes = {{"axis", std::int64_t{0}}}});
  editor.addOutput(all);
  editor.addOutput(labels);
  const auto plan = planOf(modelOf(editor));
  const TemporaryFolder folder;
  ASSERT_TRUE(engineOf(plan, options())->save(folder / "words.fse").ok());
  auto engine = loadEngine(folder / "words.fse", options());
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  const std::map<std::string, Tensor> inputs{{"x", Tensor::ofStrings({3}, {"a", "b", "c"})},
                                             {"index", Tensor::ofInt64({1, 0})}};
  const auto result = engine.value()->run(inputs, {"all"});
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result.value().outputs.at("all_words").strings(), (std::vector<std::string>{"a", "b", "c", "dog", "cat"}));
  EXPECT_EQ(result.value().outputs.at("labels").strings(), (std::vector<std::string>{"cat", "dog"}));
}

/// Emulated f16: operands and results of the step are rounded as they are where extents are known.
TEST_P(Dynamic, LowerPrecisionRounds) {
  const auto plan = planOf(compressNetwork(), {.target = "cpu:avx2", .precisions = {DataType::F16}});
  const auto engine = engineOf(plan, options());
  const Tensor x = floats({4, 3}, std::vector<float>(12, 1.0F + 1.0F / 4096));  // f16 has 10 bits after the point
  const auto result = engine->run({{"x", x}, {"keep", bools({true, false, false, false})}});
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result.value().outputs.at("y").type(), DataType::F32);
  EXPECT_TRUE(result.value().outputs.at("y").identical(floats({1, 3}, {1, 2, 3})));
}

/// Convolutions want formats of their own, also where extents are known only when they run.
TEST(DynamicNative, ConvolutionsEqualTheReference) {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({4, 3, 9, 7}));
  const ValueId keep = editor.addInput("keep", {DataType::Bool, Shape::of(Dims{4})});
  const ValueId w = editor.addConstant("w", noise({16, 3, 3, 3}, 1)), bias = editor.addConstant("b", noise({16}, 2));
  const ValueId v = editor.addConstant("v", noise({16, 5}, 3));
  const ValueId kept = editor.addValue("kept", f32({Dim(), 3, 9, 7}));
  const ValueId conv = editor.addValue("conv_out", f32({Dim(), 16, 7, 5}));
  const ValueId relu = editor.addValue("relu_out", f32({Dim(), 16, 7, 5}));
  const ValueId pooled = editor.addValue("pooled", f32({Dim(), 16, 1, 1}));
  const ValueId flat = editor.addValue("flat", f32({Dim(), 16})), y = editor.addValue("y", f32({Dim(), 5}));
  editor.addNode({.op = "Compress",
                  .name = "compress",
                  .inputs = {x, keep},
                  .outputs = {kept},
                  .attributes = {{"axis", std::int64_t{0}}}});
  editor.addNode({.op = "Conv", .name = "conv", .inputs = {kept, w, bias}, .outputs = {conv}});
  editor.addNode({.op = "Relu", .name = "relu", .inputs = {conv}, .outputs = {relu}});
  editor.addNode({.op = "GlobalAveragePool", .name = "pool", .inputs = {relu}, .outputs = {pooled}});
  editor.addNode({.op = "Flatten", .name = "flatten", .inputs = {pooled}, .outputs = {flat}});
  editor.addNode({.op = "MatMul", .name = "matmul", .inputs = {flat, v}, .outputs = {y}});
  editor.addOutput(y);
  const auto plan = planOf(modelOf(editor));
  const auto native = engineOf(plan, {.backend = "native", .measureTactics = false});
  const auto reference = engineOf(plan, {.backend = "reference"});
  for (const auto& pattern : std::vector<std::vector<bool>>{{true, true, false, true},
                                                            {false, true, false, false},
                                                            {true, false, true, true},
                                                            {false, false, false, false}}) {
    const std::map<std::string, Tensor> inputs{{"x", noise({4, 3, 9, 7}, 5)}, {"keep", bools(pattern)}};
    const auto ours = native->run(inputs, {"all"}), expected = reference->run(inputs, {"all"});
    ASSERT_TRUE(ours.ok()) << ours.error().text();
    ASSERT_TRUE(expected.ok()) << expected.error().text();
    for (const auto& comparison : compareAll(ours.value().marked, expected.value().marked, Tolerance{.rms = 1e-5}))
      EXPECT_TRUE(comparison.ok) << comparison.name << " " << comparison.problem << " " << comparison.maxAbs;
    const auto y = compareTensors("y", ours.value().outputs.at("y"), expected.value().outputs.at("y"), {.rms = 1e-5});
    EXPECT_TRUE(y.ok) << y.problem << y.maxAbs;
  }
}

/// The reference under another name that counts what it compiles.
class CountingBackend final : public Backend {
 public:
  std::string_view name() const override { return "counting"; }
  Fingerprint fingerprint() const override { return referenceBackend().fingerprint(); }
  std::vector<Tactic> tactics(const KernelRequest& request) const override {
    auto tactics = referenceBackend().tactics(request);
    tactics.front().name = "counted";
    tactics.front().backend = "counting";
    return tactics;
  }
  Result<std::unique_ptr<const Code>> compile(const KernelRequest& request, const Tactic& tactic) const override {
    ++compiled;
    Tactic reference = tactic;
    reference.name = reference.backend = "reference";
    return referenceBackend().compile(request, reference);
  }
  Result<std::unique_ptr<const Code>> compileConversion(const TensorDesc& from, const TensorDesc& to,
                                                        int threads) const override {
    return referenceBackend().compileConversion(from, to, threads);
  }
  bool emulatesConversion(const TensorDesc& from, const TensorDesc& to) const override {
    return referenceBackend().emulatesConversion(from, to);
  }
  mutable int compiled = 0;
};

TEST(DynamicStep, KeepsKernelsByExtents) {
  const auto plan = planOf(compressNetwork());
  const FusedNode* fused = plan->fusedNodeOf(*plan->graph().findNode("relu"));
  ASSERT_NE(fused, nullptr);
  ASSERT_EQ(fused->inputs.size(), 1U);
  const CountingBackend backend;
  KernelRequest request{.plan = plan.get(), .fused = fused};
  for (const NodeId id : fused->nodes)
    for (const ValueId read : plan->graph().node(id).inputs)
      if (plan->graph().isConstant(read)) request.addConstant(read, *plan->graph().value(read).constant);
  KernelStore store;
  ShapeCacheCount kernels{.size = 2};
  auto step = DynamicStep::prepare(backend, request, {DataType::F32}, store, kernels);
  ASSERT_TRUE(step.ok()) << step.error().text();
  for (const std::int64_t rows : {2, 3, 2, 3, 0}) {
    const Tensor x = noise({rows, 3}, 1);
    const auto result = step.value()->run(std::span(&x, 1));
    ASSERT_TRUE(result.ok()) << result.error().text();
    EXPECT_EQ(result.value().at(0).dims(), (Dims{rows, 3}));
  }
  EXPECT_EQ(backend.compiled, 2) << "one for 2 rows, one for 3, none for none";
  EXPECT_EQ(std::pair(kernels.hits, kernels.misses), std::pair(std::int64_t{2}, std::int64_t{3}));
  const Tensor forgotten = noise({2, 3}, 1);  // used longest ago, when there was room for two
  ASSERT_TRUE(step.value()->run(std::span(&forgotten, 1)).ok());
  EXPECT_EQ(backend.compiled, 3);
}

TEST(ShapeCache, CountsHitsAndMissesAndForgetsTheOldest) {
  BuildOptions options{.backend = "reference", .threads = 1, .measureTactics = false};
  options.shapeCache = 2;
  const auto engine = engineOf(planOf(smallNetwork()), options);  // prepared for a batch of 2
  const auto run = [&](std::int64_t batch) { return engine->run({{"x", noise({batch, 4}, 1)}}).ok(); };
  const auto counts = [&] { return std::pair(engine->report().shapeCache.hits, engine->report().shapeCache.misses); };
  EXPECT_EQ(counts(), std::pair(std::int64_t{0}, std::int64_t{1}));
  EXPECT_TRUE(run(2) && run(3) && run(2));
  EXPECT_EQ(counts(), std::pair(std::int64_t{2}, std::int64_t{2}));
  EXPECT_TRUE(run(4));  // 3 was used longest ago
  EXPECT_TRUE(run(2));
  EXPECT_EQ(counts(), std::pair(std::int64_t{3}, std::int64_t{3}));
  EXPECT_TRUE(run(3));
  EXPECT_EQ(counts(), std::pair(std::int64_t{3}, std::int64_t{4}));
}

}  // namespace
}  // namespace fusescope::testing
