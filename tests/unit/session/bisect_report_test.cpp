#include "session/documents/bisect_report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "planning/plan_options_json.h"

namespace fusescope {
namespace {

BisectReport found() {
  BisectReport report{.end = CulpritEnd::Found, .before = INFINITY};
  report.levels = {{"none", 0.002}, {"basic", 0.5}};
  BisectStage first{.what = "optimisers", .switches = {"a", "b"}, .found = {}};
  first.found = {.end = CulpritEnd::NoCulprit, .after = 0.25, .builds = 2};
  BisectStage last{.what = "types of nodes", .switches = {"n0", "n1", "n2"}, .found = {}};
  last.found = {.end = CulpritEnd::Found, .off = {0, 2}, .after = 0.001, .minimal = true, .builds = 5};
  report.stages = {first, last};
  report.options = {"--pin", "n0=f32", "--pin", "n2=f32"};
  report.without = PlanOptions{.precisions = {DataType::F16}};
  report.honoured = false;
  report.builds = 9;
  report.seconds = 1.5;
  return report;
}

TEST(BisectReport, ComesBackFromItsJson) {
  const BisectReport report = found();
  Json json = toJson(report);
  json["plan_options"] = toJson(*report.without);
  const auto read = bisectReportFromJson(json);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(toJson(read.value()), toJson(report));
  EXPECT_EQ(culpritsOf(read.value()), (std::vector<std::string>{"n0", "n2"}));
  EXPECT_EQ(read.value().before, INFINITY);
  EXPECT_EQ(read.value().honoured, false);
  ASSERT_TRUE(read.value().without.has_value());
  EXPECT_EQ(*read.value().without, *report.without);
}

TEST(BisectReport, WithoutACulpritComesBack) {
  const BisectReport report{.end = CulpritEnd::NotWrong, .before = 0.001, .builds = 1};
  const auto read = bisectReportFromJson(toJson(report));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read.value().end, CulpritEnd::NotWrong);
  EXPECT_EQ(read.value().stage(), nullptr);
  EXPECT_FALSE(read.value().honoured.has_value());
  EXPECT_TRUE(culpritsOf(read.value()).empty());
}

TEST(BisectReport, WhatDoesNotFitTogetherIsAnError) {
  Json json = toJson(found());
  json["culprits"] = Json{"n0", "n7"};
  const auto unknown = bisectReportFromJson(json);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("'n7' is not among what was switched off"), std::string::npos);
  json = toJson(found());
  json["stages"] = Json::array();
  EXPECT_FALSE(bisectReportFromJson(json).ok());
  json = toJson(found());
  json["end"] = "no_culprit";
  EXPECT_FALSE(bisectReportFromJson(json).ok()) << "culprits are named, and none was found";
  EXPECT_FALSE(bisectReportFromJson(Json::array()).ok());
}

TEST(BisectReport, SaysWhatWasFoundAndHowToLeaveItOut) {
  const std::vector<std::string> lines = inWords(found(), 0.01);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0],
            "found: without types of nodes n0, n2 the error is 0.001 instead of not finite (at most 0.01 is right)");
  EXPECT_EQ(lines[1], "none of them can be left switched on: each was tried");
  EXPECT_EQ(lines[2], "but the compiler reports that it used them all the same");
  EXPECT_EQ(lines[3], "switch them off with: --pin n0=f32 --pin n2=f32");
  EXPECT_EQ(inWords(found().stages[0]), "wrong without all of them, too (0.25)");
  BisectReport over{.end = CulpritEnd::OutOfBudget, .before = 0.5};
  EXPECT_EQ(inWords(over, 0.01),
            std::vector<std::string>{"the search was ended before it found a culprit; the error is 0.5"});
}

}  // namespace
}  // namespace fusescope
