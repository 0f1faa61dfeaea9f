// No memory for tensors is allocated while an engine's steps run: the allocations of the process are counted meanwhile.
// oneDNN makes a table of its arguments at each call, of at most a few hundred bytes: those are not counted.
#include <atomic>
#include <cstdlib>

#include "base/sanitizers.h"
#include "engine/kernels/plan_backend.h"
#include "engine/program/executor.h"
#include "engine/steps/lowering.h"
#include "engine/steps/program_update.h"
#include "tests/support/metered/allocations.h"
#include "tests/unit/engine/engine_fixture.h"
#include "tests/unit/engine/lowered_program.h"

namespace {
std::atomic<int> counted = 0;
constexpr std::size_t kSmall = 1024;             // bytes
std::atomic<std::size_t> smallest = kSmall + 1;  // that is counted

void note(std::size_t bytes) {
  if (bytes >= smallest) ++counted;
}
}  // namespace

namespace fusescope::testing {
namespace {

/// Allocations of one run of all steps after a first one, on plausible inputs.
int allocationsOfARun(const std::shared_ptr<const Plan>& planned, const char* backend = "native") {
  const auto plan = planRunBy(planned, backend);
  BuildReport report;
  const BuildOptions options{.threads = 2, .measureTactics = false};
  auto chooser = TacticChooser::create(*plan, options, report, {});
  ShapeCacheCount dynamicKernels{.size = 1};
  LoweringRequest request{.plan = plan.get(), .threads = 2, .dynamicKernels = &dynamicKernels};
  for (const InputSpec& spec : plan->inputSpecs) request.extents[spec.name] = spec.opt;
  auto program = lower(request, chooser.value());
  if (!program.ok()) throw std::runtime_error(program.error().text());
  std::vector<Tensor> inputs, outputs;
  for (const std::size_t buffer : program.value().inputs) {
    const TensorDesc& desc = program.value().buffers[buffer].desc;
    inputs.push_back(isFloat(desc.dtype) ? noise(desc.dims, 3).converted(desc.dtype)
                                         : Tensor::zeros(desc.dtype, desc.dims));
  }
  for (const ProgramOutput& output : program.value().outputs) {
    const TensorDesc& desc = program.value().buffers[output.buffer].desc;
    outputs.push_back(Tensor::zeros(desc.dtype, desc.dims));
  }
  Executor executor(std::make_shared<const Program>(std::move(program).value()));
  executor.bind(inputs, outputs);
  EXPECT_TRUE(executor.run({}).ok());
  counted = 0;
  test::watchAllocations(note);
  const bool ok = executor.run({}).ok();
  test::watchAllocations(nullptr);
  EXPECT_TRUE(ok);
  return counted;
}

class SampleAllocation : public ::testing::TestWithParam<const char*> {};

TEST_P(SampleAllocation, NoneWhileNativeRuns) {
#if FUSESCOPE_ADDRESS_SANITIZER || FUSESCOPE_THREAD_SANITIZER
  GTEST_SKIP() << "the sanitizer owns malloc";
#endif
  EXPECT_EQ(allocationsOfARun(planOf(sampleModel(GetParam()))), 0);
}

INSTANTIATE_TEST_SUITE_P(Samples, SampleAllocation,
                         ::testing::Values("bert_tiny", "squeezenet1_1", "tiny_resnet_dynbatch", "fp16_overflow",
                                           "moe_dense"));

/// Products of 32 × 32 in the body of a loop that runs eight times, with a branch inside.
std::shared_ptr<const Model> loopingNetwork() {
  const auto graph = parseGraph(R"(graph "main" {
    input %c: bool[]
    input %a: f32[32, 32]
    input %k: f32[32, 32]
    const %m: int64[] = [8]
    %y: f32[32, 32], %all: f32[8, 32, 32] = Loop(%m, _, %a) <body=body (%c, %k) graph "body" {
        input %i: int64[]
        input %on: bool[]
        input %u: f32[32, 32]
        input %c: bool[]
        input %k: f32[32, 32]
        %n: f32[32, 32] = MatMul(%u, %k) {name="mm"}
        %v: f32[32, 32] = If(%c) <else_branch=body (%n) graph "e" { input %n: f32[32, 32]
            %e: f32[32, 32] = Tanh(%n) {name="tanh"}
            output %e },
          then_branch=body (%n) graph "t" { input %n: f32[32, 32]
            %t: f32[32, 32] = Sigmoid(%n) {name="sigmoid"}
            output %t }> {name="in"}
        output %on
        output %v
        output %n }> {name="loop"}
    output %y
    output %all
  })");
  EXPECT_TRUE(graph.ok()) << graph.error().text();
  GraphEditor editor(*graph.value());
  return modelOf(editor);
}

TEST(Allocation, NoneWhileALoopRuns) {
#if FUSESCOPE_ADDRESS_SANITIZER || FUSESCOPE_THREAD_SANITIZER
  GTEST_SKIP() << "the sanitizer owns malloc";
#endif
  EXPECT_EQ(allocationsOfARun(planOf(loopingNetwork())), 0);
}

TEST(AllocationCounter, SeesTheReference) {
#if FUSESCOPE_ADDRESS_SANITIZER || FUSESCOPE_THREAD_SANITIZER
  GTEST_SKIP() << "the sanitizer owns malloc";
#endif
  EXPECT_GT(
      allocationsOfARun(planOf(sampleModel("tiny_resnet_dynbatch"), {.precisions = {DataType::F16}}), "reference"), 0)
      << "an emulated type runs on the reference, which allocates";
}

TEST(Allocation, NoneInNarrowFloats) {
#if FUSESCOPE_ADDRESS_SANITIZER || FUSESCOPE_THREAD_SANITIZER
  GTEST_SKIP() << "the sanitizer owns malloc";
#endif
  for (const DataType type : {DataType::F16, DataType::BF16})
    EXPECT_EQ(allocationsOfARun(planOf(sampleModel("tiny_resnet_dynbatch"), {.precisions = {type}})), 0) << name(type);
}

/// x is put behind a cache, whose numbers are changed then, and compared with those of before.
std::shared_ptr<const Plan> growingPlan() {
  GraphEditor editor;
  const ValueId cache = editor.addInput("cache", f32({Dim::named("past"), 8})), x = editor.addInput("x", f32({1, 8}));
  const ValueId grown = editor.addValue("grown", f32({Dim(), 8})),
                changed = editor.addValue("changed", f32({Dim(), 8}));
  editor.addNode({.op = "Concat",
                  .name = "append",
                  .inputs = {cache, x},
                  .outputs = {grown},
                  .attributes = {{"axis", std::int64_t{0}}}});
  editor.addNode({.op = "Tanh", .name = "change", .inputs = {grown}, .outputs = {changed}});
  editor.addOutput(grown);
  editor.addOutput(changed);
  return planOf(modelOf(editor));
}

/// What a token costs that makes a cache longer, beside the work itself.
TEST(Allocation, OfNewExtentsAreFew) {
#if FUSESCOPE_ADDRESS_SANITIZER || FUSESCOPE_THREAD_SANITIZER
  GTEST_SKIP() << "the sanitizer owns malloc";
#endif
  const LoweredProgram lowered(growingPlan(), {{"cache", {3, 8}}, {"x", {1, 8}}});
  const auto update = ProgramUpdate::create(*lowered.plan, lowered.extents, 1, KernelStore::ofProcess());
  ASSERT_NE(update, nullptr);
  const auto numbersAt = [&](std::int64_t past) {
    return update->extents().numbersFor({{"cache", {past, 8}}, {"x", {1, 8}}}).value();
  };
  const auto three = numbersAt(3), four = numbersAt(4), five = numbersAt(5);
  ASSERT_TRUE(update->apply(*lowered.program, three, four));
  counted = 0;
  smallest = 1;
  test::watchAllocations(note);
  const bool ok = update->apply(*lowered.program, four, five);
  test::watchAllocations(nullptr);
  smallest = kSmall + 1;
  EXPECT_TRUE(ok);
  std::size_t open = 0;
  for (const Step& step : lowered.program->steps) open += step.kernel != nullptr ? 1 : 0;
  ASSERT_GT(open, 0U);
  EXPECT_LE(static_cast<std::size_t>(counted), 20 * open);
}

}  // namespace
}  // namespace fusescope::testing
