// How a compiler behind a probe is handed networks, before anything is started.
#include "compilers/probed/probed_compiler.h"

#include <gtest/gtest.h>

#include "tests/support/paths.h"
#include "tests/unit/compilers/planned_file.h"

namespace fusescope::test {
namespace {

std::shared_ptr<const Plan> plannedFor() {
  return plannedFile(sampleFolder("bert_tiny") / "model.onnx",
                     {.target = "onnxruntime", .precisions = {DataType::F16}});
}

/// Starts nothing: there is no such Python.
const Compiler& compiler() {
  return *findCompiler("onnxruntime@/no/such/python");
}

TEST(ProbedCompiler, LowersToTheNetworkAndWhatItIsToldBesides) {
  const auto lowered = compiler().lower(plannedFor(), {.threads = 3});
  ASSERT_TRUE(lowered.ok()) << lowered.error().text();
  ASSERT_NE(lowered.value().network, nullptr);
  EXPECT_EQ(lowered.value().options["threads"], 3);
  EXPECT_EQ(lowered.value().options["level"], "all");
  EXPECT_EQ(lowered.value().pins.size(), lowered.value().network->pins.size());
}

TEST(ProbedCompiler, ALoweringThatFailsKeepsNothingOfThePlan) {
  auto plan = plannedFile(sampleFolder("bert_tiny") / "model.onnx",
                          {.compilerOptions = {{"level", "highest"}}, .target = "onnxruntime"});
  const std::weak_ptr<const Plan> kept = plan;
  EXPECT_FALSE(compiler().lower(std::move(plan), {}).ok());
  EXPECT_TRUE(kept.expired());
}

TEST(ProbedCompiler, StopsWhileItLowers) {
  std::stop_source stop;
  stop.request_stop();
  const auto lowered = compiler().lower(plannedFor(), {.stop = stop.get_token()});
  ASSERT_FALSE(lowered.ok());
  EXPECT_TRUE(lowered.error().cancelled);
}

}  // namespace
}  // namespace fusescope::test
