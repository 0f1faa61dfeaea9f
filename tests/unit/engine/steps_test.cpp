// A network called again and again, what it gave handed back to it.
#include "engine/run_steps.h"

#include <algorithm>

#include "base/medians.h"
#include "engine/steps/body_profile.h"

#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

class StepsOnEachBackend : public ::testing::TestWithParam<const char*> {
 protected:
  BuildOptions options() const { return {.backend = GetParam(), .threads = 1, .measureTactics = false}; }
};
INSTANTIATE_TEST_SUITE_P(Backends, StepsOnEachBackend, ::testing::Values("reference", "native"),
                         [](const auto& info) { return std::string(info.param); });

/// cache [past, 2] · x [1, 2] -> grown [past + 1, 2], its sum over rows, its extents: a key/value cache.
std::shared_ptr<const Model> cacheNetwork() {
  GraphEditor editor;
  const ValueId cache = editor.addInput("cache", f32({Dim::named("past"), 2})), x = editor.addInput("x", f32({1, 2}));
  const ValueId axes = editor.addConstant("axes", Tensor::ofInt64({0}));
  const ValueId grown = editor.addValue("grown", f32({Dim(), 2})), total = editor.addValue("total", f32({1, 2}));
  const ValueId extents = editor.addValue("extents", {DataType::I64, Shape::of(Dims{2})});
  editor.addNode({.op = "Concat",
                  .name = "append",
                  .inputs = {cache, x},
                  .outputs = {grown},
                  .attributes = {{"axis", std::int64_t{0}}}});
  editor.addNode({.op = "ReduceSum", .name = "sum", .inputs = {grown, axes}, .outputs = {total}});
  editor.addNode({.op = "Shape", .name = "shape", .inputs = {grown}, .outputs = {extents}});
  for (const ValueId output : {grown, total, extents}) editor.addOutput(output);
  return modelOf(editor);
}

std::map<std::string, Tensor> firstInputs() {
  return {{"cache", floats({1, 2}, {10, 20})}, {"x", floats({1, 2}, {1, 2})}};
}

TEST_P(StepsOnEachBackend, FeedWhatCameOutBackIn) {
  const auto engine = engineOf(planOf(cacheNetwork()), options());
  const auto result = runSteps(*engine, firstInputs(), {.count = 3, .feeds = {{"grown", "cache"}}}, {"all"});
  ASSERT_TRUE(result.ok()) << result.error().text();
  const auto& outputs = result.value().last.outputs;
  EXPECT_TRUE(outputs.at("grown").identical(floats({4, 2}, {10, 20, 1, 2, 1, 2, 1, 2})));
  EXPECT_TRUE(outputs.at("total").identical(floats({1, 2}, {13, 26})));
  ASSERT_EQ(result.value().stepMs.size(), 3U);
  for (const double ms : result.value().stepMs) EXPECT_GT(ms, 0);
}

TEST_P(StepsOnEachBackend, WithoutFeedsAreTheSameCallAgain) {
  const auto engine = engineOf(planOf(cacheNetwork()), options());
  const auto steps = runSteps(*engine, firstInputs(), {.count = 2});
  const auto once = engine->run(firstInputs());
  ASSERT_TRUE(steps.ok() && once.ok());
  for (const auto& [name, tensor] : once.value().outputs)
    EXPECT_TRUE(steps.value().last.outputs.at(name).identical(tensor)) << name;
}

TEST_P(StepsOnEachBackend, OneValueMayFeedSeveralInputs) {
  GraphEditor editor;
  const ValueId a = editor.addInput("a", f32({2})), b = editor.addInput("b", f32({2}));
  const ValueId sum = editor.addValue("sum", f32({2}));
  editor.addNode({.op = "Add", .name = "add", .inputs = {a, b}, .outputs = {sum}});
  editor.addOutput(sum);
  const auto engine = engineOf(planOf(modelOf(editor)), options());
  const auto result = runSteps(*engine, {{"a", floats({2}, {1, 2})}, {"b", floats({2}, {1, 0})}},
                               {.count = 3, .feeds = {{"sum", "a"}, {"sum", "b"}}});
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_TRUE(result.value().last.outputs.at("sum").identical(floats({2}, {8, 8})));
}

TEST_P(StepsOnEachBackend, CanBeTimed) {
  const auto engine = engineOf(planOf(cacheNetwork()), options());
  const auto report =
      engine->time(firstInputs(), {.warmupSeconds = 0, .steps = Steps{.count = 5, .feeds = {{"grown", "cache"}}}});
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_EQ(report.value().stepMs.size(), 5U);
  EXPECT_EQ(report.value().samples, 5);
  EXPECT_EQ(report.value().medianMs, median(report.value().stepMs));
  EXPECT_EQ(report.value().minMs, std::ranges::min(report.value().stepMs));
}

std::string errorOf(std::vector<Feed> feeds, std::int64_t count = 2) {
  const auto engine = engineOf(planOf(cacheNetwork()), {.backend = "reference", .threads = 1, .measureTactics = false});
  const auto result = runSteps(*engine, firstInputs(), {.count = count, .feeds = std::move(feeds)});
  return result.ok() ? "" : result.error().text();
}

TEST(Steps, FeedsThatCannotBeAreToldBeforeAnythingRuns) {
  EXPECT_EQ(
      errorOf({{"groan", "cache"}}),
      "tensor 'groan': option '--feed': is not an output of this network. Its outputs are grown, total, extents.");
  EXPECT_EQ(errorOf({{"grown", "cash"}}),
            "tensor 'cash': option '--feed': is not an input of this network. Its inputs are cache, x.");
  EXPECT_EQ(errorOf({{"extents", "cache"}}),
            "tensor 'extents': option '--feed': is int64, and cannot be fed to 'cache', which is f32");
  EXPECT_EQ(errorOf({{"grown", "cache"}, {"total", "cache"}}),
            "tensor 'cache': option '--feed': gets two values from --feed");
}

TEST(Steps, ExtentsOutOfRangeAreToldWithTheStep) {
  EXPECT_EQ(errorOf({{"grown", "cache"}}, 8), "") << "as far as the network may go";
  const std::string error = errorOf({{"grown", "cache"}}, 12);
  EXPECT_NE(error.find("tensor 'cache': in step 9 of 12: has extents [9, 2], allowed is from [1, 2] to [8, 2]"),
            std::string::npos)
      << error;
}

TEST(Steps, OfEmulatedTypesHaveNoTime) {
  const auto engine = engineOf(planOf(smallNetwork(), {.precisions = {DataType::F16}}),
                               {.backend = "reference", .threads = 1, .measureTactics = false});
  const auto report = engine->time({{"x", noise({2, 4}, 1)}}, {.steps = Steps{.count = 3}});
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_FALSE(report.value().unavailableReason.empty());
  EXPECT_FALSE(report.value().medianMs);
  EXPECT_TRUE(report.value().stepMs.empty());
}

TEST(Steps, CanBeStopped) {
  const auto engine = engineOf(planOf(cacheNetwork()), {.backend = "reference", .threads = 1, .measureTactics = false});
  std::stop_source source;
  source.request_stop();
  const auto result = runSteps(*engine, firstInputs(), {.count = 3}, {}, source.get_token());
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(result.error().cancelled);
}

}  // namespace
}  // namespace fusescope::testing
