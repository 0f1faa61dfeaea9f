// Tensors in memory that another process maps: what it puts there is read, and what it tells is not believed.
#include "compilers/probed/shared_tensors.h"
#include "base/json.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <vector>

namespace fusescope::test {
namespace {

std::map<std::string, Tensor> someTensors() {
  return {{"a", Tensor::copyOf<float>(DataType::F32, {3}, std::array{1.F, 2.F, 3.F})},
          {"half", Tensor::scalar(1.5F).converted(DataType::F16)},
          {"none", Tensor::zeros(DataType::I64, {0, 4})},
          {"yes", Tensor::ofInt64({1}).converted(DataType::Bool)}};
}

TEST(SharedTensors, WhatIsPutThereIsTaken) {
  SharedTensors shared;
  for (int round = 0; round < 3; ++round) {
    const auto tensors = someTensors();
    const auto told = shared.put(tensors);
    ASSERT_TRUE(told.ok()) << told.error().text();
    const auto taken = shared.taken(told.value().at("list"));
    ASSERT_TRUE(taken.ok()) << taken.error().text();
    ASSERT_EQ(taken.value().size(), tensors.size());
    for (const auto& [name, tensor] : tensors) EXPECT_TRUE(taken.value().at(name).identical(tensor)) << name;
  }
}

TEST(SharedTensors, TextsAndContainersAreNotTaken) {
  EXPECT_FALSE(SharedTensors::takes(Tensor::ofStrings({1}, {"a"})));
  EXPECT_FALSE(SharedTensors::takes(Tensor::ofElements(Container::Sequence, DataType::F32, {Tensor::scalar(1)})));
  EXPECT_TRUE(SharedTensors::takes(Tensor::scalar(1)));
}

TEST(SharedTensors, AListThatDoesNotFitIsRefused) {
  SharedTensors shared;
  ASSERT_TRUE(shared.put(someTensors()).ok());
  const auto listed = [](const std::string& type, const Json& dims, const Json& at) {
    return Json::array({{{"name", "x"}, {"type", type}, {"dims", dims}, {"at", at}}});
  };
  EXPECT_TRUE(shared.taken(listed("f32", {1}, 0)).ok());
  for (const Json& bad : {listed("f32", {1000}, 0), listed("f32", {1}, 1 << 20), listed("f32", {1}, -4),
                          listed("f32", {-1}, 0), listed("f32", {std::int64_t{1} << 40, std::int64_t{1} << 40}, 0),
                          listed("text", {1}, 0), listed("string", {1}, 0), listed("f32", "x", 0),
                          listed("f32", {1}, "x"), Json("no list"), Json::array({{{"type", "f32"}}}), Json::array({1})})
    EXPECT_FALSE(shared.taken(bad).ok()) << bad.dump();
}

/// The memory of `told` in another process, which `act` has a descriptor of. How that process ended.
template <class Act>
int inAnotherProcess(const Json& told, Act act) {
  const std::string path = told.at("path");
  const pid_t child = ::fork();
  if (child == 0) {
    const int file = ::open(path.c_str(), O_RDWR);
    ::_exit(file < 0 ? 100 : act(file));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(SharedTensors, AnotherProcessWritesBehindItAndMayMakeItLonger) {
  SharedTensors shared;
  const auto told = shared.put({{"a", Tensor::ofInt64({1, 2})}});
  ASSERT_TRUE(told.ok()) << told.error().text();
  const std::vector<std::int64_t> answer{7, 8, 9};
  constexpr std::int64_t kFarBehind = 1 << 20;
  const int ended = inAnotherProcess(
      told.value(), [&](int file) { return ::pwrite(file, answer.data(), 24, kFarBehind) == 24 ? 0 : 1; });
  ASSERT_EQ(ended, 0);
  const auto taken = shared.taken(Json::array({{{"name", "y"}, {"type", "int64"}, {"dims", {3}}, {"at", kFarBehind}}}));
  ASSERT_TRUE(taken.ok()) << taken.error().text();
  EXPECT_TRUE(taken.value().at("y").identical(Tensor::ofInt64(answer)));
}

TEST(SharedTensors, NobodyMakesItShorter) {
  SharedTensors shared;
  const auto told = shared.put({{"a", Tensor::ofInt64({1, 2})}});
  ASSERT_TRUE(told.ok()) << told.error().text();
  EXPECT_EQ(inAnotherProcess(told.value(), [](int file) { return ::ftruncate(file, 0) == 0 ? 1 : 0; }), 0);
  EXPECT_EQ(inAnotherProcess(told.value(),
                             [](int) {
                               ::raise(SIGKILL);
                               return 0;
                             }),
            -SIGKILL);
  EXPECT_TRUE(shared.taken(told.value().at("list")).ok());
}

}  // namespace
}  // namespace fusescope::test
