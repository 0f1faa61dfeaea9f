// What the JSON of timed layers says, and what runs keep of it.
#include <gtest/gtest.h>

#include "session/artifact.h"
#include "session/documents/engine_reports.h"
#include "session/inputs/random_inputs.h"
#include "session/inputs/samples.h"
#include "session/open_model.h"
#include "session/runs/run.h"
#include "tests/support/networks.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

std::shared_ptr<const Plan> planOf(const std::string& graph) {
  const TemporaryFolder folder;
  auto model = openModel(folder.write("model.onnx", onnxBytes(graph, 18)));
  if (!model.ok()) throw std::runtime_error(model.error().text());
  return makePlan(model.value(), {.target = "cpu:avx2"}).value();
}

TEST(TimeReport, NestsTheLayersOfBodies) {
  const auto plan = planOf(
      "g (float[4] s) => (float[4] y) <int64 three = {3}> {"
      "  [loop] y = Loop (three, , s) <body = b (int64 i, bool go, float[4] u) => (bool on, float[4] v) {"
      "      on = Identity (go) [soft] w = Softmax (u) [exp] v = Exp (w) }> }");
  const auto engine = buildEngine(plan, {.backend = "native", .threads = 1, .measureTactics = false});
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  const auto report =
      engine.value()->time(randomInputs(*plan), {.seconds = 0.05, .warmupSeconds = 0, .perLayer = true});
  ASSERT_TRUE(report.ok());
  const Json json = toJson(report.value());
  ASSERT_EQ(json["layers"].size(), 1U);
  const Json& loop = json["layers"][0];
  EXPECT_FALSE(loop.contains("call_ms"));
  ASSERT_EQ(loop["bodies"].size(), 1U);
  EXPECT_EQ(loop["bodies"][0]["attribute"], "body");
  EXPECT_EQ(loop["bodies"][0]["calls"], 3);
  double inside = 0;
  std::vector<std::string> names;
  for (const Json& layer : loop["bodies"][0]["layers"]) {
    names.push_back(layer["name"]);
    inside += layer["median_ms"].get<double>();
    EXPECT_NEAR(layer["call_ms"].get<double>() * 3, layer["median_ms"].get<double>(), 1e-12);
    EXPECT_EQ(layer["identity"].get<std::string>().size(), 32U);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"node_of_on", "soft", "exp"}));
  EXPECT_GT(inside, 0);
}

/// What another compiler compiled is one layer, with its kernels in it; a run keeps them.
TEST(TimeReport, NestsTheKernelsOfAPart) {
  const auto plan = planOf("g (float[4] x) => (float[4] y) { [soft] y = Softmax (x) }");
  const FusedNode& fused = plan->fusedNodes.front();
  const StepTime kernel{.name = "kernel_7", .fused = fused.id, .tactic = "some", .medianMs = 1.5};
  const StepTime segment{.name = "segment_0", .tactic = "some", .medianMs = 2.0, .kernels = {kernel}};
  const Json json = toJson(TimeReport{.layers = {segment}, .made = plan});
  const Json& part = json["layers"][0];
  EXPECT_TRUE(part["identity"].is_null());
  ASSERT_EQ(part["layers"].size(), 1U);
  EXPECT_EQ(part["layers"][0]["name"], "kernel_7");
  EXPECT_EQ(part["layers"][0]["identity"], fused.identity.hex());
  EXPECT_EQ(part["layers"][0]["origins"], Json({"soft"}));
  EXPECT_EQ(part["layers"][0]["median_ms"], 1.5);

  const auto time = runTimeFromJson(json);
  ASSERT_TRUE(time.ok()) << time.error().text();
  ASSERT_EQ(time.value().layers[0].kernels.size(), 1U);
  EXPECT_EQ(time.value().layers[0].kernels[0].name, "kernel_7");
  fusescope::Run run{.id = "1", .kind = RunKind::Plan};
  run.time = time.value();
  const auto again = runFromJson(toJson(run));
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again.value().time->layers, time.value().layers);
}

}  // namespace
}  // namespace fusescope::test
