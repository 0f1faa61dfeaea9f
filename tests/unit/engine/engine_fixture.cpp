#include "tests/unit/engine/engine_fixture.h"

#include "frontends/importers.h"
#include "passes/pipelines.h"

namespace fusescope::testing {

std::shared_ptr<const Model> modelOf(GraphEditor& editor) {
  auto graph = editor.publish();
  if (!graph.ok()) throw std::runtime_error(graph.error().text());
  GraphEditor withOrigins(*graph.value());
  Model model;
  model.path = "test";
  model.format = "test";
  for (const NodeId id : graph.value()->order()) {
    const Node& node = graph.value()->node(id);
    withOrigins.mutableNode(id).origins = {OriginId(model.origins.size())};
    model.origins.push_back({node.name, node.op, node.domain});
  }
  model.fileNodes = static_cast<std::int64_t>(model.origins.size());
  model.graph = withOrigins.publish().value();
  for (const ValueId id : model.graph->inputs()) {
    const Value& input = model.graph->value(id);
    InputSpec spec{.name = input.name, .dtype = input.type.dtype, .source = "file"};
    for (const Dim& dim : input.type.shape.dims) {
      spec.min.push_back(dim.known() ? dim.size : 1);
      spec.opt.push_back(dim.known() ? dim.size : 2);
      spec.max.push_back(dim.known() ? dim.size : 8);
    }
    model.inputSpecs.push_back(spec);
  }
  auto prepared = prepareModel(std::move(model));
  if (!prepared.ok()) throw std::runtime_error(prepared.error().text());
  return std::make_shared<const Model>(std::move(prepared).value());
}

std::shared_ptr<const Plan> planOf(const std::shared_ptr<const Model>& model, const PlanOptions& options) {
  auto plan = makePlan(model, options);
  if (!plan.ok()) throw std::runtime_error(plan.error().text());
  return plan.value();
}

std::shared_ptr<const Model> sampleModel(const std::string& sample) {
  auto imported =
      importModel(std::filesystem::path(FUSESCOPE_SOURCE_DIR) / "resources/samples" / sample / "model.onnx");
  if (!imported.ok()) throw std::runtime_error(imported.error().text());
  auto prepared = prepareModel(std::move(imported).value());
  if (!prepared.ok()) throw std::runtime_error(prepared.error().text());
  return std::make_shared<const Model>(std::move(prepared).value());
}

std::unique_ptr<Engine> engineOf(const std::shared_ptr<const Plan>& plan, const BuildOptions& options) {
  auto engine = buildEngine(plan, options);
  if (!engine.ok()) throw std::runtime_error(engine.error().text());
  return std::move(engine).value();
}

Tensor floats(Dims dims, std::vector<float> values) {
  return Tensor::copyOf<float>(DataType::F32, std::move(dims), values);
}

Tensor noise(Dims dims, std::uint32_t seed) {
  Tensor tensor = Tensor::zeros(DataType::F32, std::move(dims));
  std::uint32_t state = seed * 2654435761U + 1;
  for (float& value : tensor.mutableData<float>()) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8) / 8388608.0F - 1.0F;
  }
  return tensor;
}

TensorType f32(std::vector<Dim> dims) {
  return {DataType::F32, Shape::of(std::move(dims))};
}

std::shared_ptr<const Model> twoGathers() {
  GraphEditor editor;
  const ValueId first = editor.addInput("first", {DataType::I64, Shape::of(Dims{1})});
  const ValueId second = editor.addInput("second", {DataType::I64, Shape::of(Dims{1})});
  const ValueId table = editor.addConstant("table", noise({5, 4}, 1));
  for (const auto& [name, index] : {std::pair("gather_first", first), std::pair("gather_second", second)}) {
    const ValueId rows = editor.addValue(std::string(name) + "_rows", f32({1, 4}));
    editor.addNode({.op = "Gather", .name = name, .inputs = {table, index}, .outputs = {rows}});
    editor.addOutput(rows);
  }
  return modelOf(editor);
}

std::shared_ptr<const Model> smallNetwork() {
  GraphEditor editor;
  const TensorType type = f32({Dim::named("batch"), 4});
  const ValueId x = editor.addInput("x", type);
  const ValueId w = editor.addConstant("w", noise({4, 4}, 1)), bias = editor.addConstant("bias", noise({4}, 2));
  const ValueId product = editor.addValue("product", type), sum = editor.addValue("sum", type);
  const ValueId positive = editor.addValue("positive", type), y = editor.addValue("y", type);
  editor.addNode({.op = "MatMul", .name = "matmul", .inputs = {x, w}, .outputs = {product}});
  editor.addNode({.op = "Add", .name = "add_bias", .inputs = {product, bias}, .outputs = {sum}});
  editor.addNode({.op = "Relu", .name = "relu", .inputs = {sum}, .outputs = {positive}});
  editor.addNode({.op = "Add", .name = "residual", .inputs = {positive, x}, .outputs = {y}});
  editor.addOutput(y);
  return modelOf(editor);
}

}  // namespace fusescope::testing
