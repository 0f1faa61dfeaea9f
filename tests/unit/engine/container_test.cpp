// Engines with bodies, sequences and optionals inside.
#include <chrono>
#include <thread>

#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

class Containers : public ::testing::TestWithParam<const char*> {
 protected:
  BuildOptions options() const { return {.backend = GetParam(), .threads = 1, .measureTactics = false}; }
};
INSTANTIATE_TEST_SUITE_P(Backends, Containers, ::testing::Values("reference", "native"),
                         [](const auto& info) { return std::string(info.param); });

Subgraph bodyOf(const std::string& lines, std::vector<ValueId> captures) {
  auto graph = parseGraph("graph \"body\" {\n" + lines + "\n}");
  EXPECT_TRUE(graph.ok()) << graph.error().text();
  return {.graph = graph.ok() ? graph.value() : nullptr, .captures = std::move(captures)};
}

Tensor flag(bool value) {
  Tensor tensor = Tensor::zeros(DataType::Bool, {});
  tensor.mutableData<bool>()[0] = value;
  return tensor;
}

/// y = Relu(if(condition) { x · 2 + w } else { w − x · 2 }): both branches capture a constant and an inner value.
std::shared_ptr<const Model> branchingNetwork() {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({3})),
                condition = editor.addInput("condition", {DataType::Bool, Shape::of(Dims{})});
  const ValueId two = editor.addConstant("two", Tensor::scalar(2)), w = editor.addConstant("w", floats({3}, {1, 2, 3}));
  const ValueId doubled = editor.addValue("doubled", f32({3})), chosen = editor.addValue("chosen", f32({3}));
  const ValueId y = editor.addValue("y", f32({3}));
  editor.addNode({.op = "Mul", .name = "double", .inputs = {x, two}, .outputs = {doubled}});
  editor.addNode({.op = "If",
                  .name = "if",
                  .inputs = {condition},
                  .outputs = {chosen},
                  .attributes = {{"then_branch", bodyOf(R"(input %d: f32[3] input %w: f32[3]
                                    %s: f32[3] = Add(%d, %w) {name="add"} output %s)",
                                                        {doubled, w})},
                                 {"else_branch", bodyOf(R"(input %w: f32[3] input %d: f32[3]
                                    %s: f32[3] = Sub(%w, %d) {name="sub"} output %s)",
                                                        {w, doubled})}}});
  editor.addNode({.op = "Relu", .name = "relu", .inputs = {chosen}, .outputs = {y}});
  editor.addOutput(y);
  return modelOf(editor);
}

TEST_P(Containers, BranchesReadWhatTheyCapture) {
  const TemporaryFolder folder;
  ASSERT_TRUE(engineOf(planOf(branchingNetwork()), options())->save(folder / "branches.fse").ok());
  auto engine = loadEngine(folder / "branches.fse", options());
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  const Tensor x = floats({3}, {1, -3, 0});
  const auto yes = engine.value()->run({{"x", x}, {"condition", flag(true)}});
  ASSERT_TRUE(yes.ok()) << yes.error().text();
  EXPECT_TRUE(yes.value().outputs.at("y").identical(floats({3}, {3, 0, 3})));
  const auto no = engine.value()->run({{"x", x}, {"condition", flag(false)}});
  ASSERT_TRUE(no.ok()) << no.error().text();
  EXPECT_TRUE(no.value().outputs.at("y").identical(floats({3}, {0, 8, 3})));
}

/// The body was typed with float32; around it the plan computes in f16, in emulation.
TEST_P(Containers, BodiesKeepTheirTypesUnderLowerPrecision) {
  const auto plan = planOf(branchingNetwork(), {.target = "cpu:avx2", .precisions = {DataType::F16}});
  const auto engine = engineOf(plan, options());
  const auto result = engine->run({{"x", floats({3}, {1 + 1.0F / 4096, -3, 0})}, {"condition", flag(true)}});
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result.value().outputs.at("y").type(), DataType::F32);
  EXPECT_TRUE(result.value().outputs.at("y").identical(floats({3}, {3, 0, 3})));
}

