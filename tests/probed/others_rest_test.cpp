// While one thing is timed, the processes of compilers that do not take part in it use no processor.
#include <algorithm>

#include "base/files.h"
#include "compilers/compile_network.h"
#include "compilers/probed/probed_compiler.h"
#include "compilers/time_alone.h"
#include "probe/resting_jobs.h"
#include "session/artifact.h"
#include "session/inputs/random_inputs.h"
#include "session/open_artifact.h"
#include "tests/probed/tally_fixture.h"

namespace fusescope::test {
namespace {

class OthersRest : public Tally {
 protected:
  void TearDown() override { forgetProbedCompilers(); }

  std::unique_ptr<Engine> engineOf(const std::string& compiler) {
    if (const std::size_t at = compiler.find('@'); at != std::string::npos) {
      EXPECT_EQ(command({"compilers", "add", "added", compiler.substr(at + 1)}).status, 0);  // confirms it
    }
    PlanOptions options{.compiler = compiler};
    if (compiler != kOwnCompiler) options.target = "onnxruntime";
    auto artifact = openArtifact(network(), {}, options);
    EXPECT_TRUE(artifact.ok()) << artifact.error().text();
    if (!artifact.ok()) return nullptr;
    m_inputs = randomInputs(*artifact.value().plan);
    auto engine = openEngine(artifact.value(), {.measureTactics = false});
    EXPECT_TRUE(engine.ok()) << engine.error().text();
    return engine.ok() ? std::move(engine).value() : nullptr;
  }

  std::map<std::string, Tensor> m_inputs;
};

TEST_F(OthersRest, AThreadThatSpinsUsesNothingWhileOursIsTimed) {
  const auto spinning = engineOf("tally@" + python("spins"));
  const auto ours = engineOf(std::string(kOwnCompiler));
  ASSERT_TRUE(spinning && ours);
  const RestWatch watch;
  const auto timed = timeAlone(*ours, m_inputs, {.seconds = 0.3, .warmupSeconds = 0});
  ASSERT_TRUE(timed.ok()) << timed.error().text();
  EXPECT_GE(watch.sum().jobs, 1);
  EXPECT_EQ(watch.sum().unmeasured, 0);
  EXPECT_EQ(watch.sum().usedMs, 0) << "a process that is suspended uses nothing";
  EXPECT_FALSE(watch.sum().disturbed());
  EXPECT_NE(timed.value().remark.find("suspended meanwhile"), std::string::npos) << timed.value().remark;
  const auto again = spinning->run(m_inputs);  // it goes on
  EXPECT_TRUE(again.ok()) << again.error().text();
}

TEST_F(OthersRest, WhatIsTimedDoesNotRest) {
  const auto timed = engineOf("tally@" + python());
  const auto spinning = engineOf("tally@" + python("spins"));
  ASSERT_TRUE(timed && spinning);
  const RestWatch watch;
  const auto report = timed->time(m_inputs, {.seconds = 0.2, .warmupSeconds = 0});
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_GT(report.value().samples, 1);
  EXPECT_GE(watch.sum().jobs, 1);
  EXPECT_EQ(watch.sum().usedMs, 0);
}

TEST_F(OthersRest, WhatOthersUseIsADisturbance) {
  RestReport report{.jobs = 1, .usedMs = 1, .wallMs = 100};
  EXPECT_FALSE(report.disturbed());
  report.usedMs = 50;
  EXPECT_TRUE(report.disturbed());
  EXPECT_NE(report.inWords().find("used 50 ms"), std::string::npos) << report.inWords();
  EXPECT_TRUE((RestReport{.busy = 1}).disturbed());
  TimeReport time;
  noteOthers(report, time);
  EXPECT_FALSE(time.quiet);
  EXPECT_EQ(RestReport().inWords(), "");
}

TEST_F(OthersRest, HowThreadsWaitIsNotHandedOn) {
  ::setenv("OMP_WAIT_POLICY", "active", 1);
  const std::string told = python("", "FUSESCOPE_TEST_TELLS=" + file("told"));
  ASSERT_NE(engineOf("tally@" + told), nullptr);
  ::unsetenv("OMP_WAIT_POLICY");
  const auto waits = readTextFile(file("told"));
  ASSERT_TRUE(waits.ok());
  EXPECT_EQ(waits.value(), "None");
}

}  // namespace
}  // namespace fusescope::test
