#include "tests/backends/backend_fixture.h"

#include "session/inputs/random_inputs.h"

namespace fusescope::testing {

std::map<std::string, Tensor> inputsOf(const Plan& plan) {
  return randomInputs(plan);
}

RunResult resultOf(const std::shared_ptr<const Plan>& plan, const std::string& backend,
                   const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& mark) {
  const auto engine = engineOf(plan, {.backend = backend, .threads = 1, .measureTactics = false});
  auto result = engine->run(inputs, mark);
  if (!result.ok()) throw std::runtime_error(result.error().text());
  return std::move(result).value();
}

void expectAsReference(const std::shared_ptr<const Plan>& plan, const RunResult& result,
                       const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& mark) {
  const RunResult expected = resultOf(plan, "reference", inputs, mark);
  ASSERT_FALSE(expected.outputs.empty());
  EXPECT_EQ(result.marked.size(), expected.marked.size());
  for (const auto& [actual, wanted] :
       {std::pair(&result.outputs, &expected.outputs), std::pair(&result.marked, &expected.marked)})
    for (const auto& [name, tensor] : *wanted) {
      ASSERT_TRUE(actual->contains(name)) << name;
      EXPECT_TRUE(actual->at(name).identical(tensor)) << name;
    }
}

std::shared_ptr<const Plan> blocksPlan(bool onHost) {
  GraphEditor editor;
  ValueId at = editor.addInput("x", f32({4, 16}));
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::string number = std::to_string(i);
    const ValueId w = editor.addConstant("w_" + number, noise({16, 16}, i + 1));
    const ValueId product = editor.addValue("product_" + number, f32({4, 16}));
    editor.addNode({.op = "MatMul", .name = "matmul_" + number, .inputs = {at, w}, .outputs = {product}});
    at = editor.addValue(i == 2 ? "y" : "relu_" + number, f32({4, 16}));
    editor.addNode({.op = "Relu", .name = "act_" + number, .inputs = {product}, .outputs = {at}});
  }
  editor.addOutput(at);
  Directives directives;
  if (onHost) directives.push_back(fallbackDirective("matmul_1"));
  return planOf(modelOf(editor), {.directives = directives});
}

}  // namespace fusescope::testing
