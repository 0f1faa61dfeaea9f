// Equal regions are run by one code, equal constants are packed once, and a program serves any number of executors.
#include <array>
#include <stop_token>
#include <thread>

#include "engine/kernels/kernel_store.h"
#include "engine/program/executor.h"
#include "tests/support/paths.h"
#include "tests/unit/engine/engine_fixture.h"
#include "tests/unit/engine/lowered_program.h"

namespace fusescope::testing {
namespace {

constexpr int kBlocks = 4;

/// x · w_0, Relu, · w_1, Relu …; each w is [16, 16] and of its own numbers, unless `tied`.
std::shared_ptr<const Model> blocks(bool tied) {
  GraphEditor editor;
  ValueId at = editor.addInput("x", f32({Dim::named("batch"), 16}));
  for (int i = 0; i < kBlocks; ++i) {
    const std::string number = std::to_string(i);
    const ValueId w = editor.addConstant("w_" + number, noise({16, 16}, tied ? 1 : 1 + static_cast<std::uint32_t>(i)));
    const ValueId product = editor.addValue("product_" + number, f32({Dim::named("batch"), 16}));
    editor.addNode({.op = "MatMul", .name = "matmul_" + number, .inputs = {at, w}, .outputs = {product}});
    at = editor.addValue("relu_" + number, f32({Dim::named("batch"), 16}));
    editor.addNode({.op = "Relu", .name = "act_" + number, .inputs = {product}, .outputs = {at}});
  }
  editor.addOutput(at);
  return modelOf(editor);
}

/// What the store of the process did meanwhile.
class Counted {
 public:
  KernelStore::Counts since() const {
    const KernelStore::Counts now = KernelStore::ofProcess().counts();
    return {now.compiled - m_before.compiled, now.sharedCode - m_before.sharedCode, now.packed - m_before.packed,
            now.sharedWeights - m_before.sharedWeights};
  }

