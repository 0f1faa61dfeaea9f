// How much is spent on measuring tactics, on which regions, and when it ends. The clock and the waiting times of
// threads are the tests' own.
#include "engine/tactics/measuring_effort.h"
#include "base/json.h"

#include <algorithm>

#include "cache/timing_cache.h"
#include "engine/kernels/plan_backend.h"
#include "engine/steps/plan_tactics.h"
#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

std::vector<std::size_t> allOf(MeasuringOrder& order) {
  std::vector<std::size_t> taken;
  while (const auto next = order.next()) taken.push_back(*next);
  return taken;
}

TEST(MeasuringOrder, TheLargestPredictedGainComesFirst) {
  MeasuringOrder order;
  order.add({.kind = "norm", .ms = 1});
  order.add({.kind = "conv", .ms = 2});
  order.add({.kind = "conv", .ms = 1, .count = 5});
  order.add({.kind = "conv", .ms = 1});
  EXPECT_EQ(allOf(order), (std::vector<std::size_t>{2, 1, 0, 3})) << "of equal ones the earlier";
  EXPECT_EQ(order.restMs(), 0);
}

TEST(MeasuringOrder, WhatAKindGainedBeforeIsExpectedOfIt) {
  MeasuringOrder order;
  order.add({.kind = "norm", .ms = 9});
  order.add({.kind = "norm", .ms = 8});
  order.add({.kind = "conv", .ms = 3});
  const double before = order.restMs();
  EXPECT_EQ(order.next(), 0U);
  order.learn("norm", 0);
  order.learn("norm", 0);
  EXPECT_LT(order.shareOf("norm"), order.shareOf("conv"));
  EXPECT_LT(order.restMs(), before);
  EXPECT_EQ(order.next(), 2U) << "norms gain little, as was seen";
  order.learn("conv", 1);
  EXPECT_GT(order.shareOf("conv"), 0.5);
  EXPECT_EQ(order.next(), 1U);
  EXPECT_EQ(order.next(), std::nullopt);
}

TEST(MeasuringEffort, IsChosenByTheNetworkUnlessItIsAsked) {
  EXPECT_EQ(usualEffortSeconds(0.1), 5);
  EXPECT_EQ(usualEffortSeconds(20), 20);
  EXPECT_EQ(usualEffortSeconds(1e6), 60);
  MeasuringEffort usual(std::nullopt, nullptr), asked(2, nullptr), none(0, nullptr);
  for (MeasuringEffort* each : {&usual, &asked, &none}) each->begin(20);
  EXPECT_EQ(usual.report().budgetSeconds, 20);
  EXPECT_FALSE(usual.report().isAsked);
  EXPECT_EQ(asked.report().budgetSeconds, 2);
  EXPECT_TRUE(none.isSpent());
  asked.spend(1999);
  EXPECT_FALSE(asked.isSpent());
  EXPECT_NEAR(asked.leftMs(), 1, 1e-6);
  asked.spend(1);
  EXPECT_EQ(asked.whyNot(), LeftUnmeasured::EffortSpent);
  asked.measureAll();
  EXPECT_EQ(asked.whyNot(), LeftUnmeasured::No);
}

TEST(MeasuringEffort, EndsWhereTheRestIsBelowTheNoise) {
  MeasuringEffort effort(std::nullopt, nullptr);
  EXPECT_TRUE(effort.isBelowNoise(0.5, 100)) << "a quiet machine is off by about a hundredth";
  EXPECT_FALSE(effort.isBelowNoise(2, 100));
  for (const double spread : {0.015, 0.9, 0.01}) effort.noteSpread(spread);
  EXPECT_EQ(effort.noise(), 0.015);
  MeasuringEffort exact(std::nullopt, nullptr);
  for (int i = 0; i < 5; ++i) effort.noteSpread(0.9);
  EXPECT_EQ(effort.noise(), 0.02) << "that is a busy machine";
  exact.noteSpread(0);
  EXPECT_GT(exact.noise(), 0) << "two moments never agree so well";
  EXPECT_TRUE(effort.isBelowNoise(1.4, 100));
  effort.measureAll();
  EXPECT_FALSE(effort.isBelowNoise(1.4, 100));
}

