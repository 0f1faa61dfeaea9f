// Engines that meet extents one after the other: what depends on them changes, nothing else, and results are those of
// an engine that was built for them.
#include <array>
#include <thread>

#include "engine/executor.h"
#include "engine/kernel_store.h"
#include "engine/output_memory.h"
#include "engine/plan_extents.h"
#include "engine/program_update.h"
#include "tests/unit/engine/engine_fixture.h"
#include "tests/unit/engine/lowered_program.h"

namespace fusescope::testing {
namespace {

using Attributes = std::map<std::string, Attribute>;

/// A token x goes through products of its own extents into a cache of `past` tokens, and attends to it; both caches are
/// handed out as one, and only the first of what was handed in is read.
std::shared_ptr<const Plan> cachePlan() {
  GraphEditor editor;
  const auto value = [&](const char* name) { return editor.addValue(name, {DataType::F32, Shape::unknown()}); };
  const auto ints = [&](const char* name, std::vector<std::int64_t> numbers) {
    return editor.addConstant(name, Tensor::ofInt64(std::move(numbers)));
  };
  const auto add = [&](const char* op, std::vector<ValueId> inputs, const char* name, Attributes attributes = {}) {
    const ValueId output = value(name);
    editor.addNode({.op = op,
                    .name = std::string("make_") + name,
                    .inputs = std::move(inputs),
                    .outputs = {output},
                    .attributes = std::move(attributes)});
    return output;
  };
  const ValueId x = editor.addInput("x", f32({1, 16}));
  const ValueId caches = editor.addInput("caches", f32({2, 1, 2, Dim::named("past"), 8}));
  const ValueId weight = editor.addConstant("weight", noise({16, 16}, 1));
  const ValueId hidden = add("Relu", {add("MatMul", {x, weight}, "product")}, "hidden");
  const ValueId token = add("Reshape", {hidden, ints("token_dims", {1, 2, 1, 8})}, "token");
  const auto index = [&](const char* name, std::int64_t number) {
    Tensor scalar = Tensor::zeros(DataType::I64, {});
    scalar.mutableData<std::int64_t>()[0] = number;
    return editor.addConstant(name, scalar);
  };
  const ValueId first = index("first", 0), second = index("second", 1);
  const auto axis = [](std::int64_t number) { return Attributes{{"axis", number}}; };
  const ValueId oldKeys = add("Gather", {caches, first}, "old_keys", axis(0));
  const ValueId oldValues = add("Gather", {caches, second}, "old_values", axis(0));
  const ValueId keys = add("Concat", {oldKeys, token}, "keys", axis(2));
  const ValueId values = add("Concat", {oldValues, add("Tanh", {token}, "squashed")}, "values", axis(2));
  const ValueId turned = add("Transpose", {keys}, "turned", {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}});
  const ValueId scores = add("MatMul", {token, turned}, "scores");
  const ValueId seen = add("Softmax", {scores}, "seen", axis(-1));
  editor.addOutput(add("MatMul", {seen, values}, "attended"));
  const ValueId front = ints("front", {0});
  editor.addOutput(add(
      "Concat", {add("Unsqueeze", {keys, front}, "keys_of_one"), add("Unsqueeze", {values, front}, "values_of_one")},
      "grown", axis(0)));
  auto model = std::make_shared<Model>(*modelOf(editor));
  for (InputSpec& spec : model->inputSpecs)
    if (spec.name == "caches") spec.max[3] = 1000;
  return planOf(model);
}

std::map<std::string, Tensor> inputsAt(std::int64_t past) {
  const auto seed = static_cast<std::uint32_t>(past);
  return {{"x", noise({1, 16}, 3 + seed)}, {"caches", noise({2, 1, 2, past, 8}, 5 + seed)}};
}

constexpr std::array<std::int64_t, 16> kPast = {1, 2, 3, 4, 5, 6, 7, 30, 9, 3, 100, 1, 2, 100, 64, 65};

class NewExtents : public ::testing::TestWithParam<const char*> {
 protected:
  BuildOptions options() const { return {.backend = GetParam(), .threads = 1, .measureTactics = false}; }

