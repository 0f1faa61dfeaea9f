// A compiler whose process dies, hangs or babbles: whoever asked it goes on, and nothing is left behind.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <future>
#include <thread>

#include "compilers/compile_network.h"
#include "ir/graph.h"
#include "session/build_and_run.h"
#include "session/inputs/random_inputs.h"
#include "session/open_artifact.h"
#include "tests/compilers/added_compiler_fixture.h"

namespace fusescope::test {
namespace {

class AddedCompilerFaults : public AddedCompiler {
 public:
  static Result<std::unique_ptr<Engine>> compiled(const Artifact& artifact, const StopToken& stop = {}) {
    return compileNetwork(artifact.compiler(), artifact.plan, {.threads = 1, .stop = stop});
  }
  /// Kills the processes of abacus that are there; true: there were some.
  bool killProcesses() const {
    const std::set<pid_t> there = processes();
    for (const pid_t id : there) ::kill(id, SIGKILL);
    return !there.empty();
  }
  bool isTemporary(const std::string& name) const {
    std::error_code gone;
    for (std::filesystem::recursive_directory_iterator at(temporaryFolder(), gone), end; at != end; at.increment(gone))
      if (at->path().filename() == name) return true;
    return false;
  }
};

struct Fault {
  const char* planted;
  const char* verb;  ///< that meets it
  const char* said;
};

class AddedCompilerEndsAVerb : public AddedCompiler, public ::testing::WithParamInterface<Fault> {};

TEST_P(AddedCompilerEndsAVerb, WithWordsAboutIt) {
  const Fault& fault = GetParam();
  const PlantedFault planted(fault.planted);
  std::vector<std::string> arguments{fault.verb, everyFate(), "--compiler", "abacus"};
  if (fault.verb == std::string("time")) arguments.insert(arguments.end(), {"--seconds", "0.1"});
  const ProcessResult result = command(arguments);
  EXPECT_EQ(result.status, 2) << result.out;
  EXPECT_NE(result.err.find(fault.said), std::string::npos) << result.err;
  EXPECT_TRUE(result.out.empty()) << result.out;
}

INSTANTIATE_TEST_SUITE_P(
    Each, AddedCompilerEndsAVerb,
    ::testing::Values(Fault{"dies_in_support", "plan", "the process of abacus was ended by signal 9"},
                      Fault{"dies_in_support", "run", "while it was asked which nodes it takes"},
                      Fault{"dies_in_support", "verify", "option '--compiler': abacus cannot verify regions here"},
                      Fault{"exits_in_support", "plan", "the process of abacus ended with status 3"},
                      Fault{"babbles_in_support", "errors", "printed 'click, clack, click' while it was asked"},
                      Fault{"babbles_in_support", "plan", "the process of abacus printed 'click, clack, click'"},
                      Fault{"dies_in_run", "run", "the process of abacus was ended by signal 9 (Killed) while it ran"},
                      Fault{"exits_in_run", "run", "the process of abacus ended with status 3 while it ran"},
                      Fault{"babbles_in_run", "run", "printed 'click, clack, click' while it ran, which is no answer"},
                      Fault{"dies_in_time", "time",
                            "the process of abacus was ended by signal 9 (Killed) while it was timed"},
                      Fault{"babbles_in_time", "time", "printed 'click, clack, click' while it was timed"}));

struct WhileCompiling {
  const char* planted;
  const char* said;
};

class AddedCompilerFallsBack : public AddedCompiler, public ::testing::WithParamInterface<WhileCompiling> {};

/// What a compiler cannot compile runs on our own engine, whatever its reason.
TEST_P(AddedCompilerFallsBack, AndTheBuildGoesOn) {
  const auto& [planted, said] = GetParam();
  const PlantedFault fault(planted);
  const Json plan = json({"plan", everyFate(), "--compiler", "abacus"});
  for (const Json& node : plan["nodes"]) EXPECT_EQ(node["fate"], "fallback") << node.dump();
  for (const char* node : {"product", "last"}) {
    const Json support = entryOf(plan["support"], "node", node);
    EXPECT_EQ(support["code"], "validate.compiler_failed");
    EXPECT_EQ(support["found_by"], "build");
    EXPECT_NE(support["message"].get<std::string>().find(said), std::string::npos) << support["message"];
  }
  EXPECT_EQ(entryOf(plan["support"], "node", "soft")["code"], "validate.compiler_refused");
  const std::string ours = file("ours.npz");
  ASSERT_EQ(command({"run", everyFate(), "--outputs", ours}).status, 0);
  EXPECT_EQ(json({"run", everyFate(), "--compiler", "abacus", "--expect", ours})["ok"], true);
}

INSTANTIATE_TEST_SUITE_P(
    Each, AddedCompilerFallsBack,
    ::testing::Values(WhileCompiling{"dies_in_compile",
                                     "the process of abacus was ended by signal 9 (Killed) while it compiled"},
                      WhileCompiling{"exits_in_compile", "the process of abacus ended with status 3 while it compiled"},
                      WhileCompiling{"babbles_in_compile", "printed 'click, clack, click' while it compiled"}));

TEST_F(AddedCompilerFaults, ACompileThatHangsIsCancelledAndItsProcessEnded) {
  const Artifact artifact = opened(everyFate());
  const PlantedFault fault("hangs_in_compile");
  std::stop_source source;
  auto compiling = std::async(std::launch::async, [&] { return compiled(artifact, source.get_token()); });
  EXPECT_TRUE(comes([&] { return !processes().empty(); }));
  source.request_stop();
  const auto result = compiling.get();
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(result.error().cancelled) << result.error().text();
  EXPECT_TRUE(processes().empty());
}

TEST_F(AddedCompilerFaults, AQuestionThatHangsIsCancelled) {
  const PlantedFault fault("hangs_in_support");
  std::stop_source source;
  auto opening = std::async(std::launch::async, [&] {
    return openArtifact(everyFate(), {}, {.compiler = "abacus"}, "", source.get_token());
  });
  EXPECT_TRUE(comes([&] { return !processes().empty(); }));
  source.request_stop();
  const auto result = opening.get();
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(result.error().cancelled) << result.error().text();
  EXPECT_TRUE(processes().empty());
}

TEST_F(AddedCompilerFaults, ARunThatHangsIsCancelledAndTheNextOneRuns) {
  const Artifact artifact = opened(sample("fp16_overflow"));
  const auto inputs = randomInputs(*artifact.plan);
  std::unique_ptr<Engine> engine;
  {
    const PlantedFault fault("hangs_in_run");
    const std::string mark = file("hangs");  // its question is on the way before that
    ::setenv("FUSESCOPE_TEST_ABACUS_HANGS", mark.c_str(), 1);
    auto built = compiled(artifact);
    ASSERT_TRUE(built.ok()) << built.error().text();
    engine = std::move(built).value();
    std::stop_source source;
    auto running = std::async(std::launch::async, [&] { return engine->run(inputs, {}, source.get_token()); });
    EXPECT_TRUE(comes([&] { return std::filesystem::exists(mark); }));
    ::unsetenv("FUSESCOPE_TEST_ABACUS_HANGS");
    source.request_stop();
    const auto result = running.get();
    ASSERT_FALSE(result.ok());
    EXPECT_TRUE(result.error().cancelled) << result.error().text();
    EXPECT_TRUE(processes().empty());
  }
  const auto after = engine->run(inputs);
  EXPECT_TRUE(after.ok()) << after.error().text();
}

TEST_F(AddedCompilerFaults, AProcessThatIsKilledWhileItIsTimedEndsTheVerb) {
  auto timing = std::async(std::launch::async, [&] {
    return command({"time", sample("fp16_overflow"), "--compiler", "abacus", "--seconds", "600", "--warmup", "0"});
  });
  EXPECT_TRUE(comes([&] { return isTemporary("time.npz"); }));
  EXPECT_TRUE(comes([&] { return killProcesses(); }));
  const ProcessResult result = timing.get();
  EXPECT_EQ(result.status, 2) << result.out;
  EXPECT_NE(result.err.find("the process of abacus was ended by signal 9 (Killed) while it was timed"),
            std::string::npos)
      << result.err;
}

/// Nobody else is left to remove its files.
TEST_F(AddedCompilerFaults, AProcessEndsWithTheOneThatStartedIt) {
  const std::string model = everyFate();
  const PlantedFault fault("hangs_in_compile");
  const std::array<const char*, 6> words{
      ABACUS_FOLDER "/fusescope", "plan", model.c_str(), "--compiler", "abacus", nullptr};
  pid_t parent = -1;
  ASSERT_EQ(::posix_spawn(&parent, words[0], nullptr, nullptr, const_cast<char**>(words.data()), environ), 0);
  EXPECT_TRUE(comes([&] { return isTemporary("network.fse") && !processes().empty(); }));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(comes([&] { return processes().empty(); })) << ::testing::PrintToString(processes());
}

}  // namespace
}  // namespace fusescope::test
