// Engines that meet extents one after the other: what depends on them changes, nothing else, and results are those of
// an engine that was built for them.
#include <array>
#include <cstring>
#include <optional>
#include <thread>
#include <tuple>

#include "engine/kernels/kernel_store.h"
#include "engine/kernels/output_memory.h"
#include "engine/program/executor.h"
#include "engine/program/plan_extents.h"
#include "engine/steps/program_update.h"
#include "tests/unit/engine/engine_fixture.h"
#include "tests/unit/engine/lowered_program.h"

namespace fusescope::testing {
namespace {

using Attributes = std::map<std::string, Attribute>;

/// Who attends to a cache: as many heads as it has, or groups of them each to one, by keys and values that are
/// repeated.
enum class Heads { Equal, Grouped };

/// A token x goes through products of its own extents into a cache of `past` tokens, and attends to it; both caches are
/// handed out as one, and only the first of what was handed in is read.
std::shared_ptr<const Plan> cachePlan(Heads heads = Heads::Equal) {
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
  const ValueId front = ints("front", {0});
  ValueId query = token, seenKeys = keys, seenValues = values;
  if (heads == Heads::Grouped) {
    const ValueId wide = editor.addConstant("wide", noise({16, 48}, 2));
    const ValueId axis2 = ints("axis_2", {2}), often = ints("often", {1, 1, 3, 1, 1}), all = ints("all", {1, 6, -1, 8});
    query = add("Reshape", {add("MatMul", {x, wide}, "queries"), ints("query_dims", {1, 6, 1, 8})}, "query");
    const auto repeated = [&](ValueId value, const std::string& name) {
      const ValueId once = add("Unsqueeze", {value, axis2}, ("once_" + name).c_str());
      return add("Reshape", {add("Expand", {once, often}, ("often_" + name).c_str()), all}, ("all_" + name).c_str());
    };
    seenKeys = repeated(keys, "keys");
    seenValues = repeated(values, "values");
  }
  const ValueId turned = add("Transpose", {seenKeys}, "turned", {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}});
  const ValueId scores = add("MatMul", {query, turned}, "scores");
  const ValueId seen = add("Softmax", {scores}, "seen", axis(-1));
  editor.addOutput(add("MatMul", {seen, seenValues}, "attended"));
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

class NewExtents : public ::testing::TestWithParam<std::tuple<const char*, Heads>> {
 protected:
  BuildOptions options() const { return {.backend = std::get<0>(GetParam()), .threads = 1, .measureTactics = false}; }
  static std::shared_ptr<const Plan> plan() { return cachePlan(std::get<1>(GetParam())); }

