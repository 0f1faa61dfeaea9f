// Work that is cancelled, or killed in the middle of a write, leaves nothing that misleads whoever comes next.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "base/files.h"
#include "cache/timing_cache.h"
#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

constexpr int kRounds = 12;

/// Runs `work` again and again in a child process and kills it after `time`.
void killedAfter(std::chrono::microseconds time, const std::function<void()>& work) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0)
    for (;;) work();
  std::this_thread::sleep_for(time);
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

/// x · w, with a weight of 4 MB.
std::shared_ptr<const Model> heavyNetwork(std::uint32_t seed) {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({1, 1024}));
  const ValueId w = editor.addConstant("w", noise({1024, 1024}, seed)), y = editor.addValue("y", f32({1, 1024}));
  editor.addNode({.op = "MatMul", .name = "matmul", .inputs = {x, w}, .outputs = {y}});
  editor.addOutput(y);
  return modelOf(editor);
}

TEST(Killed, AnEngineFileIsTheOldOneOrTheNewOne) {
  const TemporaryFolder folder;
  const auto file = folder / "heavy.fse";
  const std::map<std::string, Tensor> inputs{{"x", noise({1, 1024}, 7)}};
  std::vector<std::unique_ptr<Engine>> engines;
  std::vector<Tensor> expected;
  for (const std::uint32_t seed : {1U, 2U}) {
    engines.push_back(engineOf(planOf(heavyNetwork(seed)), kReference));
    expected.push_back(engines.back()->run(inputs).value().outputs.at("y"));
  }
  ASSERT_TRUE(engines[0]->save(file).ok());
  for (int round = 0; round < kRounds; ++round) {
    killedAfter(std::chrono::microseconds(500 + 1700 * round), [&] {
      for (const auto& engine : engines)
        if (!engine->save(file).ok()) ::_exit(1);
    });
    auto loaded = loadEngine(file, kReference);
    ASSERT_TRUE(loaded.ok()) << loaded.error().text();
    const Tensor y = loaded.value()->run(inputs).value().outputs.at("y");
    EXPECT_TRUE(y.identical(expected[0]) || y.identical(expected[1])) << "round " << round;
  }
}

TEST(Killed, ATextFileIsTheOldOneOrTheNewOne) {
  const TemporaryFolder folder;
  const auto file = folder / "plan.json";
  const std::string first(1 << 20, 'a'), second(3 << 20, 'b');
  ASSERT_TRUE(writeFileAtomically(file, first).ok());
  for (int round = 0; round < kRounds; ++round) {
    killedAfter(std::chrono::microseconds(300 + 900 * round), [&] {
      if (!writeFileAtomically(file, second).ok() || !writeFileAtomically(file, first).ok()) ::_exit(1);
    });
    const auto read = readTextFile(file);
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(read.value() == first || read.value() == second) << read.value().size() << " bytes";
  }
}

TEST(Killed, ATimingCacheOpensAndHoldsWhatWasStored) {
  const TemporaryFolder folder;
  const auto file = folder / "timings.sqlite";
  {
    auto cache = TimingCache::open(file);
    ASSERT_TRUE(cache.ok()) << cache.error().text();
    cache.value()->store("before", {.ms = 1.5});
  }
  for (int round = 0; round < kRounds; ++round) {
    killedAfter(std::chrono::microseconds(2000 + 3100 * round), [&] {
      auto cache = TimingCache::open(file);
      if (!cache.ok()) ::_exit(1);
      for (int i = 0; i < 50; ++i) cache.value()->store("key" + std::to_string(i), {.ms = 1.0 * i});
    });
    auto cache = TimingCache::open(file);
    ASSERT_TRUE(cache.ok()) << cache.error().text();
    EXPECT_TRUE(cache.value()->movedAside().empty());
    EXPECT_EQ(cache.value()->find("before"), std::optional(Measurement{.ms = 1.5}));
    const auto other = cache.value()->find("key7");
    EXPECT_TRUE(!other || other->ms == 7.0);
  }
}

TEST(Cancelled, BuildsStopWhereverTheyAre) {
  const auto plan = planOf(smallNetwork(), {.directives = {splitDirective("matmul"), splitDirective("add_bias")}});
  int steps = 0;
  BuildOptions counting = kReference;
  counting.progress = [&](std::string_view, std::string_view) { ++steps; };
  engineOf(plan, counting);
  ASSERT_GT(steps, 1);
  for (int at = 1; at < steps; ++at) {
    std::stop_source source;
    BuildOptions options = kReference;
    int seen = 0;
    options.stop = source.get_token();
    options.progress = [&](std::string_view, std::string_view) {
      if (++seen == at) source.request_stop();
    };
    const auto engine = buildEngine(plan, options);
    ASSERT_FALSE(engine.ok()) << "stopped at step " << at;
    EXPECT_TRUE(engine.error().cancelled) << engine.error().text();
  }
}

TEST(Cancelled, RunsCanBeRepeated) {
  const auto engine = engineOf(planOf(smallNetwork()), kReference);
  std::stop_source source;
  source.request_stop();
  for (const std::int64_t batch : {2, 5}) {  // prepared, and not prepared yet
    const std::map<std::string, Tensor> inputs{{"x", noise({batch, 4}, 1)}};
    const auto stopped = engine->run(inputs, {}, source.get_token());
    ASSERT_FALSE(stopped.ok());
    EXPECT_TRUE(stopped.error().cancelled);
    const auto whole = engine->run(inputs);
    ASSERT_TRUE(whole.ok()) << whole.error().text();
    EXPECT_TRUE(whole.value().outputs.at("y").identical(
        engineOf(planOf(smallNetwork()), kReference)->run(inputs).value().outputs.at("y")));
  }
}

}  // namespace
}  // namespace fusescope::testing