TEST_P(Containers, SequencesComeInAndGoOut) {
  GraphEditor editor;
  const TensorType list{.dtype = DataType::F32, .shape = {}, .container = Container::Sequence};
  const ValueId tensors = editor.addInput("tensors", list), x = editor.addInput("x", f32({2}));
  const ValueId at = editor.addInput("at", {DataType::I64, Shape::of(Dims{})});
  const ValueId twice = editor.addValue("twice", f32({2})), longer = editor.addValue("longer", list);
  const ValueId picked = editor.addValue("picked", {.dtype = DataType::F32}),
                y = editor.addValue("y", {.dtype = DataType::F32});
  editor.addNode({.op = "Add", .name = "add", .inputs = {x, x}, .outputs = {twice}});
  editor.addNode({.op = "SequenceInsert", .name = "insert", .inputs = {tensors, twice}, .outputs = {longer}});
  editor.addNode({.op = "SequenceAt", .name = "pick", .inputs = {longer, at}, .outputs = {picked}});
  editor.addNode({.op = "Relu", .name = "relu", .inputs = {picked}, .outputs = {y}});
  editor.addOutput(longer);
  editor.addOutput(y);
  const TemporaryFolder folder;
  ASSERT_TRUE(engineOf(planOf(modelOf(editor)), options())->save(folder / "list.fse").ok());
  auto engine = loadEngine(folder / "list.fse", options());
  ASSERT_TRUE(engine.ok()) << engine.error().text();

  const auto sequence = [](std::vector<Tensor> elements) {
    const DataType type = elements.front().type();
    return Tensor::ofElements(Container::Sequence, type, std::move(elements));
  };
  const Tensor first = floats({1, 2}, {-5, 5});
  const auto index = [](std::int64_t i) { return Tensor::ofInt64({i}).reshaped({}); };
  const std::map<std::string, Tensor> inputs{
      {"tensors", sequence({first})}, {"x", floats({2}, {-1, 2})}, {"at", index(-1)}};
  const auto last = engine.value()->run(inputs, {"all"});
  ASSERT_TRUE(last.ok()) << last.error().text();
  // The run after it writes the arena again: what was handed out stays.
  auto others = inputs;
  others["x"] = floats({2}, {7, 7});
  others["at"] = index(0);
  const auto begin = engine.value()->run(others);
  ASSERT_TRUE(begin.ok()) << begin.error().text();
  EXPECT_TRUE(begin.value().outputs.at("y").identical(floats({1, 2}, {0, 5})));
  EXPECT_TRUE(last.value().outputs.at("y").identical(floats({2}, {0, 4})));
  EXPECT_TRUE(last.value().outputs.at("longer").identical(sequence({first, floats({2}, {-2, 4})})));

  others["tensors"] = first;
  const auto notOne = engine.value()->run(others);
  ASSERT_FALSE(notOne.ok());
  EXPECT_EQ(notOne.error().message, "is f32[1, 2], expected sequence(f32[...])");
  others["tensors"] = sequence({Tensor::ofInt64({1})});
  const auto wrong = engine.value()->run(others);
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().text().find("expected sequence(f32[...])"), std::string::npos) << wrong.error().text();
}

/// A loop that would go on for hours stops when it is asked to.
TEST_P(Containers, LoopsCanBeCancelled) {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({1})), y = editor.addValue("y", f32({1}));
  const ValueId count = editor.addConstant("count", Tensor::ofInt64({std::int64_t{1} << 40}).reshaped({}));
  const ValueId on = editor.addConstant("on", flag(true));
  editor.addNode({.op = "Loop",
                  .name = "loop",
                  .inputs = {count, on, x},
                  .outputs = {y},
                  .attributes = {{"body", bodyOf(R"(input %i: int64[] input %go: bool[] input %s: f32[1]
                                    %t: f32[1] = Add(%s, %s) {name="add"}
                                    %next: bool[] = Identity(%go) {name="next"}
                                    output %next output %t)",
                                                 {})}}});
  editor.addOutput(y);
  const auto engine = engineOf(planOf(modelOf(editor)), options());
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    source.request_stop();
  });
  const auto result = engine->run({{"x", floats({1}, {1})}}, {}, source.get_token());
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(result.error().cancelled) << result.error().text();
}

}  // namespace
}  // namespace fusescope::testing
