#include "tuning/outside_metric.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "tests/support/paths.h"

namespace fusescope::test {
namespace {

OutputArrays arrays(std::vector<float> values) {
  return {{"y", Tensor::copyOf<float>(DataType::F32, {static_cast<std::int64_t>(values.size())}, values)}};
}

Result<double> metric(const std::string& command, const StopToken& stop = {}) {
  return outsideMetric(command, arrays({1, 2}), arrays({1, 3}), stop);
}

TEST(OutsideMetric, GetsTwoFilesAndGivesANumber) {
  EXPECT_EQ(metric("echo 0.25; :").value(), 0.25);
  EXPECT_EQ(metric("[ -f \"$1\" ] && [ -f \"$2\" ] && printf ' -3e-2\\n\\n' && :").value(), -3e-2);
}

TEST(OutsideMetric, WhatItIsGivenAreArchivesOfTheOutputs) {
  const TemporaryFolder folder;
  const std::string copy = (folder / "copy").string();
  const auto script =
      folder.write("metric.sh", "cp \"$1\" " + copy + ".expected; cp \"$2\" " + copy + ".actual\necho inf\n");
  EXPECT_EQ(metric("sh " + script.string()).value(), INFINITY);
  EXPECT_TRUE(std::filesystem::exists(copy + ".expected"));
  EXPECT_TRUE(std::filesystem::exists(copy + ".actual"));
}

TEST(OutsideMetric, NoNumberIsAsBadAsCanBe) {
  for (const char* command : {"echo nan #", "echo -nan #", "echo inf #"}) EXPECT_EQ(metric(command).value(), INFINITY);
}

TEST(OutsideMetric, WhatFailsIsALocatedError) {
  for (const char* command : {"exit 3 #", "echo many words #", "true", "echo 1 2 #", "/no/such/program"}) {
    const auto result = metric(command);
    ASSERT_FALSE(result.ok()) << command;
    EXPECT_EQ(result.error().where.attribute, "--metric");
    EXPECT_FALSE(result.error().help.empty());
  }
  EXPECT_NE(metric("exit 3 #").error().message.find("status 3"), std::string::npos);
}

TEST(OutsideMetric, IsEndedWhereTheUserStops) {
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    source.request_stop();
  });
  const auto result = metric("sleep 3600; echo 1 #", source.get_token());  // longer than the test may take
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(result.error().cancelled);
}

TEST(OutsideMetric, SamplesAreJoinedAlongTheFirstAxis) {
  const auto tensor = [](Dims dims, std::vector<float> values) {
    return Tensor::copyOf<float>(DataType::F32, std::move(dims), values);
  };
  const auto rows = joinedAlongFirstAxis({tensor({1, 2}, {1, 2}), tensor({2, 2}, {3, 4, 5, 6})}, "y");
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(rows.value().dims(), (Dims{3, 2}));
  EXPECT_EQ(rows.value().data<float>()[5], 6);
  EXPECT_EQ(joinedAlongFirstAxis({tensor({}, {1}), tensor({}, {2})}, "y").value().dims(), Dims{2});
  const auto others = joinedAlongFirstAxis({tensor({1, 2}, {1, 2}), tensor({1, 1}, {3})}, "y");
  ASSERT_FALSE(others.ok());
  EXPECT_EQ(others.error().where.value, "y");
  EXPECT_FALSE(joinedAlongFirstAxis({Tensor::ofStrings({1}, {"a"})}, "y").ok());
}

}  // namespace
}  // namespace fusescope::test
