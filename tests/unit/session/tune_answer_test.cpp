#include "session/tune_answer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "planning/plan_options_json.h"
#include "session/documents/tune_report.h"
#include "session/inputs/random_inputs.h"

namespace fusescope {
namespace {

/// A report of a search that found one pin.
TuneReport exampleReport() {
  TuneReport report;
  report.result.ok = report.result.minimal = true;
  report.result.unpinned = {.error = INFINITY, .cost = {.ms = 1.5, .casts = 2, .bytes = 100}};
  report.result.allPinned = {.pins = {0, 1, 2}, .cost = {.unknown = 1, .ms = 1, .casts = 0, .bytes = 300}};
  report.result.chosen = {.pins = {1},
                          .error = 0.004,
                          .cost = {.ms = 2.5, .casts = 4, .bytes = 120, .how = PriceSource::Fitted},
                          .measured = 0.003,
                          .onReference = 0.004};
  report.result.front = {report.result.chosen, report.result.unpinned};
  report.result.beatenByAllPinned = TunePoint{.pins = {0, 2}, .error = 0.005, .cost = {.ms = 3}};
  report.searchLimit = 0.008;
  report.exported = ExportedCheck{.numbers = CheckedNumbers{}, .whyNot = "its engine differs"};
  report.exported->numbers->onReference.worst = 0.006;
  report.exported->numbers->onEngine.worst = INFINITY;
  report.result.baselines = {{.name = "prefix", .found = report.result.allPinned},
                             {.name = "greedy", .end = TuneEnd::Seconds}};
  report.result.evaluations = 12;
  report.result.end = TuneEnd::Stopped;
  const Directive pin{.kind = DirectiveKind::Pin, .pattern = "n", .type = DataType::F32, .note = "without it …"};
  report.pins = {{.directive = pin, .without = {}}};
  for (const char* node : {"m", "n", "o"})
    report.nodes.push_back({.kind = DirectiveKind::Pin, .pattern = node, .type = DataType::F32});
  report.options = {.precisions = {DataType::F16}, .directives = {pin}};
  assignIds(report.options.directives);
  report.backend = "reference";
  report.pinnable = 7;
  report.seconds = 1.25;
  return report;
}

Json exampleAnswer() {
  const TuneReport report = exampleReport();
  const Samples samples{.list = {{"random", {}}}, .random = true};
  TuneOptions options;
  options.goal.baselines = true;
  options.goal.maxError = 0.01;
  Json json = toJson(report, samples, options);
  json["options"] = toJson(report.options);
  return json;
}

TEST(TuneAnswer, IsWhatTheWorkerSays) {
  const auto answer = tuneAnswerFromJson(Json::parse(exampleAnswer().dump()));
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_TRUE(answer.value().ok && answer.value().minimal && answer.value().randomInputs);
  EXPECT_EQ(answer.value().end, "stopped");
  EXPECT_EQ(answer.value().samples, 1);
  EXPECT_EQ(answer.value().evaluations, 12);
  EXPECT_EQ(answer.value().pinnable, 7);
  EXPECT_EQ(answer.value().backend, "reference");
  EXPECT_EQ(answer.value().chosen, (TunedPoint{.error = 0.004,
                                               .errorHere = 0.003,
                                               .errorOnReference = 0.004,
                                               .ms = 2.5,
                                               .how = PriceSource::Fitted,
                                               .casts = 4,
                                               .bytes = 120,
                                               .pins = 1}));
  EXPECT_TRUE(std::isinf(answer.value().unpinned.error));
  EXPECT_FALSE(answer.value().allPinned.ms.has_value()) << "a kernel of it has no price";
  EXPECT_EQ(answer.value().allPinned.pins, 3);
  ASSERT_EQ(answer.value().front.size(), 2U);
  TunedPoint first = answer.value().front[0];
  EXPECT_EQ(std::exchange(first.set, {}), (std::vector<TunedPin>{{.node = "n", .type = "f32", .why = {}}}));
  EXPECT_EQ(first, answer.value().chosen);
  ASSERT_TRUE(answer.value().beatenByAllPinned.has_value());
  EXPECT_EQ(answer.value().beatenByAllPinned->pins, 2);
  EXPECT_EQ(answer.value().beatenByAllPinned->set.back().node, "o");
  EXPECT_EQ(answer.value().maxError, 0.01);
  EXPECT_EQ(answer.value().searchLimit, 0.008);
  EXPECT_EQ(answer.value().exported, (TunedExport{.onReference = 0.006, .onEngine = INFINITY}));
  EXPECT_EQ(answer.value().exportRefused, "its engine differs");
  ASSERT_EQ(answer.value().baselines.size(), 2U);
  EXPECT_EQ(answer.value().baselines[0].name, "prefix");
  EXPECT_EQ(answer.value().baselines[0].pins, 3);
  EXPECT_TRUE(answer.value().baselines[0].finished);
  EXPECT_FALSE(answer.value().baselines[1].pins.has_value());
  EXPECT_FALSE(answer.value().baselines[1].finished) << "whether it finds any is not known";
  ASSERT_EQ(answer.value().pins.size(), 1U);
  EXPECT_EQ(answer.value().pins[0].node, "n");
  EXPECT_EQ(answer.value().pins[0].type, "f32");
  EXPECT_EQ(answer.value().pins[0].why, "without it …");
  EXPECT_FALSE(answer.value().pins[0].errorWithout.has_value());
  EXPECT_EQ(answer.value().options, exampleReport().options);
}

TEST(TuneAnswer, ErrorsNameTheField) {
  Json json = exampleAnswer();
  json["front"][1]["casts"] = "two";
  const auto wrong = tuneAnswerFromJson(json);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().where.attribute, "front[1].casts");
  json = exampleAnswer();
  json["exported"]["engine"].erase("error");
  EXPECT_EQ(tuneAnswerFromJson(json).error().where.attribute, "exported.engine.error");
  json = exampleAnswer();
  json.erase("options");
  EXPECT_EQ(tuneAnswerFromJson(json).error().where.attribute, "options");
}

TEST(TuneAnswer, BetterSetsAreToldWhileItSearches) {
  const Json told{{"better", {toJson(exampleReport().result.unpinned), toJson(exampleReport().result.chosen)}}};
  const auto points = tunedPointsFromJson(Json::parse(told.dump()));
  ASSERT_TRUE(points.ok()) << points.error().text();
  ASSERT_EQ(points.value().size(), 2U);
  EXPECT_EQ(points.value()[1].pins, 1);
  EXPECT_FALSE(tunedPointsFromJson(Json{{"front", Json::array()}}).ok());
}

}  // namespace
}  // namespace fusescope