TEST(MeasuringEffort, AMachineIsBusyAfterSeveralDisturbedAttemptsInARow) {
  MeasuringEffort effort(std::nullopt, nullptr);
  effort.noteAttempt(true);
  effort.noteAttempt(true);
  EXPECT_TRUE(effort.isDoubtful());
  EXPECT_FALSE(effort.isBusy());
  effort.noteAttempt(false);
  EXPECT_FALSE(effort.isDoubtful());
  for (int i = 0; i < 3; ++i) effort.noteAttempt(true);
  EXPECT_EQ(effort.whyNot(), LeftUnmeasured::MachineBusy);
  MeasuringEffort waited(1, nullptr);
  waited.noteAttempt(true);
  waited.spend(1500);
  EXPECT_EQ(waited.whyNot(), LeftUnmeasured::MachineBusy) << "it was spent on waiting";
}

/// x [8, 16], then products with widths that grow, each with a Relu: as many different regions.
std::shared_ptr<const Model> productsOf(const std::vector<std::int64_t>& widths) {
  GraphEditor editor;
  std::int64_t columns = 16;
  ValueId last = editor.addInput("x", f32({8, columns}));
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string at = std::to_string(i);
    const TensorType type = f32({8, widths[i]});
    const ValueId w = editor.addConstant("w" + at, noise({columns, widths[i]}, static_cast<std::uint32_t>(i)));
    const ValueId product = editor.addValue("product" + at, type), y = editor.addValue("y" + at, type);
    editor.addNode({.op = "MatMul", .name = "matmul" + at, .inputs = {last, w}, .outputs = {product}});
    editor.addNode({.op = "Relu", .name = "relu" + at, .inputs = {product}, .outputs = {y}});
    columns = widths[i];
    last = y;
  }
  editor.addOutput(last);
  return modelOf(editor);
}

/// A convolution of three channels, one of each channel by itself and one of points, whose first guesses work in
/// different formats on many machines; beside them products that take so long that no convolution matters.
std::shared_ptr<const Model> smallConvolutionsBesideProducts() {
  GraphEditor editor;
  const auto convolve = [&](ValueId input, const std::string& name, Dims weight, std::int64_t channels,
                            std::int64_t group) {
    const std::int64_t pad = weight[2] / 2;
    const ValueId w = editor.addConstant("w_" + name, noise(weight, 3));
    const ValueId output = editor.addValue("y_" + name, f32({1, channels, 16, 16}));
    editor.addNode({.op = "Conv",
                    .name = name,
                    .inputs = {input, w},
                    .outputs = {output},
                    .attributes = {{"group", group}, {"pads", std::vector<std::int64_t>(4, pad)}}});
    return output;
  };
  const ValueId x = editor.addInput("x", f32({1, 3, 16, 16}));
  const ValueId first = convolve(x, "conv0", {32, 3, 3, 3}, 32, 1);
  editor.addOutput(convolve(convolve(first, "conv1", {32, 1, 3, 3}, 32, 32), "conv2", {16, 32, 1, 1}, 16, 1));
  ValueId rows = editor.addInput("rows", f32({8, 2048}));
  for (const std::string name : {"matmul0", "matmul1"}) {
    const ValueId w = editor.addConstant("w_" + name, noise({2048, 2048}, 1));
    const ValueId y = editor.addValue("y_" + name, f32({8, 2048}));
    editor.addNode({.op = "MatMul", .name = name, .inputs = {rows, w}, .outputs = {y}});
    rows = y;
  }
  editor.addOutput(rows);
  return modelOf(editor);
}

/// A machine whose clock turns by a millisecond whenever it is read. If it is busy, threads wait all the time.
class FakeMachine {
 public:
  MeasuredThreads threads() {
    return {.waitedMs = [this] { return isBusy ? m_waited += 5 : m_waited; },
            .pause = [](std::chrono::microseconds) {},
            .nowMs = [this] { return m_now += 1; }};
  }
  bool isBusy = false;

 private:
  double m_now = 0, m_waited = 0;
};

