// A probe in a Python of this machine: requests, answers, files both ways, progress, cancelling.
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/elapsed.h"
#include "tests/unit/probe/probe_fixture.h"

using namespace fusescope;
using namespace fusescope::test;

namespace {

using ProbeJobTest = ProbeTest;

TEST_F(ProbeJobTest, OpensACompilerAndAnswers) {
  const auto job = started(withFakes());
  ASSERT_TRUE(job);
  EXPECT_EQ(job->opened()["version"], "1.2");
  const Json answer = asked(*job, "echo", {{"options", {{"threads", 2}}}});
  EXPECT_EQ(answer["request"]["options"]["threads"], 2);
  EXPECT_TRUE(job->isThere());
}

TEST_F(ProbeJobTest, FilesGoBothWays) {
  const auto job = started(withFakes());
  ASSERT_TRUE(job);
  const auto network = file("network.onnx", "a network");
  const auto answer =
      job->ask({.json = {{"op", "echo"}}, .files = {{"network.onnx", network}, {"more/weights", network}}}, {});
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  ASSERT_EQ(answer.value().files.size(), 2U);
  EXPECT_EQ(textOfFile(answer.value().files.at("more/weights")), "a network");
  EXPECT_EQ(answer.value().json["files"]["network.onnx"][1], network.string()) << "it is read where it lies";
}

TEST_F(ProbeJobTest, FilesOfAnAnswerGoWhereTheCallerWantsThem) {
  const auto job = started(withFakes());
  ASSERT_TRUE(job);
  std::filesystem::create_directory(m_folder / "mine");
  const auto answer =
      job->ask({.json = {{"op", "echo"}}, .files = {{"log", file("log", "words")}}, .folder = m_folder / "mine"}, {});
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(answer.value().files.at("log"), m_folder / "mine" / "log");
  EXPECT_EQ(textOfFile(m_folder / "mine" / "log"), "words");
}

TEST_F(ProbeJobTest, ProgressIsTold) {
  const auto job = started(withFakes());
  ASSERT_TRUE(job);
  std::vector<std::string> told;
  const auto answer = job->ask({.json = {{"op", "echo"}}, .files = {}}, {}, [&](auto phase, auto detail) {
    told.push_back(std::string(phase) + ": " + std::string(detail));
  });
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(told, std::vector<std::string>{"echoing: all of it"});
}

TEST_F(ProbeJobTest, NumbersThatJsonDoesNotKnowArrive) {
  const auto job = started(withFakes());
  ASSERT_TRUE(job);
  const Json answer = asked(*job, "odd_numbers");
  EXPECT_EQ(answer["numbers"], Json::array({"nan", "inf", "-inf", 1.5}));
  EXPECT_EQ(answer["text"], "a?b");
  EXPECT_EQ(answer["set"], Json::array({1, 2}));
}

TEST_F(ProbeJobTest, WhatIsRefusedIsSaidInTheCompilersWords) {
  const auto job = started(withFakes());
  ASSERT_TRUE(job);
  const auto said = [&](const char* op) { return job->ask({.json = {{"op", op}}, .files = {}}, {}).error(); };
  EXPECT_EQ(said("refuse").message, "I do not take this.");
  EXPECT_EQ(said("refuse").help, "Give me something else.");
  EXPECT_EQ(said("fail").message, "ValueError: the third axis is too long");
  EXPECT_EQ(said("unheard_of").message, "echo does not know the request \"unheard_of\".");
  EXPECT_NE(said("no_object").message.find("with an object"), std::string::npos);
  EXPECT_TRUE(job->isThere()) << "a refusal ends no job";
  EXPECT_EQ(asked(*job, "echo")["request"]["op"], "echo");
}

TEST_F(ProbeJobTest, WhatACompilerPrintsIsNoAnswer) {
  const auto job = started(withFakes());
  ASSERT_TRUE(job);
  EXPECT_EQ(asked(*job, "litter")["is"], "fine");
  EXPECT_EQ(asked(*job, "litter")["is"], "fine");
}

class Cancelling : public ProbeTest, public ::testing::WithParamInterface<const char*> {};

/// How long it takes is printed (a second is the most that it may take where the machine is idle), and not asserted:
/// on a busy machine the processes wait for their turn.
TEST_P(Cancelling, EndsTheProcessWhateverItDoes) {
  const auto job = started(withFakes());
  ASSERT_TRUE(job);
  const int process = job->opened()["about"]["pid"];
  EXPECT_TRUE(runs(process));
  std::stop_source stop;
  std::chrono::steady_clock::time_point begun;
  const auto answer =
      job->ask({.json = {{"op", "wait"}, {"how", GetParam()}}, .files = {}}, stop.get_token(), [&](auto, auto) {
        begun = std::chrono::steady_clock::now();
        stop.request_stop();
      });
  const double answered = msSince(begun);
  ASSERT_FALSE(answer.ok());
  EXPECT_TRUE(answer.error().cancelled) << answer.error().text();
  EXPECT_FALSE(job->isThere());
  EXPECT_TRUE(eventually([&] { return !runs(process); }));
  std::printf("suite: cancelled %s: answered after %.0f ms, its process gone after %.0f ms\n", GetParam(), answered,
              msSince(begun));
  const auto again = started(withFakes());
  ASSERT_TRUE(again) << "the environment can be used further on";
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Cancelling,
                         ::testing::Values("in Python", "holding the interpreter", "in a process of its own"));

}  // namespace