  std::map<std::string, Tensor> fresh(const std::shared_ptr<const Plan>& plan, std::int64_t past) const {
    BuildOptions own = options();
    own.shapes = {{"caches", {2, 1, 2, past, 8}}};
    return engineOf(plan, own)->run(inputsAt(past)).value().outputs;
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, NewExtents,
                         ::testing::Combine(::testing::Values("reference", "native"),
                                            ::testing::Values(Heads::Equal, Heads::Grouped)),
                         [](const auto& info) {
                           const bool isGrouped = std::get<1>(info.param) == Heads::Grouped;
                           return std::string(std::get<0>(info.param)) + (isGrouped ? "Grouped" : "");
                         });

TEST_P(NewExtents, GiveWhatAnEngineForThemGives) {
  const auto plan = this->plan();
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
  const auto plan = this->plan();
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
  const auto plan = this->plan();
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

class StepsOfNewExtents : public ::testing::TestWithParam<Heads> {};
INSTANTIATE_TEST_SUITE_P(Attention, StepsOfNewExtents, ::testing::Values(Heads::Equal, Heads::Grouped),
                         [](const auto& info) { return info.param == Heads::Grouped ? "Grouped" : "Equal"; });

TEST_P(StepsOfNewExtents, AreThoseThatDependOnThemAndNoneIsCompiled) {
  const auto plan = cachePlan(GetParam());
  const auto engine = engineOf(plan, {.threads = 1, .measureTactics = false});
  for (const std::int64_t past : {1, 2, 3, 4, 5}) ASSERT_TRUE(engine->run(inputsAt(past)).ok());
  const KernelStore::Counts before = KernelStore::ofProcess().counts();
  ASSERT_TRUE(engine->run(inputsAt(6)).ok());
  const KernelStore::Counts after = KernelStore::ofProcess().counts();
  EXPECT_EQ(after.packed + after.sharedWeights, before.packed + before.sharedWeights) << "weights stay where they are";
  EXPECT_EQ(after.otherExtents - before.otherExtents, 2) << "attention, and a concatenation; the other shares its code";
  EXPECT_EQ(after.compiled, before.compiled);
}

/// x transposed + y, both [n, n]: at n = 1 as if nothing were transposed.
TEST(NewExtentsOf, WhatLooksAlikeAtFewExtents) {
  GraphEditor editor;
  const Dim n = Dim::named("n");
  const ValueId x = editor.addInput("x", f32({n, n})), y = editor.addInput("y", f32({n, n}));
  const ValueId turned = editor.addValue("turned", f32({n, n})), sum = editor.addValue("sum", f32({n, n}));
  editor.addNode({.op = "Transpose", .name = "turn", .inputs = {x}, .outputs = {turned}});
  editor.addNode({.op = "Add", .name = "add", .inputs = {turned, y}, .outputs = {sum}});
  editor.addOutput(sum);
  const auto engine = engineOf(planOf(modelOf(editor)),
                               {.threads = 1, .measureTactics = false, .shapes = {{"x", {1, 1}}, {"y", {1, 1}}}});
  for (const std::int64_t extent : {1, 2, 5, 1, 3}) {
    const Tensor left = noise({extent, extent}, 1), right = noise({extent, extent}, 2);
    const Tensor result = engine->run({{"x", left}, {"y", right}}).value().outputs.at("sum");
    const auto size = static_cast<std::size_t>(extent);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j)
        ASSERT_EQ(result.data<float>()[i * size + j],
                  left.data<float>()[j * size + i] + right.data<float>()[i * size + j])
            << extent;
  }
}

/// Of integers that are compared, and what comes of it lies in scratch: 3 where at ≤ limit, else -7.
TEST(NewExtentsOf, MasksOfPlacesCompileNothing) {
  GraphEditor editor;
  const Dim n = Dim::named("n");
  const ValueId at = editor.addInput("at", {DataType::I64, Shape::of({1, n})});
  const ValueId limit = editor.addInput("limit", {DataType::I64, Shape::of(Dims{1, 1})});
  const ValueId shown = editor.addConstant("shown", floats({}, {3})),
                hidden = editor.addConstant("hidden", floats({}, {-7}));
  const ValueId seen = editor.addValue("seen", {DataType::Bool, Shape::of({1, n})});
  const ValueId mask = editor.addValue("mask", f32({1, n}));
  editor.addNode({.op = "LessOrEqual", .name = "see", .inputs = {at, limit}, .outputs = {seen}});
  editor.addNode({.op = "Where", .name = "choose", .inputs = {seen, shown, hidden}, .outputs = {mask}});
  editor.addOutput(mask);
  auto model = std::make_shared<Model>(*modelOf(editor));
  for (InputSpec& spec : model->inputSpecs)
    if (spec.name == "at") spec.max[1] = 4000;
  const auto plan = planOf(model);
  ASSERT_EQ(plan->fusedNodes.size(), 1U);
  const auto engine = engineOf(plan, {.threads = 1, .measureTactics = false});
  std::optional<std::int64_t> compiled;
  for (const std::int64_t count : {2, 1, 3, 4, 7, 5, 2000, 2, 3000, 40}) {
    Tensor places = Tensor::zeros(DataType::I64, {1, count}), last = Tensor::zeros(DataType::I64, {1, 1});
    const auto extent = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < extent; ++i) places.mutableData<std::int64_t>()[i] = static_cast<std::int64_t>(i % 5);
    last.mutableData<std::int64_t>()[0] = 2;
    const auto result = engine->run({{"at", places}, {"limit", last}});
    ASSERT_TRUE(result.ok()) << result.error().text();
    const Tensor& got = result.value().outputs.at("mask");
    for (std::size_t i = 0; i < extent; ++i)
      ASSERT_EQ(got.data<float>()[i], i % 5 <= 2 ? 3.0f : -7.0f) << count << " at " << i;
    if (!compiled) compiled = KernelStore::ofProcess().counts().compiled;
  }
  EXPECT_EQ(KernelStore::ofProcess().counts().compiled, *compiled);
}

/// At a cache of `past` tokens.
LoweredProgram loweredCache(std::int64_t past, Heads heads = Heads::Equal) {
  return {cachePlan(heads), {{"x", {1, 16}}, {"caches", {2, 1, 2, past, 8}}}};
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
  const auto update = ProgramUpdate::create(*lowered.plan, lowered.extents, 1, KernelStore::ofProcess());
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
  const auto update = ProgramUpdate::create(*lowered.plan, lowered.extents, 1, KernelStore::ofProcess());
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

/// Caches that are fed back: those that came in, those that go out, and of the arena what one token takes.
TEST(NewExtentsOf, GrowingCachesHoldThemTwice) {
  constexpr std::int64_t kLast = 600;
  const LoweredProgram lowered = loweredCache(1, Heads::Grouped);
  Program& program = *lowered.program;
  const auto update = ProgramUpdate::create(*lowered.plan, lowered.extents, 1, KernelStore::ofProcess());
  ASSERT_NE(update, nullptr);
  const auto numbersAt = [&](std::int64_t past) {
    return update->extents().numbersFor({{"x", {1, 16}}, {"caches", {2, 1, 2, past, 8}}}).value();
  };
  const auto arenas = std::make_shared<ArenaMemory>();
  Executor executor(lowered.program, arenas);
  OutputMemory memory;
  std::vector<Tensor> inputs{noise({1, 16}, 1), noise({2, 1, 2, 1, 8}, 2)}, outputs(2);
  std::size_t most = 0;
  for (std::int64_t past = 1; past <= kLast; ++past) {
    ASSERT_TRUE(update->apply(program, numbersAt(std::max<std::int64_t>(past - 1, 1)), numbersAt(past)));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const TensorDesc& desc = program.buffers[program.outputs[i].buffer].desc;
      outputs[i] = memory.unwritten(desc.dtype, desc.dims);
    }
    memory.trim();
    executor.programChanged();
    executor.bind(inputs, outputs);
    ASSERT_TRUE(executor.run({}).ok());
    most = std::max(most, memory.bytes() + arenas->bytes());
    inputs[1] = outputs[1];
  }
  const std::size_t cache = 2 * 2 * (kLast + 1) * 8 * sizeof(float), scores = (kLast + 1) * sizeof(float);
  EXPECT_EQ(inputs[1].byteSize(), cache);
  EXPECT_LT(most, 2 * (cache + cache / 4) + 2 * scores + 4096) << "a quarter to grow, in pages that nobody touches";
}

/// What runs again after memory came to lie elsewhere, once it was bound again.
TEST(ArenaMemory, IsThatOfTheProgramThatNeedsTheMost) {
  const auto arenas = std::make_shared<ArenaMemory>();
  const LoweredProgram small = loweredCache(3), large = loweredSample("tiny_resnet_dynbatch", 2);
  ASSERT_LT(small.program->arenaBytes(), large.program->arenaBytes());
  Executor first(small.program, arenas);
  EXPECT_EQ(arenas->bytes(), small.program->arenaBytes());
  const auto given = inputsAt(3);
  const std::vector<Tensor> inputs{given.at("x"), given.at("caches")};
  const auto run = [&] {
    std::vector<Tensor> outputs;
    for (const ProgramOutput& output : small.program->outputs) {
      const TensorDesc& desc = small.program->buffers[output.buffer].desc;
      outputs.push_back(Tensor::zeros(desc.dtype, desc.dims));
    }
    first.bind(inputs, outputs);
    EXPECT_TRUE(first.run({}).ok());
    return outputs;
  };
  const std::vector<Tensor> before = run();
  const Executor second(large.program, arenas);
  EXPECT_EQ(arenas->bytes(), large.program->arenaBytes());
  const std::vector<Tensor> after = run();
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(after[i].identical(before[i])) << i;
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

TEST(OutputMemory, GrowsWhereItIsALittleTooSmall) {
  OutputMemory memory;
  for (std::int64_t count = 2000; count < 20000; count += 100) {
    const Tensor tensor = memory.unwritten(DataType::F32, {count});
    memory.trim();
    std::memset(const_cast<std::byte*>(tensor.bytes()), 1, tensor.byteSize());
    ASSERT_LE(memory.bytes(), tensor.byteSize() * 5 / 4) << count;
  }
  const Tensor held = memory.unwritten(DataType::F32, {20000});
  const std::byte first = held.bytes()[0];
  const Tensor other = memory.unwritten(DataType::F32, {21000});
  EXPECT_NE(other.bytes(), held.bytes()) << "what somebody holds does not move";
  EXPECT_EQ(held.bytes()[0], first);
}

TEST_P(NewExtents, LeaveWhatWasHandedOutBefore) {
  const auto plan = this->plan();
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