class MeasuredBuild : public ::testing::Test {
 protected:
  std::unique_ptr<Engine> build(const std::vector<std::int64_t>& widths, std::optional<double> seconds) {
    return build(productsOf(widths), seconds);
  }
  std::unique_ptr<Engine> build(const std::shared_ptr<const Model>& model, std::optional<double> seconds) {
    const MeasuredThreads threads = m_machine.threads();
    return engineOf(planOf(model), {.threads = 1,
                                    .timingCache = m_folder / "times.sqlite",
                                    .effortSeconds = seconds,
                                    .measuredThreads = &threads});
  }
  static std::int64_t timed(const Engine& engine) {
    return std::ranges::count_if(engine.report().tactics, [](const TacticChoice& choice) {
      return std::ranges::any_of(choice.candidates, [](const TacticTime& time) { return time.ms.has_value(); });
    });
  }
  static const Decision* said(const Engine& engine, std::string_view code) {
    const auto found = std::ranges::find(engine.report().decisions, code, &Decision::code);
    return found == engine.report().decisions.end() ? nullptr : &*found;
  }
  TemporaryFolder m_folder;
  FakeMachine m_machine;
};

TEST_F(MeasuredBuild, MeasuresEverythingThatMatters) {
  const auto engine = build({32, 48, 64}, std::nullopt);
  const MeasuringReport& report = engine->report().measuring;
  EXPECT_EQ(report.measured, 3);
  EXPECT_EQ(report.effortSpent + report.belowNoise + report.machineBusy, 0);
  EXPECT_EQ(timed(*engine), 3);
  EXPECT_GT(report.spentSeconds, 0);
  const auto again = build({32, 48, 64}, 0);
  EXPECT_FALSE(again->report().measuring.wasNeeded) << "everything is known";
  EXPECT_EQ(timed(*again), 3);
  for (const TacticChoice& choice : again->report().tactics) EXPECT_TRUE(choice.fromCache) << choice.fusedNode;
}

TEST_F(MeasuredBuild, WithoutEffortNothingIsMeasured) {
  const auto engine = build({32, 48, 64}, 0);
  EXPECT_EQ(timed(*engine), 0);
  EXPECT_EQ(engine->report().measuring.spentSeconds, 0);
  const Decision* decision = said(*engine, "build.effort_spent");
  ASSERT_NE(decision, nullptr);
  EXPECT_EQ(decision->arguments["left"], 3);
  EXPECT_EQ(decision->arguments["measured"], 0);
  EXPECT_EQ(TimingCache::open(m_folder / "times.sqlite").value()->size(), 0U);
}

TEST_F(MeasuredBuild, TheEffortGoesWhereThePredictedGainIsLargest) {
  // One kernel takes more than this, by the clock of the test: what is measured first is the only one.
  const auto engine = build({32, 256, 48}, 0.01);
  EXPECT_EQ(engine->report().measuring.measured, 1);
  EXPECT_EQ(engine->report().measuring.effortSpent, 2);
  for (const TacticChoice& choice : engine->report().tactics) {
    const bool isLargest = choice.fusedNode.find("matmul2") != std::string::npos;  // 256 x 48
    EXPECT_EQ(choice.left, isLargest ? LeftUnmeasured::No : LeftUnmeasured::EffortSpent) << choice.fusedNode;
  }
  const auto next = build({32, 256, 48}, std::nullopt);
  EXPECT_EQ(next->report().measuring.known, 1);
  EXPECT_EQ(next->report().measuring.measured + next->report().measuring.belowNoise, 2);
  EXPECT_EQ(timed(*next), 3);
}

TEST_F(MeasuredBuild, GuessedTimesAreScaledByWhatWasMeasured) {
  // By the clock of the test a kernel takes a millisecond, which is far more than is guessed of any.
  const auto plan = planRunBy(planOf(productsOf({32, 256, 48})), "native");
  const MeasuredThreads threads = m_machine.threads();
  BuildReport report;
  auto chooser =
      TacticChooser::create(*plan, {.threads = 1, .effortSeconds = 0.01, .measuredThreads = &threads}, report, {});
  const auto requests = KernelRequests::create(*plan, {{"x", {8, 16}}}, 1);
  const auto planned = planTactics({.plan = plan.get(), .requests = &requests.value(), .outputs = {}}, chooser.value());
  ASSERT_TRUE(planned.ok()) << planned.error().text();
  int left = 0;
  for (const auto& [id, tactic] : planned.value()) {
    if (tactic.ways.left == LeftUnmeasured::No) continue;
    ++left;
    EXPECT_GT(tactic.ways.likelyMs, 0.02);
    EXPECT_LT(tactic.ways.likelyMs, 1);
  }
  EXPECT_EQ(left, 2);
}