 private:
  KernelStore::Counts m_before = KernelStore::ofProcess().counts();
};

const BuildOptions kNativeOfThree{
    .backend = "native", .threads = 1, .measureTactics = false, .shapes = {{"x", {3, 16}}}};

Tensor outputOf(Engine& engine, const Tensor& x) {
  return engine.run({{"x", x}}).value().outputs.begin()->second;
}

TEST(KernelStore, EqualBlocksShareCodeAndDifferInWeights) {
  const Counted counted;
  const auto plan = planOf(blocks(false));
  const auto native = engineOf(plan, kNativeOfThree);
  EXPECT_EQ(counted.since().compiled, 1) << "four blocks, one code";
  EXPECT_EQ(counted.since().sharedCode, kBlocks - 1);
  EXPECT_EQ(counted.since().packed, kBlocks) << "each has weights of its own";
  const auto reference = engineOf(plan, {.backend = "reference", .threads = 1, .shapes = kNativeOfThree.shapes});
  const Tensor x = noise({3, 16}, 9), y = outputOf(*native, x), expected = outputOf(*reference, x);
  for (std::int64_t i = 0; i < y.count(); ++i) EXPECT_NEAR(y.asDouble(i), expected.asDouble(i), 1e-5);
}

TEST(KernelStore, EqualConstantsArePackedOnce) {
  const Counted counted;
  const auto plan = planOf(blocks(true));
  const auto engine = engineOf(plan, kNativeOfThree);
  EXPECT_EQ(counted.since().packed, 1);
  const auto other = engineOf(planOf(blocks(true)), kNativeOfThree);
  EXPECT_EQ(counted.since().packed, 1) << "another engine of the same weights";
  EXPECT_EQ(engine->report().weightBytes, other->report().weightBytes);
  EXPECT_LT(engine->report().weightBytes, engineOf(planOf(blocks(false)), kNativeOfThree)->report().weightBytes);
}

/// An engine file contains weights as they are in the network.
TEST(KernelStore, WhatIsOnlyWrittenIsNotPacked) {
  const auto packed = engineOf(planOf(blocks(false)), kNativeOfThree);
  const Tensor x = noise({3, 16}, 9), expected = outputOf(*packed, x);
  EXPECT_GT(packed->report().weightBytes.value_or(0), 0);
  KernelStore store;
  BuildOptions options = kNativeOfThree;
  options.packsWeights = false;
  options.kernels = &store;
  const auto engine = engineOf(planOf(blocks(false)), options);
  EXPECT_EQ(store.counts().packed, 0);
  EXPECT_FALSE(engine->report().weightBytes);
  const fusescope::test::TemporaryFolder folder;
  ASSERT_TRUE(engine->save(folder / "e.fse").ok());
  EXPECT_EQ(store.counts().packed, 0);
  EXPECT_TRUE(outputOf(*engine, x).identical(expected)) << "the first run packs them";
  EXPECT_EQ(store.counts().packed, kBlocks);
  EXPECT_EQ(engine->report().weightBytes, packed->report().weightBytes);
}

TEST(KernelStore, WhatNobodyHasIsMadeAgain) {
  { const auto gone = engineOf(planOf(blocks(true)), kNativeOfThree); }
  const Counted counted;
  const auto engine = engineOf(planOf(blocks(true)), kNativeOfThree);
  EXPECT_EQ(counted.since().compiled, 1);
  EXPECT_EQ(counted.since().packed, 1);
}

TEST(KernelStore, WhatNobodyHasKeepsNoMemory) {
  std::weak_ptr<const Model> model;
  std::weak_ptr<const void> weight;
  {
    const auto one = blocks(true);
    model = one;
    const auto bytes = std::make_shared<std::vector<float>>(256, 0.5F);
    weight = bytes;
    GraphEditor editor;
    const ValueId x = editor.addInput("x", f32({3, 16})), y = editor.addValue("y", f32({3, 16}));
    const auto* data = reinterpret_cast<const std::byte*>(bytes->data());
    const ValueId w = editor.addConstant("w", Tensor::view(DataType::F32, {16, 16}, bytes, data));
    editor.addNode({.op = "MatMul", .inputs = {x, w}, .outputs = {y}});
    editor.addOutput(y);
    const auto engine = engineOf(planOf(modelOf(editor)), kNativeOfThree);
    const auto other = engineOf(planOf(one), kNativeOfThree);
  }
  EXPECT_TRUE(model.expired());
  EXPECT_TRUE(weight.expired()) << "what it was packed of is kept no longer than what it was packed to";
}

TEST(KernelStore, NewExtentsPackNothing) {
  const auto engine = engineOf(planOf(blocks(false)), kNativeOfThree);
  const Counted counted;
  for (const std::int64_t batch : {1, 2, 5}) EXPECT_EQ(outputOf(*engine, noise({batch, 16}, 3)).dims()[0], batch);
  EXPECT_EQ(counted.since().packed, 0);
}

TEST(KernelStore, ConstantsThatTheCodeHoldsTellRegionsApart) {
  GraphEditor editor;
  ValueId at = editor.addInput("x", f32({2, 8}));
  for (const float factor : {2.0F, 3.0F, 2.0F}) {  // between norms, which are kernels of their own
    const ValueId c = editor.addConstant("", Tensor::scalar(factor)), scaled = editor.addValue("", f32({2, 8}));
    editor.addNode({.op = "Mul", .inputs = {at, c}, .outputs = {scaled}});
    at = editor.addValue("", f32({2, 8}));
    editor.addNode({.op = "Softmax", .inputs = {scaled}, .outputs = {at}});
  }
  editor.addOutput(at);
  const auto plan = planOf(modelOf(editor));
  BuildOptions options{.backend = "native", .threads = 1, .measureTactics = false};
  const Tensor x = noise({2, 8}, 4);
  const Tensor y = outputOf(*engineOf(plan, options), x);
  options.backend = "reference";
  const Tensor expected = outputOf(*engineOf(plan, options), x);
  for (std::int64_t i = 0; i < y.count(); ++i) EXPECT_NEAR(y.asDouble(i), expected.asDouble(i), 1e-6);
}

/// Rows of two tables, one after the other, with equal tables and indices of their own.
TEST(KernelStore, AnErrorNamesTheNodeThatRan) {
  for (const char* backend : {"native", "reference"}) {
    const Counted counted;
    const auto engine = engineOf(planOf(twoGathers()), {.backend = backend, .threads = 1, .measureTactics = false});
    EXPECT_EQ(counted.since().compiled, 1) << backend;
    for (const auto& [bad, node] : {std::pair("first", "gather_first"), std::pair("second", "gather_second")}) {
      std::map<std::string, Tensor> inputs{{"first", Tensor::ofInt64({1})}, {"second", Tensor::ofInt64({1})}};
      inputs[bad] = Tensor::ofInt64({7});
      const auto result = engine->run(inputs);
      ASSERT_FALSE(result.ok());
      EXPECT_EQ(result.error().where.node, node) << backend << ": " << result.error().text();
    }
  }
}

TEST(Program, ServesSeveralExecutorsBesideEachOther) {
  constexpr int kCallers = 4, kRuns = 50;
  const auto plan = planOf(blocks(false));
  const LoweredProgram lowered(plan, kNativeOfThree.shapes);
  const auto engine = engineOf(plan, kNativeOfThree);
  std::vector<Tensor> xs, expected;
  for (std::uint32_t i = 0; i < kCallers; ++i) {
    xs.push_back(noise({3, 16}, 20 + i));
    expected.push_back(outputOf(*engine, xs.back()));
  }
  std::vector<std::thread> callers;
  std::array<int, kCallers> wrong{};
  for (std::size_t i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, i] {
      Executor executor(lowered.program);
      for (int run = 0; run < kRuns; ++run) {
        std::vector<Tensor> outputs{Tensor::zeros(DataType::F32, {3, 16})};
        executor.bind(std::span(&xs[i], 1), outputs);
        if (!executor.run({}).ok() || !outputs[0].identical(expected[i])) ++wrong[i];
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

TEST(Executor, StopsBetweenSteps) {
  const auto plan = planOf(blocks(false));
  const LoweredProgram lowered(plan, kNativeOfThree.shapes);
  Executor executor(lowered.program);
  const Tensor x = noise({3, 16}, 1);
  std::vector<Tensor> outputs{Tensor::zeros(DataType::F32, {3, 16})};
  executor.bind(std::span(&x, 1), outputs);
  std::stop_source source;
  std::size_t ran = 0;
  const Status status = executor.run(source.get_token(), [&](std::size_t, double) {
    if (++ran == 2) source.request_stop();
  });
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(status.error().cancelled);
  EXPECT_EQ(ran, 2U);
}

}  // namespace
}  // namespace fusescope::testing
