// A build after one directive makes anew only what the directive changed, and is the engine of a fresh build.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "engine/kernels/kernel_store.h"
#include "engine/tactics/build_memory.h"
#include "engine/tactics/measurer.h"
#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

constexpr int kChain = 5;

/// x · w_0, Relu, · w_1, Relu …; no two products are of the same extents.
std::shared_ptr<const Model> unequalChain() {
  GraphEditor editor;
  ValueId at = editor.addInput("x", f32({3, 16}));
  std::int64_t width = 16;
  for (int i = 0; i < kChain; ++i) {
    const std::string number = std::to_string(i);
    const std::int64_t next = 16 + 8 * (i + 1);
    const ValueId w = editor.addConstant("w_" + number, noise({width, next}, 1 + static_cast<std::uint32_t>(i)));
    const ValueId product = editor.addValue("product_" + number, f32({3, next}));
    editor.addNode({.op = "MatMul", .name = "matmul_" + number, .inputs = {at, w}, .outputs = {product}});
    at = editor.addValue("active_" + number, f32({3, next}));
    editor.addNode({.op = "Relu", .name = "act_" + number, .inputs = {product}, .outputs = {at}});
    width = next;
  }
  editor.addOutput(at);
  return modelOf(editor);
}

PlanOptions pinned(std::initializer_list<int> products) {
  PlanOptions options;
  for (const int product : products)
    options.directives.push_back({.id = std::to_string(product),
                                  .kind = DirectiveKind::Pin,
                                  .pattern = "matmul_" + std::to_string(product),
                                  .type = DataType::BF16});
  return options;
}

/// Builds of one network in one process, with a store of their own.
class Series {
 public:
  std::unique_ptr<Engine> build(const PlanOptions& options, bool measures = false) {
    return engineOf(planOf(m_model, options), {.backend = "native",
                                               .threads = 1,
                                               .measureTactics = measures,
                                               .timingCache = measures ? m_folder / "times.sqlite" : "",
                                               .kernels = &m_store,
                                               .memory = m_memory,
                                               .effortSeconds = kEnoughSeconds,
                                               .measuredThreads = &m_quiet});
  }
  /// The same without anything that a build before made.
  std::unique_ptr<Engine> buildFresh(const PlanOptions& options, bool measures = false) {
    m_fresh.push_back(std::make_unique<KernelStore>());
    return engineOf(planOf(m_model, options), {.backend = "native",
                                               .threads = 1,
                                               .measureTactics = measures,
                                               .timingCache = measures ? m_folder / "times.sqlite" : "",
                                               .kernels = m_fresh.back().get(),
                                               .effortSeconds = kEnoughSeconds,
                                               .measuredThreads = &m_quiet});
  }
  std::string bytesOf(const Engine& engine) const {
    const auto file = m_folder / "saved.fse";
    EXPECT_TRUE(engine.save(file).ok());
    std::ostringstream bytes;
    bytes << std::ifstream(file, std::ios::binary).rdbuf();
    return bytes.str();
  }
  KernelStore& store() { return m_store; }
  BuildMemory& memory() { return *m_memory; }

 private:
  static constexpr double kEnoughSeconds = 100;  // measuring never ends before all is measured
  test::TemporaryFolder m_folder;
  const MeasuredThreads m_quiet{.waitedMs = [] { return 0.0; }, .pause = [](std::chrono::microseconds) {}};
  std::shared_ptr<const Model> m_model = unequalChain();
  std::vector<std::unique_ptr<KernelStore>> m_fresh;
  KernelStore m_store;
  std::shared_ptr<BuildMemory> m_memory = std::make_shared<BuildMemory>();
};

std::int64_t newIn(const BuildReport& report) {
  return std::ranges::count_if(report.tactics, [](const TacticChoice& choice) { return !choice.takenOver; });
}

TEST(BuildMemory, ABuildAfterOnePinMakesOnlyWhatChanged) {
  Series series;
  const auto first = series.build(pinned({}));
  EXPECT_EQ(first->report().regions, kChain);
  EXPECT_EQ(first->report().compiled, kChain);
  EXPECT_EQ(first->report().takenOver, 0);
  const KernelStore::Counts before = series.store().counts();
  const auto second = series.build(pinned({2}));
  const KernelStore::Counts after = series.store().counts();
  // The pinned product, and its producer, which now stores bf16.
  EXPECT_EQ(second->report().compiled, after.compiled - before.compiled);
  EXPECT_GE(second->report().compiled, 1);
  EXPECT_LE(second->report().compiled, 2);
  EXPECT_EQ(second->report().takenOver, second->report().regions - second->report().compiled);
  EXPECT_EQ(newIn(second->report()), second->report().compiled);
  EXPECT_LE(after.packed - before.packed, 2) << "weights of what did not change are packed once";
  const auto third = series.build(pinned({2, 4}));
  EXPECT_LE(third->report().compiled, 2);
  EXPECT_GE(third->report().takenOver, kChain - 2);
}

