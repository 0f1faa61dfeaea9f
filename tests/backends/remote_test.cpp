// A device with memory of its own that works when it likes: what is not copied cannot be read, and what is not waited
// for is not there yet.
#include <array>
#include <stop_token>
#include <thread>

#include "base/sanitizers.h"
#include "session/documents/engine_reports.h"
#include "session/documents/report_json.h"
#include "tests/backends/backend_fixture.h"
#include "tests/backends/remote/remote_device.h"

namespace fusescope::testing {
namespace {

const std::map<std::string, Dims> kExtents{{"x", {4, 16}}};
constexpr const char* kRemote = "remote";

/// Runs `executor` on x once.
Result<Tensor> outputOf(Executor& executor, const Tensor& x) {
  std::vector<Tensor> outputs{Tensor::zeros(DataType::F32, {4, 16})};
  executor.bind(std::span(&x, 1), outputs);
  TRY(executor.run({}));
  return outputs[0];
}

#if !FUSESCOPE_ADDRESS_SANITIZER && !FUSESCOPE_THREAD_SANITIZER
TEST(RemoteDevice, TheHostCannotReadItsMemory) {
  const DeviceMemory memory(remoteDevice(), 64);
  EXPECT_EXIT([&] { return *const_cast<volatile std::byte*>(memory.data()) == std::byte{0}; }(),
              ::testing::KilledBySignal(SIGSEGV), "");
}
#endif

TEST(RemoteDevice, CopiesInOrderAndTellsTimes) {
  constexpr std::array<float, 4> kNumbers{1, 2, 3, 4};
  const DeviceMemory a(remoteDevice(), sizeof kNumbers), b(remoteDevice(), sizeof kNumbers);
  const auto stream = remoteDevice().makeStream(), other = remoteDevice().makeStream();
  const auto begin = remoteDevice().makeEvent(), end = remoteDevice().makeEvent();
  std::array<float, 4> back{};
  stream->record(*begin);
  stream->copy(CopyDirection::ToDevice, reinterpret_cast<const std::byte*>(kNumbers.data()), a.data(), sizeof kNumbers);
  stream->copy(CopyDirection::Within, a.data(), b.data(), sizeof kNumbers);
  stream->record(*end);
  other->wait(*end);
  other->copy(CopyDirection::FromDevice, b.data(), reinterpret_cast<std::byte*>(back.data()), sizeof kNumbers);
  EXPECT_FALSE(other->synchronise());
  EXPECT_EQ(back, kNumbers);
  EXPECT_GT(end->msSince(*begin), 0);
  other->beginStep(7);
  other->copy(CopyDirection::FromDevice, reinterpret_cast<const std::byte*>(kNumbers.data()),
              reinterpret_cast<std::byte*>(back.data()), sizeof kNumbers);
  const auto failure = other->synchronise();
  ASSERT_TRUE(failure) << "an address of the host is none of the device's";
  EXPECT_EQ(failure->step, 7U);
  EXPECT_FALSE(other->synchronise()) << "it was told";
}

class RemoteSamples : public ::testing::TestWithParam<const char*> {};

TEST_P(RemoteSamples, AgreeWithTheReference) {
  const auto model = sampleModel(GetParam());
  const auto plan = planOf(model);
  const auto inputs = inputsOf(*plan);
  expectAsReference(plan, resultOf(plan, kRemote, inputs), inputs);
}

TEST_P(RemoteSamples, AgreeWherePartsRunOnTheHost) {
  const auto model = sampleModel(GetParam());
  const Node& middle = model->graph->node(model->graph->order()[model->graph->nodeCount() / 2]);
  const auto plan = planOf(model, {.directives = {fallbackDirective(middle.name)}});
  const auto inputs = inputsOf(*plan);
  const auto& segments = plan->segments;
  ASSERT_TRUE(std::ranges::any_of(segments, [](const Segment& s) { return s.kind == SegmentKind::Fallback; }));
  expectAsReference(plan, resultOf(plan, kRemote, inputs, {"all"}), inputs, {"all"});
}

INSTANTIATE_TEST_SUITE_P(All, RemoteSamples,
                         ::testing::Values("bert_tiny", "fp16_overflow", "long_double", "moe_dense", "squeezenet1_1",
                                           "tiny_resnet_dynbatch"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Remote, HasAnArenaOfItsOwnAndCopiesAsSteps) {
  const auto plan = blocksPlan(true);
  const LoweredProgram lowered(plan, kExtents, kRemote);
  const Program& program = *lowered.program;
  ASSERT_EQ(program.arenas.size(), 2U);
  EXPECT_EQ(program.arenas[kHost].device, &cpuDevice());
  EXPECT_EQ(program.arenas[1].device, &remoteDevice());
  EXPECT_GT(program.arenas[kHost].bytes, 0U);
  EXPECT_GT(program.arenas[1].bytes, 0U);
  std::vector<std::string> copies;
  for (const Step& step : program.steps)
    if (step.copy) copies.push_back(step.name);
  EXPECT_EQ(copies, (std::vector<std::string>{"x: cpu to remote", "relu_0: remote to cpu", "product_1: cpu to remote",
                                              "y: remote to cpu"}));
  const auto host = std::ranges::find(program.steps, "matmul_1", &Step::name);
  ASSERT_NE(host, program.steps.end());
  EXPECT_EQ(host->device, kHost);
  ASSERT_EQ(host->waits.size(), 1U);
  EXPECT_EQ(program.steps[host->waits[0]].name, "relu_0: remote to cpu");
}

TEST(Remote, LayersSayWhereTheyRanAndCopiesAreAmongThem) {
  const auto plan = blocksPlan(true);
  const auto engine = engineOf(plan, {.backend = kRemote, .threads = 1, .measureTactics = false});
  const auto report = engine->time({{"x", noise({4, 16}, 1)}}, {.seconds = 0.02, .warmupSeconds = 0, .perLayer = true});
  ASSERT_TRUE(report.ok()) << report.error().text();
  const Json json = toJson(report.value());
  std::map<std::string, Json> layers;
  for (const Json& layer : json["layers"]) layers[layer["name"]] = layer;
  const Json& copy = layers.at("relu_0: remote to cpu");
  EXPECT_EQ(copy["tactic"], "device_copy");
  EXPECT_EQ(copy["device"], "remote");
  EXPECT_GT(copy["median_ms"].get<double>(), 0);
  EXPECT_TRUE(copy["identity"].is_null());
  EXPECT_EQ(layers.at("matmul_1")["device"], "cpu");
  EXPECT_EQ(layers.at("matmul_0 + act_0")["device"], "remote");
  EXPECT_GT(layers.at("matmul_0 + act_0")["median_ms"].get<double>(), 0);
}

TEST(Remote, ServesTwoExecutorsBesideEachOther) {
  constexpr int kRuns = 8;
  const auto plan = blocksPlan(true);
  LoweredProgram lowered(plan, kExtents, kRemote);
  const std::shared_ptr<const Program> program = lowered.program;
  std::array<int, 2> wrong{};
  std::vector<std::thread> callers;
  for (std::uint32_t i = 0; i < wrong.size(); ++i) {
    const Tensor x = noise({4, 16}, 30 + i);
    const Tensor expected = resultOf(plan, "reference", {{"x", x}}).outputs.at("y");
    callers.emplace_back([&wrong, &program, i, x, expected] {
      Executor executor(program);
      for (int run = 0; run < kRuns; ++run) {
        const auto y = outputOf(executor, x);
        if (!y.ok() || !y.value().identical(expected)) ++wrong[i];
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

#if !FUSESCOPE_THREAD_SANITIZER
TEST(Remote, WithoutWaitsItWouldBeFound) {
  const auto plan = blocksPlan(true);
  LoweredProgram lowered(plan, kExtents, kRemote);
  for (Step& step : lowered.program->steps) step.waits.clear();
  const Tensor x = noise({4, 16}, 1);
  const Tensor expected = resultOf(plan, "reference", {{"x", x}}).outputs.at("y");
  Executor executor(lowered.program);
  const auto y = outputOf(executor, x);
  EXPECT_FALSE(y.ok() && y.value().identical(expected)) << "what the host reads is not there yet";
}
#endif

/// Two equal gathers, on the device: the second shares the code of the first.
TEST(Remote, AnErrorOfAnAsynchronousStepNamesItsNode) {
  const auto plan = planOf(twoGathers());
  const auto engine = engineOf(plan, {.backend = kRemote, .threads = 1, .measureTactics = false});
  for (const auto& [bad, node] : {std::pair("first", "gather_first"), std::pair("second", "gather_second")}) {
    std::map<std::string, Tensor> inputs{{"first", Tensor::ofInt64({1})}, {"second", Tensor::ofInt64({1})}};
    EXPECT_TRUE(engine->run(inputs).ok()) << "an error of before is over";
    inputs[bad] = Tensor::ofInt64({7});
    const auto result = engine->run(inputs);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().where.node, node) << result.error().text();
  }
}

TEST(Remote, StopsBetweenSteps) {
  const auto plan = planOf(sampleModel("squeezenet1_1"));
  const auto inputs = inputsOf(*plan);
  const auto engine = engineOf(plan, {.backend = kRemote, .threads = 1, .measureTactics = false});
  const std::int64_t before = remoteWorkDone();
  ASSERT_TRUE(engine->run(inputs).ok());
  const std::int64_t whole = remoteWorkDone() - before;
  ASSERT_GT(whole, 20);
  std::stop_source source;
  atRemoteWork(before + whole + 2, [&] { source.request_stop(); });
  const auto result = engine->run(inputs, {}, source.get_token());
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(result.error().cancelled);
  const std::int64_t ran = remoteWorkDone() - before - whole;
  EXPECT_GE(ran, 2);
  EXPECT_LE(ran, 2 + 12) << "and what was enqueued at most";
  EXPECT_TRUE(engine->run(inputs).ok());
}

}  // namespace
}  // namespace fusescope::testing