TEST_F(MeasuredBuild, WhatIsBelowTheNoiseIsOnlyTimed) {
  // Each product by itself is small beside the first one.
  const auto engine = build({2048, 2048, 8, 12, 16}, std::nullopt);
  const MeasuringReport& report = engine->report().measuring;
  EXPECT_GT(report.belowNoise, 0);
  EXPECT_NE(said(*engine, "build.below_noise"), nullptr);
  for (const TacticChoice& choice : engine->report().tactics) {
    const auto times =
        std::ranges::count_if(choice.candidates, [](const TacticTime& time) { return time.ms.has_value(); });
    if (choice.left == LeftUnmeasured::BelowNoise) {
      EXPECT_EQ(times, 1) << "the price of the plan is measured";
    }
  }
}

TEST_F(MeasuredBuild, WhatIsBelowTheNoiseIsMeasuredIfItsFormatsSaveAConversion) {
  // By the clock of the test a conversion takes as long as any kernel.
  const auto engine = build(smallConvolutionsBesideProducts(), std::nullopt);
  std::map<std::string, const TacticChoice*> choices;
  for (const TacticChoice& choice : engine->report().tactics) choices[choice.fusedNode] = &choice;
  ASSERT_TRUE(choices.contains("conv0") && choices.contains("conv1") && choices.contains("conv2"));
  EXPECT_EQ(choices["conv0"]->tactic->outputs[0].text(), choices["conv1"]->tactic->inputs[0].text());
  EXPECT_EQ(choices["conv1"]->tactic->outputs[0].text(), choices["conv2"]->tactic->inputs[0].text());
}

TEST_F(MeasuredBuild, ABusyMachineIsMeasuredLater) {
  m_machine.isBusy = true;
  const auto busy = build({32, 48, 64, 80, 96}, std::nullopt);
  EXPECT_EQ(busy->report().measuring.machineBusy, 5);
  EXPECT_EQ(timed(*busy), 0);
  const Decision* decision = said(*busy, "build.machine_busy");
  ASSERT_NE(decision, nullptr);
  EXPECT_EQ(decision->arguments["left"], 5);
  m_machine.isBusy = false;
  const auto quiet = build({32, 48, 64, 80, 96}, std::nullopt);
  EXPECT_EQ(quiet->report().measuring.measured + quiet->report().measuring.belowNoise, 5);
  EXPECT_GE(quiet->report().measuring.measured, 3);
  EXPECT_EQ(timed(*quiet), 5);
  EXPECT_EQ(said(*quiet, "build.machine_busy"), nullptr);
}

TEST_F(MeasuredBuild, ALeftRegionHasThePredictedTimeIfThereIsOne) {
  build({32, 48, 64, 80, 96, 112, 128, 144}, std::nullopt);  // enough of a kind to predict others
  const auto engine = build({40, 100}, 0);
  for (const TacticChoice& choice : engine->report().tactics) {
    EXPECT_EQ(choice.left, LeftUnmeasured::EffortSpent);
    EXPECT_TRUE(choice.predictedMs.has_value()) << choice.fusedNode;
  }
}

TEST(LeftUnmeasured, EveryReasonIsSaidWithItsNumbers) {
  EXPECT_TRUE(leftUnmeasured({.measured = 3, .known = 2}).empty());
  const auto said = leftUnmeasured({.budgetSeconds = 2.5,
                                    .noise = 0.0123,
                                    .measured = 3,
                                    .known = 2,
                                    .effortSpent = 1,
                                    .belowNoise = 4,
                                    .machineBusy = 5});
  ASSERT_EQ(said.size(), 3U);
  EXPECT_EQ(said[0].arguments,
            (DecisionArguments{{"left", 1}, {"all", 15}, {"measured", 3}, {"known", 2}, {"seconds", "2.5"}}));
  EXPECT_EQ(said[1].arguments,
            (DecisionArguments{{"left", 4}, {"all", 15}, {"measured", 3}, {"known", 2}, {"noise", "1.2"}}));
  EXPECT_EQ(said[2].code, "build.machine_busy");
}

}  // namespace
}  // namespace fusescope::testing
