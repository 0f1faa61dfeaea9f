#include "tests/property/graph_maker.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/op_schema.h"
#include "ops/run_node.h"
#include "passes/pipelines.h"
#include "planning/structure.h"

namespace fusescope::property {

namespace {

constexpr std::int64_t kMostElements = 1024;

}  // namespace

GraphMaker::GraphMaker(std::uint64_t seed, NetworkKind kind) : m_dice(seed), m_kind(kind) {}

DataType GraphMaker::typeOf(ValueId value) const {
  return m_editor.current().value(value).type.dtype;
}

Dims GraphMaker::dimsOf(ValueId value) const {
  return m_editor.current().value(value).type.shape.fixed().value_or(Dims{});
}

// Box and Muller; the standard library's distributions differ between machines.
double GraphMaker::normal() {
  const double a = (static_cast<double>(m_dice.below(1'000'000)) + 1) / 1'000'001;
  const double b = static_cast<double>(m_dice.below(1'000'000)) / 1'000'000;
  return std::sqrt(-2 * std::log(a)) * std::cos(2 * std::numbers::pi * b);
}

ValueId GraphMaker::weight(Dims dims, DataType type, double scale) {
  Tensor tensor = Tensor::zeros(DataType::F32, std::move(dims));
  for (float& element : tensor.mutableData<float>()) element = static_cast<float>(normal() * scale);
  return constant(tensor.converted(type));
}

ValueId GraphMaker::positive(Dims dims, DataType type) {
  Tensor tensor = Tensor::zeros(DataType::F32, std::move(dims));
  for (float& element : tensor.mutableData<float>()) element = 0.5F + static_cast<float>(m_dice.below(1500)) / 1000;
  return constant(tensor.converted(type));
}

ValueId GraphMaker::number(double value, DataType type) {
  return constant(Tensor::scalar(static_cast<float>(value)).converted(type));
}

ValueId GraphMaker::integers(std::vector<std::int64_t> values) {
  return constant(Tensor::ofInt64(std::move(values)));
}

ValueId GraphMaker::pick() {
  const std::size_t recent = std::min<std::size_t>(m_floats.size(), 6);
  return m_dice.oneIn(3) ? m_dice.of(m_floats) : m_floats[m_floats.size() - 1 - m_dice.below(recent)];
}

ValueId GraphMaker::pickPartner(ValueId value) {
  const Dims dims = dimsOf(value);
  std::vector<ValueId> fitting;
  for (const ValueId other : m_floats) {
    const Dims own = dimsOf(other);
    bool fits = typeOf(other) == typeOf(value) && own.size() <= dims.size();
    for (std::size_t i = 0; fits && i < own.size(); ++i) {
      const auto extent = own[own.size() - 1 - i];
      fits = extent == 1 || extent == dims[dims.size() - 1 - i];
    }
    if (fits) fitting.push_back(other);
  }
  return fitting.empty() ? ValueId() : m_dice.of(fitting);
}

std::vector<ValueId> GraphMaker::applyMany(const std::string& op, std::vector<ValueId> inputs, std::size_t outputs,
                                           Attributes attributes) {
  Node node{.op = op, .inputs = std::move(inputs), .attributes = std::move(attributes)};
  std::vector<const TensorType*> types;
  std::vector<const Tensor*> constants;
  for (const ValueId input : operands(node)) {
    if (!input.valid()) return {};
    types.push_back(&m_editor.current().value(input).type);
    constants.push_back(m_editor.current().value(input).constant.get());
  }
  node.name = op + "_" + std::to_string(m_nodes);
  node.outputs.assign(outputs, ValueId());
  const auto inferred = inferNode(node, types, constants);
  if (!inferred.ok() || inferred.value().size() < outputs) return {};
  for (const TensorType& type : inferred.value()) {
    const auto dims = type.shape.fixed();
    if (!dims || elementCount(*dims).value_or(kMostElements + 1) > kMostElements) return {};
  }
  ++m_nodes;
  m_model.origins.push_back({node.name, op, ""});
  node.origins = {OriginId(m_model.origins.size() - 1)};
  for (std::size_t i = 0; i < outputs; ++i) {
    node.outputs[i] = m_editor.addValue(node.name + "_out" + std::to_string(i), inferred.value()[i]);
    if (isFloat(inferred.value()[i].dtype)) m_floats.push_back(node.outputs[i]);
  }
  const std::vector<ValueId> made = node.outputs;
  m_editor.addNode(std::move(node));
  return made;
}

ValueId GraphMaker::apply(const std::string& op, std::vector<ValueId> inputs, Attributes attributes) {
  const auto made = applyMany(op, std::move(inputs), 1, std::move(attributes));
  return made.empty() ? ValueId() : made.front();
}

ValueId GraphMaker::applyUnknown(ValueId input) {
  const std::string name = "Mystery_" + std::to_string(m_nodes++);
  const ValueId output = m_editor.addValue(name + "_out0", m_editor.current().value(input).type);
  m_model.origins.push_back({name, "Mystery", "custom"});
  m_editor.addNode({.op = "Mystery",
                    .domain = "custom",
                    .name = name,
                    .inputs = {input},
                    .outputs = {output},
                    .origins = {OriginId(m_model.origins.size() - 1)}});
  m_floats.push_back(output);
  return output;
}

void GraphMaker::addInputs() {
  const std::int64_t channels = 2 * (1 + static_cast<std::int64_t>(m_dice.below(4)));
  const std::int64_t side = 3 + static_cast<std::int64_t>(m_dice.below(3));
  const std::vector<Dims> shapes{
      {1, channels, side, side}, {1, side, channels}, {side, channels}, {2, channels, side, side}};
  const std::size_t count = 1 + m_dice.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    DataType type = DataType::F32;
    if (!m_kind.f32Only && m_dice.oneIn(6)) type = m_dice.oneIn(2) ? DataType::F16 : DataType::BF16;
    m_floats.push_back(m_editor.addInput("input_" + std::to_string(i), {type, Shape::of(m_dice.of(shapes))}));
  }
}

