// Programs that are run by fewer threads than they were lowered for.
#include "engine/program/adaptive_run.h"

#include <algorithm>

#include "engine/program/executor.h"
#include "tests/unit/engine/engine_fixture.h"
#include "tests/unit/engine/lowered_program.h"

namespace fusescope::testing {
namespace {

LoweredProgram loweredForTwo(const std::shared_ptr<const Plan>& plan) {
  std::map<std::string, Dims> extents;
  for (const InputSpec& spec : plan->inputSpecs) extents[spec.name] = spec.opt;
  return {plan, extents, "native", 2};
}

Result<StepKernels> forOne(const LoweredProgram& lowered) {
  return stepKernelsFor(1, *lowered.program, *lowered.plan, lowered.extents, KernelStore::ofProcess());
}

std::vector<Tensor> inputsOf(const Program& program) {
  std::vector<Tensor> inputs;
  for (const std::size_t buffer : program.inputs) {
    const TensorDesc& desc = program.buffers[buffer].desc;
    inputs.push_back(isFloat(desc.dtype) ? noise(desc.dims, 7).converted(desc.dtype)
                                         : Tensor::zeros(desc.dtype, desc.dims));
  }
  return inputs;
}

std::vector<Tensor> outputsOf(const Program& program) {
  std::vector<Tensor> outputs;
  for (const ProgramOutput& output : program.outputs) {
    const TensorDesc& desc = program.buffers[output.buffer].desc;
    outputs.push_back(Tensor::zeros(desc.dtype, desc.dims));
  }
  return outputs;
}

class FewerThreads : public ::testing::TestWithParam<std::tuple<const char*, DataType>> {};

TEST_P(FewerThreads, GiveTheSameBytes) {
  const auto [sample, type] = GetParam();
  const auto plan = planOf(sampleModel(sample), {.precisions = {type}});
  const LoweredProgram lowered = loweredForTwo(plan);
  auto made = forOne(lowered);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_GT(std::ranges::count_if(made.value(), [](const auto& kernel) { return kernel != nullptr; }), 0);
  const auto kernels = std::make_shared<const StepKernels>(std::move(made).value());
  Executor executor(lowered.program);
  const std::vector<Tensor> inputs = inputsOf(*lowered.program);
  std::vector<Tensor> byTwo = outputsOf(*lowered.program), byOne = byTwo;
  executor.bind(inputs, byTwo);
  ASSERT_TRUE(executor.run({}).ok());
  for (Tensor& output : byOne) output = Tensor::zeros(output.type(), output.dims());
  executor.bind(inputs, byOne);
  executor.useKernels(kernels);
  ASSERT_TRUE(executor.run({}).ok());
  for (std::size_t i = 0; i < byOne.size(); ++i) EXPECT_TRUE(byOne[i].identical(byTwo[i])) << "output " << i;
}

INSTANTIATE_TEST_SUITE_P(Samples, FewerThreads,
                         ::testing::Combine(::testing::Values("bert_tiny", "squeezenet1_1", "tiny_resnet_dynbatch",
                                                              "moe_dense"),
                                            ::testing::Values(DataType::F32, DataType::BF16)));

/// A program for two threads, bound to inputs and outputs.
struct BoundProgram {
  BoundProgram() { executor.bind(inputs, outputs); }

  LoweredProgram lowered = loweredForTwo(planOf(smallNetwork()));
  Executor executor{lowered.program};
  std::vector<Tensor> inputs = inputsOf(*lowered.program), outputs = outputsOf(*lowered.program);
};

/// Tells the policy of slow runs until it tries one thread.
void waitForTry(ThreadPolicy& policy) {
  constexpr double kSlowMs = 20;
  for (int i = 0; i < 1000 && policy.threads() == 2; ++i) policy.ran(kSlowMs);
  ASSERT_EQ(policy.threads(), 1);
}

TEST(AdaptiveRun, MakesKernelsOnceWhenTheyAreFirstTried) {
  BoundProgram program;
  int made = 0;
  AdaptiveThreads threads = AdaptiveThreads::of(*program.lowered.program, 2, 0.0);
  AdaptiveRun run(program.executor, threads, [&](int count) {
    ++made;
    EXPECT_EQ(count, 1);
    return forOne(program.lowered);
  });
  ASSERT_TRUE(run.run({}).ok());
  EXPECT_FALSE(run.wasByFewer());
  EXPECT_EQ(made, 0);
  for (int tries = 0; tries < 3; ++tries) {
    waitForTry(threads.policy);
    ASSERT_TRUE(run.run({}).ok());
    EXPECT_TRUE(run.wasByFewer());
    constexpr double kHopelessMs = 200;
    while (threads.policy.threads() == 1) threads.policy.ran(kHopelessMs);
  }
  EXPECT_EQ(made, 1);
}

TEST(AdaptiveRun, KeepsAllThreadsWhereFewerCannotRunIt) {
  BoundProgram program;
  int asked = 0;
  AdaptiveThreads threads = AdaptiveThreads::of(*program.lowered.program, 2, 0.0);
  AdaptiveRun run(program.executor, threads, [&](int) -> Result<StepKernels> {
    ++asked;
    return Diagnostic{.message = "no"};
  });
  waitForTry(threads.policy);
  ASSERT_TRUE(run.run({}).ok());
  EXPECT_FALSE(run.wasByFewer());
  for (int i = 0; i < 1000; ++i) {
    threads.policy.ran(20);
    ASSERT_EQ(threads.policy.threads(), 2);
  }
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace fusescope::testing
