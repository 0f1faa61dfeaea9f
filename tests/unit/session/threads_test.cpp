// What the session promises of threads: models are opened and planned, and engines built and run, on several at once,
// and another thread can stop each. Run under ThreadSanitizer by `scripts/test --preset tsan`.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "session/artifact.h"
#include "session/inputs/random_inputs.h"
#include "session/open_model.h"
#include "tests/support/paths.h"

namespace fusescope::test {
namespace {

constexpr int kThreads = 4;

std::filesystem::path sample(const std::string& name) {
  return sampleFolder(name) / "model.onnx";
}

/// What `work(i)` gives on each of kThreads threads at once.
template <class Work>
auto onEachThread(Work work) {
  std::vector<std::future<decltype(work(0))>> pending;
  for (int i = 0; i < kThreads; ++i) pending.push_back(std::async(std::launch::async, work, i));
  std::vector<decltype(work(0))> results;
  for (auto& result : pending) results.push_back(result.get());
  return results;
}

std::shared_ptr<const Plan> planOfSample(const std::string& name, const PlanOptions& options = {}) {
  auto model = openModel(sample(name));
  EXPECT_TRUE(model.ok()) << model.error().text();
  auto plan = makePlan(model.value(), options);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  return plan.value();
}

TEST(Threads, OpenAndPlanToTheSameBytes) {
  const auto texts = onEachThread([](int) { return toJson(*planOfSample("tiny_resnet_dynbatch")).dump(); });
  for (const std::string& text : texts) EXPECT_EQ(text, texts.front());
}

TEST(Threads, PlanOneModelInDifferentWays) {
  const auto model = openModel(sample("bert_tiny"));
  ASSERT_TRUE(model.ok()) << model.error().text();
  const std::vector<PlanOptions> ways = {
      {}, {.precisions = {DataType::F16}}, {.precisions = {DataType::BF16}}, {.target = "tensorrt-10"}};
  const auto plan = [&](int i) {
    const auto made = makePlan(model.value(), ways[static_cast<std::size_t>(i)]);
    return made.ok() ? toJson(*made.value()).dump() : made.error().text();
  };
  const auto together = onEachThread(plan);
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(together[static_cast<std::size_t>(i)], plan(i));
}

TEST(Threads, EnginesAreBuiltAndRunSideBySideOverOneTimingCache) {
  const TemporaryFolder folder;
  const auto plan = planOfSample("tiny_resnet_dynbatch");
  const auto inputs = randomInputs(*plan);
  const auto buildAndRun = [&](int i) -> Result<RunResult> {
    BuildOptions options{.backend = i % 2 == 0 ? "native" : "reference", .threads = 1};
    options.timingCache = folder / "timings.sqlite";
    const std::unique_ptr<Engine> engine = TRY(buildEngine(plan, options));
    TRY(engine->run(inputs));
    return engine->run(inputs);
  };
  const auto results = onEachThread(buildAndRun);
  for (const auto& result : results) {
    ASSERT_TRUE(result.ok()) << result.error().text();
    for (const auto& compared : compareAll(result.value().outputs, results.front().value().outputs, {.rms = 1e-4}))
      EXPECT_TRUE(compared.ok) << compared.name << " " << compared.maxAbs;
  }
}

/// Stops `work(token, progress)` from another thread as soon as it tells its first progress.
template <class Work>
void expectStops(Work work) {
  std::stop_source source;
  std::promise<void> begun;
  std::jthread stopper([&] {
    begun.get_future().wait();
    source.request_stop();
  });
  bool told = false;
  const Progress progress = [&](std::string_view, std::string_view) {
    if (!std::exchange(told, true)) begun.set_value();
    while (!source.stop_requested()) std::this_thread::yield();
  };
  const auto result = work(source.get_token(), progress);
  if (!told) begun.set_value();
  ASSERT_TRUE(told) << "it tells no progress";
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(result.error().cancelled) << result.error().text();
}

TEST(Threads, AnotherThreadStopsOpeningAndBuilding) {
  expectStops([](const StopToken& stop, const Progress& progress) {
    return openModel(sample("bert_tiny"), {}, stop, progress);
  });
  const auto plan = planOfSample("bert_tiny");
  expectStops([&](const StopToken& stop, const Progress& progress) {
    return buildEngine(plan, {.threads = 1, .stop = stop, .progress = progress});
  });
}

}  // namespace
}  // namespace fusescope::test