ValueId GraphMaker::addInput(const std::string& name, TensorType type) {
  const bool floats = isFloat(type.dtype);
  const ValueId input = m_editor.addInput(name, std::move(type));
  if (floats) m_floats.push_back(input);
  return input;
}

void GraphMaker::grow(std::size_t nodes) {
  const std::size_t wanted = m_nodes + nodes;
  for (std::size_t tries = 0; m_nodes < wanted && tries < 20 * nodes; ++tries) addBlock();
}

ValueId GraphMaker::like(ValueId value) const {
  for (auto late = m_floats.rbegin(); late != m_floats.rend(); ++late)
    if (typeOf(*late) == typeOf(value) && dimsOf(*late) == dimsOf(value)) return *late;
  return value;
}

std::shared_ptr<const Graph> GraphMaker::publishBody(const std::vector<ValueId>& outputs) {
  for (const ValueId output : outputs) m_editor.addOutput(output);
  // Nodes of bodies get their origins where bodies become models.
  for (const NodeId id : m_editor.current().order()) m_editor.mutableNode(id).origins.clear();
  auto graph = m_editor.publish();
  return graph.ok() ? graph.value() : nullptr;
}

void GraphMaker::addBlock() {
  if (m_kind.bodies > 0 && m_dice.oneIn(6)) return m_dice.of(controlBlocks())(*this, pick());
  const std::size_t roll = m_dice.below(20);
  const ValueId x = pick();
  if (roll < 10) return m_dice.of(simpleBlocks())(*this, x);
  if (roll < 16) return m_dice.of(kernelBlocks())(*this, x);
  if (roll < 18 && !m_kind.smooth) return m_dice.of(unsmoothBlocks())(*this, x);
  if (roll == 18 && !m_kind.f32Only) return m_dice.of(typeBlocks())(*this, x);
  if (roll == 19 && !m_kind.runnable) applyUnknown(x);
}

std::shared_ptr<const Model> GraphMaker::make(std::size_t nodes) {
  addInputs();
  grow(nodes);
  std::vector<char> isRead(m_editor.current().valueIdLimit(), 0);
  std::vector<ValueId> made;
  for (std::uint32_t i = 0; i < m_editor.current().nodeIdLimit(); ++i) {
    const Node& node = m_editor.current().node(NodeId(i));
    for (const ValueId value : operands(node)) isRead[value.index] = 1;
    made.insert(made.end(), node.outputs.begin(), node.outputs.end());
  }
  for (const ValueId value : made)
    if (isRead[value.index] == 0 || m_dice.oneIn(12)) m_editor.addOutput(value);
  auto graph = m_editor.publish();
  if (!graph.ok()) return nullptr;
  m_model.graph = graph.value();
  m_model.path = "random.onnx";
  m_model.opset = {{"ai.onnx", 17}};
  m_model.contentHash = hashText(printGraph(*m_model.graph));
  for (const ValueId input : m_model.graph->inputs()) {
    const Value& value = m_model.graph->value(input);
    const Dims dims = value.type.shape.fixed().value();
    m_model.inputSpecs.push_back(
        {.name = value.name, .dtype = value.type.dtype, .min = dims, .opt = dims, .max = dims, .source = "file"});
  }
  return std::make_shared<const Model>(std::move(m_model));
}

std::shared_ptr<const Model> randomNetwork(std::uint64_t seed, Dice& dice) {
  const bool f32Only = dice.oneIn(2), smooth = dice.oneIn(2);
  const NetworkKind kind{
      .f32Only = f32Only, .smooth = smooth, .bodies = dice.oneIn(3) ? 1 + static_cast<int>(dice.below(2)) : 0};
  const auto made = GraphMaker(seed, kind).make(5 + dice.below(40));
  if (made == nullptr) return nullptr;
  auto model = prepareModel(*made);
  return model.ok() ? std::make_shared<const Model>(std::move(model).value()) : nullptr;
}

}  // namespace fusescope::property
