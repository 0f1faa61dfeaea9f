// Several executors run one program beside each other, also where its steps prepare kernels and bodies while they run.
// A race shows under ThreadSanitizer (scripts/sanitize tsan).
#include <array>
#include <thread>

#include "engine/program/executor.h"
#include "tests/unit/engine/engine_fixture.h"
#include "tests/unit/engine/lowered_program.h"

namespace fusescope::testing {
namespace {

constexpr std::size_t kCallers = 3, kRuns = 12;

/// Runs `executor` on `inputs` and gives the outputs, which no arena holds.
std::vector<Tensor> boxedOutputs(Executor& executor, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> outputs(executor.program().outputs.size());
  executor.bind(inputs, outputs);
  const Status status = executor.run({});
  EXPECT_TRUE(status.ok()) << status.error().text();
  executor.takeBoxed(outputs);
  return outputs;
}

/// Each caller goes through `inputs` in an order of its own and gets what one executor alone gets.
void expectSameBesideEachOther(const LoweredProgram& lowered, const std::vector<std::vector<Tensor>>& inputs) {
  std::vector<std::vector<Tensor>> expected;
  Executor alone(lowered.program);
  for (const auto& given : inputs) expected.push_back(boxedOutputs(alone, given));
  std::vector<std::thread> callers;
  std::array<int, kCallers> wrong{};
  for (std::size_t caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      Executor executor(lowered.program);
      for (std::size_t run = 0; run < kRuns; ++run) {
        const std::size_t at = run * (caller + 1) % inputs.size();
        const std::vector<Tensor> outputs = boxedOutputs(executor, inputs[at]);
        for (std::size_t i = 0; i < outputs.size(); ++i) wrong[caller] += !outputs[i].identical(expected[at][i]);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

TEST(SideBySide, StepsWhoseExtentsDependOnData) {
  const auto plan = planOf(modelOfText(R"(
    input %x: f32[4, 3]
    input %keep: bool[4]
    input %drop: bool[4]
    %kept: f32[k, 3] = Compress(%x, %keep) <axis=0> {name="keep_rows"}
    %a: f32[k, 3] = Exp(%kept) {name="exp"}
    %dropped: f32[d, 3] = Compress(%x, %drop) <axis=0> {name="drop_rows"}
    %b: f32[d, 3] = Tanh(%dropped) {name="tanh"}
    output %a
    output %b)"));
  const LoweredProgram lowered(plan, {{"x", {4, 3}}, {"keep", {4}}, {"drop", {4}}});
  std::vector<std::vector<Tensor>> inputs;
  for (const std::int64_t count : {1, 3, 2, 4}) {
    const Tensor rows = Tensor::ofInt64({count > 0, count > 1, count > 2, count > 3}).converted(DataType::Bool);
    const Tensor others = Tensor::ofInt64({1, count < 2, count < 3, count < 4}).converted(DataType::Bool);
    inputs.push_back({noise({4, 3}, static_cast<std::uint32_t>(count)), rows, others});
  }
  expectSameBesideEachOther(lowered, inputs);
  const ShapeCacheCount& kernels = lowered.dynamicKernels;
  const std::size_t runs = inputs.size() + kCallers * kRuns;
  EXPECT_EQ(kernels.hits + kernels.misses, static_cast<std::int64_t>(2 * runs)) << "two steps in every run";
}

TEST(SideBySide, LoopsThatPrepareTheirBodies) {
  const auto plan = planOf(modelOfText(R"(
    input %m: int64[]
    input %a: f32[1, 2]
    %y: f32[k, 2] = Loop(%m, _, %a) <body=body graph "first" {
        input %i: int64[]
        input %on: bool[]
        input %u: f32[j, 2]
        %v: f32[...] = Concat(%u, %u) <axis=0> {name="join"}
        %w: f32[...] = Tanh(%v) {name="tanh"}
        output %on
        output %w }> {name="grow"}
    %z: f32[l, 2] = Loop(%m, _, %a) <body=body graph "second" {
        input %i: int64[]
        input %on: bool[]
        input %u: f32[j, 2]
        %v: f32[...] = Concat(%u, %u) <axis=0> {name="join"}
        %w: f32[...] = Sigmoid(%v) {name="sigmoid"}
        output %on
        output %w }> {name="grow_too"}
    output %y
    output %z)"));
  const LoweredProgram lowered(plan, {{"m", {}}, {"a", {1, 2}}});
  std::vector<std::vector<Tensor>> inputs;
  for (const std::int64_t trips : {1, 3, 2})
    inputs.push_back({Tensor::ofInt64({trips}).reshaped({}), noise({1, 2}, static_cast<std::uint32_t>(trips))});
  expectSameBesideEachOther(lowered, inputs);
}

}  // namespace
}  // namespace fusescope::testing