  std::map<std::string, Tensor> fresh(const std::shared_ptr<const Plan>& plan, std::int64_t past) const {
    BuildOptions own = options();
    own.shapes = {{"caches", {2, 1, 2, past, 8}}};
    return engineOf(plan, own)->run(inputsAt(past)).value().outputs;
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, NewExtents, ::testing::Values("reference", "native"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(NewExtents, GiveWhatAnEngineForThemGives) {
  const auto plan = cachePlan();
  const auto engine = engineOf(plan, options());
  for (const std::int64_t past : kPast) {
    const auto result = engine->run(inputsAt(past));
    ASSERT_TRUE(result.ok()) << result.error().text();
    for (const auto& [name, tensor] : fresh(plan, past))
      EXPECT_TRUE(result.value().outputs.at(name).identical(tensor)) << name << " at " << past;
  }
  EXPECT_EQ(engine->report().shapeCache.misses + engine->report().shapeCache.hits, std::ssize(kPast) + 1);
}

TEST_P(NewExtents, GiveTheSameWithMarkedValues) {
  const auto plan = cachePlan();
  const auto engine = engineOf(plan, options());
  for (const std::int64_t past : kPast) {
    const auto marked = engine->run(inputsAt(past), {"all"});
    const auto plain = engine->run(inputsAt(past));
    ASSERT_TRUE(marked.ok() && plain.ok()) << marked.error().text();
    for (const auto& [name, tensor] : plain.value().outputs)
      EXPECT_TRUE(marked.value().outputs.at(name).identical(tensor)) << name << " at " << past;
    EXPECT_EQ(marked.value().marked.at("keys").dims(), (Dims{1, 2, past + 1, 8}));
  }
}

TEST_P(NewExtents, OfSeveralEnginesBesideEachOther) {
  constexpr std::size_t kCallers = 3;
  const auto plan = cachePlan();
  std::map<std::int64_t, std::map<std::string, Tensor>> expected;
  for (const std::int64_t past : kPast)
    if (!expected.contains(past)) expected[past] = fresh(plan, past);
  std::array<int, kCallers> wrong{};
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      const auto engine = engineOf(plan, options());
      for (std::size_t i = 0; i < 3 * kPast.size(); ++i) {
        const std::int64_t past = kPast[(i * (caller + 1)) % kPast.size()];
        const auto result = engine->run(inputsAt(past));
        for (const auto& [name, tensor] : expected[past])
          if (!result.ok() || !result.value().outputs.at(name).identical(tensor)) ++wrong[caller];
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

TEST(NewExtentsOf, StepsThatDependOnThemAlone) {
  const auto plan = cachePlan();
  const auto engine = engineOf(plan, {.threads = 1, .measureTactics = false});
  for (const std::int64_t past : {1, 2, 3, 4, 5}) ASSERT_TRUE(engine->run(inputsAt(past)).ok());
  const KernelStore::Counts before = KernelStore::ofProcess().counts();
  ASSERT_TRUE(engine->run(inputsAt(6)).ok());
  const KernelStore::Counts after = KernelStore::ofProcess().counts();
  EXPECT_EQ(after.packed + after.sharedWeights, before.packed + before.sharedWeights) << "weights stay where they are";
  EXPECT_EQ(after.otherExtents - before.otherExtents, 2) << "attention, and one concatenation: the other shares its code";
  EXPECT_EQ(after.compiled - before.compiled, 0);
}

/// At a cache of `past` tokens.
LoweredProgram loweredCache(std::int64_t past) {
  return {cachePlan(), {{"x", {1, 16}}, {"caches", {2, 1, 2, past, 8}}}};
}

/// Of a network with one input.
LoweredProgram loweredSample(const std::string& sample, std::int64_t batch) {
  const auto plan = planOf(sampleModel(sample));
  const InputSpec& input = plan->model->inputSpecs.front();
  Dims dims = input.opt;
  dims[0] = batch;
  return {plan, {{input.name, dims}}};
}

TEST(ProgramUpdate, LeavesEverythingInItsPlaceWhileThereIsRoom) {
  const LoweredProgram lowered = loweredCache(100);
  const auto update =
      ProgramUpdate::create(*lowered.plan, lowered.extents, *findBackend("native"), 1, KernelStore::ofProcess());
  ASSERT_NE(update, nullptr);
  const auto numbersAt = [&](std::int64_t past) {
    return update->extents().numbersFor({{"x", {1, 16}}, {"caches", {2, 1, 2, past, 8}}}).value();
  };
  Program& program = *lowered.program;
  const std::size_t bytes = program.arenaBytes();
  ASSERT_TRUE(update->apply(program, numbersAt(100), numbersAt(20)));
  EXPECT_EQ(program.arenaBytes(), bytes);
  ASSERT_TRUE(update->apply(program, numbersAt(20), numbersAt(1000)));
  const std::size_t grown = program.arenaBytes();
  EXPECT_GT(grown, bytes);
  ASSERT_TRUE(update->apply(program, numbersAt(1000), numbersAt(1400)));
  EXPECT_EQ(program.arenaBytes(), grown) << "room for half as much again";
}

/// Convolutions are compiled for their extents: with the tactics that were chosen, and the weights that are packed.
TEST(ProgramUpdate, CompilesWhatTakesNoExtents) {
  const LoweredProgram lowered = loweredSample("tiny_resnet_dynbatch", 1);
  const std::string& input = lowered.extents.begin()->first;
  const auto extentsAt = [&](std::int64_t batch) {
    auto extents = lowered.extents;
    extents.at(input)[0] = batch;
    return extents;
  };
  const auto update =
      ProgramUpdate::create(*lowered.plan, lowered.extents, *findBackend("native"), 1, KernelStore::ofProcess());
  ASSERT_NE(update, nullptr);
  Executor executor(lowered.program);
  std::int64_t before = 1;
  for (const std::int64_t batch : {2, 5, 3, 1}) {
    const auto from = update->extents().numbersFor(extentsAt(before)),
               to = update->extents().numbersFor(extentsAt(batch));
    const KernelStore::Counts counts = KernelStore::ofProcess().counts();
    ASSERT_TRUE(update->apply(*lowered.program, from.value(), to.value())) << batch;
    EXPECT_EQ(KernelStore::ofProcess().counts().packed, counts.packed) << "nothing is packed again";
    before = batch;
    const Tensor x = noise(extentsAt(batch).at(input), 9);
    const TensorDesc& desc = lowered.program->buffers[lowered.program->outputs[0].buffer].desc;
    std::vector<Tensor> outputs{Tensor::zeros(desc.dtype, desc.dims)};
    executor.programChanged();
    executor.bind(std::span(&x, 1), outputs);
    ASSERT_TRUE(executor.run({}).ok());
    BuildOptions options{.threads = 1, .measureTactics = false};
    options.shapes = extentsAt(batch);
    const auto fresh = engineOf(lowered.plan, options)->run({{input, x}}).value();
    EXPECT_TRUE(outputs[0].identical(fresh.outputs.begin()->second)) << batch;
  }
}

TEST(Joins, PutOperandsWhereTheyAreWanted) {
  const LoweredProgram lowered = loweredCache(7);
  const Program& program = *lowered.program;
  ASSERT_EQ(program.joins.size(), 1U);
  const Join& join = program.joins.front();
  EXPECT_EQ(program.buffers[join.output].place, Place::Output);
  const std::size_t half = program.buffers[join.output].desc.bytes() / 2;
  EXPECT_EQ(program.buffers[join.inputs[0]].begin, 0U);
  EXPECT_EQ(program.buffers[join.inputs[1]].begin, half);
  for (const std::size_t input : join.inputs) EXPECT_EQ(program.buffers[input].root, join.output);
  EXPECT_EQ(liveBytes(program),
            program.buffers[program.inputs[1]].desc.bytes() + 16 * 4 + 2 * half + 16 * 4 + 2 * 16 * 4)
      << "caches in and out, the token, what it attends to, and of the arena the token and what was squashed";
}

TEST(OutputMemory, IsUsedAgainOnceNobodyHoldsIt) {
  OutputMemory memory;
  Tensor first = memory.unwritten(DataType::F32, {2000});
  const std::byte* const bytes = first.bytes();
  const Tensor second = memory.unwritten(DataType::F32, {2000});
  EXPECT_NE(second.bytes(), bytes) << "the first is held";
  memory.trim();
  first = Tensor();
  first = memory.unwritten(DataType::F32, {2010});
  EXPECT_EQ(first.bytes(), bytes) << "a little more fits in";
  const Tensor large = memory.unwritten(DataType::F32, {4000});
  first = Tensor();
  memory.trim();
  EXPECT_NE(memory.unwritten(DataType::F32, {100}).bytes(), bytes) << "much less is not worth it";
  EXPECT_EQ(second.dims(), (Dims{2000}));
}

TEST_P(NewExtents, LeaveWhatWasHandedOutBefore) {
  const auto plan = cachePlan();
  const auto engine = engineOf(plan, options());
  std::vector<RunResult> results;
  for (const std::int64_t past : {400, 401, 402, 400, 402}) results.push_back(engine->run(inputsAt(past)).value());
  for (const auto& [name, tensor] : fresh(plan, 400)) {
    EXPECT_TRUE(results[0].outputs.at(name).identical(tensor)) << name;
    EXPECT_TRUE(results[3].outputs.at(name).identical(tensor)) << name;
  }
}

TEST(PlanExtents, AreNotProvedWhereAnExtentDependsOnData) {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({Dim::named("n")}));
  const ValueId found = editor.addValue("found", {DataType::I64, Shape::unknown()});
  editor.addNode({.op = "NonZero", .name = "find", .inputs = {x}, .outputs = {found}});
  editor.addOutput(found);
  EXPECT_FALSE(PlanExtents::prove(*planOf(modelOf(editor)), {{"x", {4}}}));
}

TEST(PlanExtents, AreNotKnownWhereAConditionIsBroken) {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({Dim::named("h")})), y = editor.addInput("y", f32({Dim::named("w")}));
  const ValueId sum = editor.addValue("sum", f32({Dim()}));
  editor.addNode({.op = "Add", .name = "join", .inputs = {x, y}, .outputs = {sum}});
  editor.addOutput(sum);
  const auto plan = planOf(modelOf(editor));
  const auto extents = PlanExtents::prove(*plan, {{"x", {4}}, {"y", {4}}});
  ASSERT_TRUE(extents);
  const auto numbers = extents->numbersFor({{"x", {6}}, {"y", {6}}});
  ASSERT_TRUE(numbers);
  EXPECT_EQ(extents->dimsOf(plan->graph().outputs()[0], *numbers), (Dims{6}));
  EXPECT_FALSE(extents->numbersFor({{"x", {6}}, {"y", {1}}}));
  EXPECT_FALSE(extents->numbersFor({{"x", {0}}, {"y", {0}}}));
}

}  // namespace
}  // namespace fusescope::testing
