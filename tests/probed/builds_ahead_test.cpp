// What is begun before a compiler is asked: the network is written while its package is imported, and whoever compiles
// next says so.
#include <algorithm>
#include <cstdlib>
#include <stop_token>

#include "base/files.h"
#include "compilers/probed/probed_compiler.h"
#include "session/artifact.h"
#include "session/open_artifact.h"
#include "tests/probed/tally_fixture.h"

namespace fusescope::test {
namespace {

class BuildsAhead : public Tally {
 protected:
  BuildsAhead() {
    ::setenv("FUSESCOPE_TEST_REQUESTS", file("asked").c_str(), 1);
    forgetProbedCompilers();
  }
  ~BuildsAhead() override {
    ::unsetenv("FUSESCOPE_TEST_REQUESTS");
    forgetProbedCompilers();
  }

  /// What tally was asked since the last call, by all of its processes.
  std::vector<Json> asked() const {
    std::vector<Json> requests;
    const std::string text = readTextFile(file("asked")).value();
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1)
      requests.push_back(Json::parse(text.substr(begin, text.find('\n', begin) - begin)));
    std::filesystem::remove(file("asked"));
    return requests;
  }
  /// The first request of an op.
  static Json requestOf(const std::vector<Json>& requests, const char* op) {
    for (const Json& each : requests)
      if (each["op"] == op) return each;
    return {};
  }
  ProcessResult built(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"build",   network(), "--compiler", "tally",
                                       "--cache", "off",     "-o",         file("a.fse")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return command(arguments);
  }
  /// The phases of planning, in order, until the one called `last`.
  std::vector<std::string> phasesOf(const PlanOptions& options = {.compiler = "tally", .target = "onnxruntime"},
                                    const std::string& last = {}) const {
    std::stop_source stop;
    std::vector<std::string> phases;
    const auto opened =
        openArtifact(network(), {}, options, "", stop.get_token(), [&](std::string_view phase, std::string_view) {
          phases.emplace_back(phase);
          if (phase == last) stop.request_stop();
        });
    EXPECT_EQ(opened.ok(), last.empty()) << (opened.ok() ? "" : opened.error().text());
    std::erase_if(phases, [](const std::string& phase) { return phase != "ask" && phase != "hand over"; });
    return phases;
  }
};

TEST_F(BuildsAhead, ABuildSaysWithHowManyThreadsItCompilesNext) {
  ASSERT_EQ(built({"--threads", "3"}).status, 0);
  const std::vector<Json> building = asked();
  EXPECT_EQ(requestOf(building, "support")["next_threads"], 3);
  EXPECT_EQ(requestOf(building, "compile")["options"]["threads"], 3);
  ASSERT_EQ(built({}).status, 0);
  const std::vector<Json> usual = asked();
  EXPECT_GT(requestOf(usual, "support")["next_threads"], 0) << "as many as the machine has";
  EXPECT_EQ(requestOf(usual, "support")["next_threads"], requestOf(usual, "compile")["options"]["threads"]);
}

TEST_F(BuildsAhead, APlanDoesNotSayThatItCompilesNext) {
  ASSERT_EQ(command({"plan", network(), "--compiler", "tally", "--cache", "off"}).status, 0);
  const Json support = requestOf(asked(), "support");
  ASSERT_TRUE(support.is_object());
  EXPECT_FALSE(support.contains("next_threads")) << support.dump();
}

TEST_F(BuildsAhead, TheNetworkIsWrittenOnce) {
  ASSERT_EQ(built({}).status, 0);
  const std::vector<Json> requests = asked();
  const Json first = requestOf(requests, "support")["files"], second = requestOf(requests, "compile")["files"];
  ASSERT_TRUE(first.contains("network.onnx")) << first.dump();
  EXPECT_EQ(first, second);
}

TEST_F(BuildsAhead, TheNetworkIsWrittenWhileTheCompilerIsOpened) {
  plant("slow open");
  EXPECT_EQ(phasesOf({.compiler = "tally", .target = "onnxruntime"}, "ask"),
            (std::vector<std::string>{"hand over", "ask"}));
}

TEST_F(BuildsAhead, WhatWasWrittenAheadIsWhatIsAskedAbout) {
  EXPECT_EQ(phasesOf(), (std::vector<std::string>{"hand over", "ask", "ask"})) << "it is not written again";
}

TEST_F(BuildsAhead, ACompilerThatIsThereIsNotWaitedFor) {
  ASSERT_EQ(phasesOf().front(), "hand over");
  EXPECT_EQ(phasesOf().front(), "ask") << "nothing is gained by writing it before";
}

TEST_F(BuildsAhead, SegmentsAreCutOutByAnswersThatAreNotThereYet) {
  PlanOptions options{.compiler = "tally", .target = "onnxruntime"};
  options.directives = {fallbackDirective("turn")};
  EXPECT_EQ(phasesOf(options).front(), "ask");
}

/// OpenMP says what it read: patient threads, whatever variables there are.
TEST_F(BuildsAhead, ThreadsArePatientWhateverVariablesThereAre) {
  for (const std::vector<std::string>& start : {std::vector<std::string>{"env", "-i", "OMP_DISPLAY_ENV=VERBOSE"},
                                                {"env", "-i", "OMP_DISPLAY_ENV=VERBOSE", "OLDPWD=/", "SHLVL=1"},
                                                {"env", "-i", "OMP_DISPLAY_ENV=VERBOSE", "SHLVL=1"}}) {
    std::vector<std::string> arguments = start;
    arguments.insert(arguments.end(), {TALLY_FOLDER "/fusescope", "--version"});
    const ProcessResult told = runProcess(arguments);
    EXPECT_EQ(told.status, 0);
    EXPECT_NE(told.err.find("OMP_WAIT_POLICY = 'PASSIVE'"), std::string::npos) << told.err;
    EXPECT_NE(told.err.find("GOMP_SPINCOUNT = '4000'"), std::string::npos) << told.err;
  }
}

}  // namespace
}  // namespace fusescope::test