TEST(BuildMemory, WhatWasBuiltIsHeldWhenItsEngineIsGone) {
  Series series;
  { const auto gone = series.build(pinned({})); }
  { const auto gone = series.build(pinned({1})); }
  const KernelStore::Counts before = series.store().counts();
  const auto again = series.build(pinned({}));
  const KernelStore::Counts after = series.store().counts();
  EXPECT_EQ(after.compiled, before.compiled);
  EXPECT_EQ(after.packed, before.packed);
  EXPECT_EQ(again->report().takenOver, again->report().regions);
  EXPECT_EQ(again->report().compiled, 0);
  EXPECT_GT(series.memory().held().codes, 0U);
}

TEST(BuildMemory, TheEngineIsThatOfAFreshBuild) {
  Series series;
  const Tensor x = noise({3, 16}, 77);
  for (const auto& pins : {pinned({}), pinned({3}), pinned({3, 0}), pinned({0}), pinned({1, 2, 3})}) {
    const auto incremental = series.build(pins), fresh = series.buildFresh(pins);
    EXPECT_EQ(series.bytesOf(*incremental), series.bytesOf(*fresh));
    const Tensor y = incremental->run({{"x", x}}).value().outputs.begin()->second;
    const Tensor expected = fresh->run({{"x", x}}).value().outputs.begin()->second;
    ASSERT_EQ(y.byteSize(), expected.byteSize());
    EXPECT_EQ(std::memcmp(y.bytes(), expected.bytes(), y.byteSize()), 0);
  }
}

TEST(BuildMemory, OnlyWhatChangedIsMeasured) {
  Series series;
  const auto first = series.build(pinned({}), true);
  EXPECT_EQ(first->report().takenOver, 0);
  EXPECT_EQ(first->report().compiled, kChain) << "also what was compiled to be measured";
  const auto second = series.build(pinned({2}), true);
  EXPECT_LE(second->report().measured, 2);
  EXPECT_GE(second->report().takenOver, kChain - 2);
  for (const TacticChoice& choice : second->report().tactics) {
    if (!choice.takenOver) continue;
    const auto same = std::ranges::find(first->report().tactics, choice.identity, &TacticChoice::identity);
    ASSERT_NE(same, first->report().tactics.end());
    EXPECT_EQ(same->candidates, choice.candidates) << "times are those of the first build";
  }
  const auto again = series.build(pinned({2}), true);
  EXPECT_EQ(again->report().measured, 0);
  EXPECT_EQ(again->report().compiled, 0);
  EXPECT_EQ(again->report().takenOver, again->report().regions);
  const auto chosen = [](const Engine& engine) {
    std::vector<std::string> names;
    for (const TacticChoice& choice : engine.report().tactics) names.push_back(choice.chosen);
    return names;
  };
  EXPECT_EQ(chosen(*again), chosen(*second));
}

TEST(BuildMemory, WithoutAMemoryNothingIsTakenOver) {
  KernelStore store;
  const auto model = unequalChain();
  const BuildOptions options{.threads = 1, .measureTactics = false, .kernels = &store};
  const auto first = engineOf(planOf(model), options), second = engineOf(planOf(model), options);
  EXPECT_EQ(second->report().takenOver, 0);
  EXPECT_EQ(second->report().compiled, 0) << "the store of the process shares code all the same";
}

TEST(BuildMemory, WhatIsHeldIsBounded) {
  KernelStore store;
  const auto model = unequalChain();
  const auto memory = std::make_shared<BuildMemory>(4000);
  for (const auto& pins : {pinned({}), pinned({0, 1, 2, 3, 4}), pinned({1, 3})})
    engineOf(planOf(model, pins),
             {.backend = "native", .threads = 1, .measureTactics = false, .kernels = &store, .memory = memory});
  EXPECT_LE(memory->held().bytes, 4000);
  const auto roomy = std::make_shared<BuildMemory>();
  engineOf(planOf(model),
           {.backend = "native", .threads = 1, .measureTactics = false, .kernels = &store, .memory = roomy});
  EXPECT_GT(roomy->held().bytes, 4000);
  EXPECT_EQ(roomy->held().weights, static_cast<std::size_t>(kChain));
}

}  // namespace
}  // namespace fusescope::testing
