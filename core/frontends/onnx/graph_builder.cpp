#include "frontends/onnx/graph_builder.h"

#include <algorithm>

#include "frontends/onnx/file_tensors.h"
#include "frontends/onnx/functions.h"
#include "frontends/onnx/node_order.h"
#include "frontends/onnx/plain_forms.h"
#include "ir/type_text.h"
#include "ops/no_kernel.h"
#include "ops/op_schema.h"
#include "ops/run_node.h"

namespace fusescope {

using onnxlib::FileAttribute;
using onnxlib::FileGraph;
using onnxlib::FileNode;
using onnxlib::FileTensor;
using onnxlib::FileType;
using onnxlib::Opsets;

namespace {

constexpr int kMostCalls = 64;  // nesting of functions that call functions

Diagnostic atNode(const std::string& node, std::string message, std::string value = {}) {
  return {.message = std::move(message), .where = {.node = node, .value = std::move(value)}};
}

template <class T>
FileTensor numbersTensor(DataType type, std::vector<std::int64_t> dims, const T* numbers, std::size_t count) {
  auto memory = std::make_shared<std::vector<T>>(numbers, numbers + count);
  const auto* data = reinterpret_cast<const std::byte*>(memory->data());
  return {.dtype = type, .dims = std::move(dims), .owner = memory, .data = data, .hasData = true};
}

/// Returns whether the operator changed between `opset` and the oldest opset that the adapters support.
bool isTooOld(const FileNode& node, std::int64_t opset) {
  return node.domain.empty() && !node.newest && opset < kOldestOpset &&
         onnxlib::operatorVersion("", node.op, opset) != onnxlib::operatorVersion("", node.op, kOldestOpset);
}

std::int64_t opsetOf(const Opsets& opsets, const std::string& domain) {
  const auto found = opsets.find(domain);
  return found == opsets.end() ? 0 : found->second;
}

/// Returns the attribute's value, unless it is a graph or of a kind that is not read.
std::optional<Attribute> plainAttribute(const FileAttribute& attribute) {
  if (const auto* i = std::get_if<std::int64_t>(&attribute.value)) return Attribute(*i);
  if (const auto* f = std::get_if<float>(&attribute.value)) return Attribute(*f);
  if (const auto* text = std::get_if<std::string>(&attribute.value)) return Attribute(*text);
  if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute.value)) return Attribute(*ints);
  if (const auto* floats = std::get_if<std::vector<float>>(&attribute.value)) return Attribute(*floats);
  if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute.value)) return Attribute(*texts);
  if (const auto* tensor = std::get_if<FileTensor>(&attribute.value)) return Attribute(toTensor(*tensor));
  if (const auto* type = std::get_if<FileType>(&attribute.value)) return Attribute(typeText(toType(*type)));
  return std::nullopt;
}

/// Returns whether a constant is a weight that an exporter stores as a Constant node, and not a number or a list of
/// extents.
bool mayBeWeight(const FileTensor& tensor) {
  return !tensor.dims.empty() && (isFloat(tensor.dtype) || (isInteger(tensor.dtype) && bitWidth(tensor.dtype) <= 8));
}

/// Returns "MatMul, Mul and Relu".
std::string operatorsOf(const std::vector<FileNode>& nodes) {
  std::string text;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    text += (i == 0 ? "" : i + 1 == nodes.size() ? " and " : ", ") + nodes[i].op;
  return text;
}

}  // namespace

Result<std::shared_ptr<const Graph>> GraphBuilder::build(const FileGraph& graph, const Opsets& opsets) {
  m_editor.setName(graph.name);
  reserve(graph);
  collectTypes(graph);
  m_read = namesRead(graph);
  TRY(declareInputs(graph));

  const bool main = m_enclosing == nullptr;
  if (main)
    for (const FileNode& node : graph.nodes)
      m_shared.origins.push_back({.name = m_nodeNames.take(node.displayName()),
                                  .op = node.op,
                                  .domain = node.domain,
                                  .module = node.module,
                                  .programNode = node.programNode,
                                  .source = node.source});
  m_shared.originNodes.resize(m_shared.origins.size());
  for (const std::size_t i : runningOrder(graph)) {
    TRY(checkStop(m_shared.stop));
    FileNode node = graph.nodes[i];
    node.name = main ? m_shared.origins[i].name : m_nodeNames.take(node.displayName());
    TRY(expand(std::move(node), opsets, main ? OriginId(i) : m_enclosingOrigin, 0, false));
  }
  for (const PendingNode& pending : m_pending) TRY(declareOutputs(pending));
  for (const PendingNode& pending : m_pending) TRY(addNode(pending));
  for (const auto& output : graph.outputs) {
    const auto value = resolve(output.name);
    if (!value)
      return Diagnostic{.message = "is an output of the graph, but nothing produces it",
                        .where = {.value = output.name}};
    m_editor.addOutput(*value);
  }
  return std::move(m_editor).publish();
}

void GraphBuilder::reserve(const FileGraph& graph) {
  const std::size_t nodes = graph.nodes.size(), values = nodes + graph.inputs.size() + graph.initializers.size();
  m_editor.reserve(nodes, values);
  m_nodeNames.reserve(nodes);
  m_valueNames.reserve(values);
  m_values.reserve(values);
  m_pending.reserve(nodes);
}

void GraphBuilder::collectTypes(const FileGraph& graph) {
  for (const auto* values : {&graph.outputs, &graph.values, &graph.inputs})
    for (const auto& value : *values) m_types.try_emplace(value.name, &value.type);
  for (const auto& input : graph.inputs) m_valueNames.take(input.name);
  for (const auto& tensor : graph.initializers) m_valueNames.take(tensor.name);
  for (const FileNode& node : graph.nodes)
    for (const std::string& output : node.outputs) m_valueNames.take(output);
}

Status GraphBuilder::declareInputs(const FileGraph& graph) {
  for (const FileTensor& tensor : graph.initializers) TRY(declareInitializer(tensor));
  for (const auto& input : graph.inputs) {
    if (m_constants.contains(input.name)) continue;  // an initializer's default value
    TRY(define(input.name, m_editor.addInput(input.name, toType(input.type)), {}));
  }
  return Done{};
}

Status GraphBuilder::declareInitializer(const FileTensor& tensor) {
  if (tensor.name.empty()) return Done{};  // it cannot be read
  if (const auto first = m_constants.find(tensor.name); first != m_constants.end()) {
    if (sameTensor(first->second, tensor)) return Done{};
    return Diagnostic{.message = "is the name of two initializers that differ",
                      .where = {.value = tensor.name},
                      .help = "Remove one of them, or give it another name."};
  }
  if (m_read.contains(tensor.name)) countWeight(tensor);
  return define(tensor.name, addConstantTensor(tensor.name, tensor), {});
}

void GraphBuilder::countWeight(const FileTensor& tensor) {
  const std::int64_t elements = elementCount(tensor.dims).value_or(0);
  m_shared.parameters += elements;
  m_shared.weightBytes += static_cast<std::int64_t>(byteSize(tensor.dtype, elements));
}

ValueId GraphBuilder::addConstantTensor(const std::string& name, const FileTensor& tensor) {
  m_shared.weightless = m_shared.weightless || !tensor.hasData;
  m_constants.emplace(name, tensor);
  return m_editor.addConstant(name, toTensor(tensor));
}

Status GraphBuilder::define(const std::string& name, ValueId id, const std::string& node) {
  if (m_values.emplace(name, id).second) return Done{};
  return Diagnostic{.message = "is defined twice",
                    .where = {.node = node, .value = name},
                    .help = "Each value of a graph is an input, an initializer or the output of one node."};
}

Status GraphBuilder::expand(FileNode node, const Opsets& opsets, OriginId origin, int depth, bool adapted) {
  if (depth > kMostCalls) return atNode(node.displayName(), "its function calls itself, or is nested too deeply");
  if (++m_shared.builtNodes > m_shared.limits.nodes)
    return atNode(node.displayName(), "the model has more than " + std::to_string(m_shared.limits.nodes) +
                                          " nodes once its functions are inlined");
  if (node.domain.empty() && node.op == "Constant") return addConstantNode(node, depth == 0 && !adapted);
  if (m_shared.nodes == NodeForm::InFile) {
    m_pending.push_back({std::move(node), origin, &opsets});
    return Done{};
  }
  const auto local = m_shared.functions.find(functionKey(node.domain, node.op, node.overload));
  if (local != m_shared.functions.end()) return inlineCall(*local->second, node, origin, depth);

  const std::int64_t opset = opsetOf(opsets, node.domain);
  if (!adapted && isTooOld(node, opset))
    return Diagnostic{.message = node.op + " of opset " + std::to_string(opset) +
                                 " is too old: opsets of ai.onnx from " + std::to_string(kOldestOpset) +
                                 " on can be read",
                      .where = {.node = node.displayName()},
                      .help = "Export it again at a newer opset, or convert it with onnx.version_converter."};
  if (!adapted && needsAdapting(node, opset)) {
    const std::string name = node.name;
    std::vector<FileNode> nodes = TRY(adaptNode(std::move(node), opset, *this));
    for (FileNode& part : nodes) {
      if (part.name != name) part.name = m_nodeNames.take(part.name);
      TRY(expand(std::move(part), opsets, origin, depth, true));
    }
    return Done{};
  }
  if (hasPlainForm(node)) return expandPlainForm(node, opsets, origin, depth);
  if (OpRegistry::standard().find(node.domain, node.op) == nullptr) {
    std::vector<FileType> types;
    for (const std::string& input : node.inputs) types.push_back(type(input) != nullptr ? *type(input) : FileType());
    const auto body = TRY(onnxlib::functionBody(node, adapted || node.newest ? onnxlib::newestOpset() : opset, types));
    if (body) return inlineCall(*body, node, origin, depth);
  }
  if (depth > 0 || m_shared.recordsTypes) noteTypes(node);
  m_pending.push_back({std::move(node), origin, &opsets});
  return Done{};
}

Status GraphBuilder::expandPlainForm(const FileNode& node, const Opsets& opsets, OriginId origin, int depth) {
  std::vector<FileNode> nodes = TRY(plainForm(node, *this));
  if (depth == 0 && m_enclosing == nullptr) {
    const std::string form = operatorsOf(nodes);
    m_shared.origins[origin.index].plainForm = form;
    m_shared.decisions.push_back(decide("import.plain_form", {Subject::node(node.name)}, "import",
                                        {{"op", operatorText(node.domain, node.op)}, {"form", form}}));
  }
  for (FileNode& part : nodes) {
    if (part.name != node.name) part.name = m_nodeNames.take(part.name);
    TRY(expand(std::move(part), opsets, origin, depth + 1, true));
  }
  return Done{};
}

Status GraphBuilder::inlineCall(const onnxlib::FileFunction& function, const FileNode& call, OriginId origin,
                                int depth) {
  if (depth == 0 && m_enclosing == nullptr)
    m_shared.decisions.push_back(decide("import.function_inlined", {Subject::node(call.name)}, "import",
                                        {{"function", call.op}, {"nodes", function.nodes.size()}}));
  auto nodes = instantiate(function, call, [this](const std::string& wanted) { return freshValue(wanted); });
  const bool single = nodes.size() == 1;
  Opsets& opsets = m_bodyOpsets.emplace_back(function.opsets);
  for (const auto& [domain, version] : m_shared.file.opsets) opsets.try_emplace(domain, version);
  for (FileNode& node : nodes) {
    node.name = single ? call.name : m_nodeNames.take(node.name);
    TRY(expand(std::move(node), opsets, origin, depth + 1, false));
  }
  return Done{};
}

void GraphBuilder::noteTypes(const FileNode& file) {
  Node node;
  node.op = file.op;
  node.domain = file.domain;
  for (const FileAttribute& attribute : file.attributes) {
    auto value = plainAttribute(attribute);
    if (!value) return;
    node.attributes.emplace(attribute.name, std::move(*value));
  }
  node.outputs.resize(file.outputs.size());
  std::deque<TensorType> types;
  std::vector<const TensorType*> inputs;
  std::vector<const Tensor*> constants;
  for (const std::string& input : file.inputs) {
    const Tensor* tensor = constantTensor(input);
    const TensorType made = tensor != nullptr ? typeOf(*tensor) : declaredType(input);
    inputs.push_back(input.empty() ? nullptr : &types.emplace_back(made));
    constants.push_back(tensor != nullptr && tensor->hasData() ? tensor : nullptr);
    node.inputs.push_back(input.empty() ? ValueId() : ValueId(node.inputs.size()));
  }
  const auto results = inferNode(node, inputs, constants);
  if (!results.ok()) return;  // the error is reported when the graph is typed
  for (std::size_t i = 0; i < file.outputs.size(); ++i)
    if (!file.outputs[i].empty() && results.value()[i].dtype != DataType::Undefined) {
      const FileType*& known = m_types.try_emplace(file.outputs[i], inferredType(file.outputs[i])).first->second;
      if (known == nullptr || !known->ranked) known = &m_bodyTypes.emplace_back(fileType(results.value()[i]));
    }
}

Status GraphBuilder::addConstantNode(const FileNode& node, bool ofFile) {
  if (node.outputs.empty() || node.outputs[0].empty()) return atNode(node.displayName(), "has no output");
  for (const FileAttribute& attribute : node.attributes) {
    FileTensor tensor;
    if (const auto* given = std::get_if<FileTensor>(&attribute.value)) {
      tensor = *given;
    } else if (const auto* i = std::get_if<std::int64_t>(&attribute.value)) {
      tensor = numbersTensor(DataType::I64, {}, i, 1);
    } else if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
      tensor = numbersTensor(DataType::I64, {static_cast<std::int64_t>(ints->size())}, ints->data(), ints->size());
    } else if (const auto* f = std::get_if<float>(&attribute.value)) {
      tensor = numbersTensor(DataType::F32, {}, f, 1);
    } else if (const auto* floats = std::get_if<std::vector<float>>(&attribute.value)) {
      tensor =
          numbersTensor(DataType::F32, {static_cast<std::int64_t>(floats->size())}, floats->data(), floats->size());
    } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
      tensor = {.dtype = DataType::String, .strings = {*text}, .hasData = true};
    } else if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute.value)) {
      tensor = {.dtype = DataType::String,
                .dims = {static_cast<std::int64_t>(texts->size())},
                .strings = *texts,
                .hasData = true};
    } else {
      return atNode(node.displayName(), "its value is of an unsupported kind", node.outputs[0]);
    }
    if (ofFile && mayBeWeight(tensor)) countWeight(tensor);
    return define(node.outputs[0], addConstantTensor(node.outputs[0], tensor), node.displayName());
  }
  return atNode(node.displayName(), "has no value", node.outputs[0]);
}

Status GraphBuilder::declareOutputs(const PendingNode& pending) {
  for (const std::string& output : pending.node.outputs) {
    if (output.empty()) continue;
    TRY(define(output, m_editor.addValue(output, declaredType(output)), pending.node.name));
  }
  return Done{};
}

Status GraphBuilder::addNode(const PendingNode& pending) {
  Node node;
  node.op = pending.node.op;
  node.domain = pending.node.domain;
  node.name = pending.node.name;
  if (pending.origin.valid()) {
    node.origins = {pending.origin};
    if (m_enclosing == nullptr) ++m_shared.originNodes[pending.origin.index];
  }
  for (const std::string& input : pending.node.inputs) {
    if (input.empty()) {
      node.inputs.emplace_back();
      continue;
    }
    const auto value = resolve(input);
    if (!value) return atNode(node.name, "reads this value, but nothing produces it", input);
    node.inputs.push_back(*value);
  }
  while (!node.inputs.empty() && !node.inputs.back().valid()) node.inputs.pop_back();
  for (const std::string& output : pending.node.outputs)
    node.outputs.push_back(output.empty() ? ValueId() : m_values.find(output)->second);
  while (!node.outputs.empty() && !node.outputs.back().valid()) node.outputs.pop_back();
  for (const FileAttribute& attribute : pending.node.attributes) {
    if (std::holds_alternative<std::monostate>(attribute.value)) {
      m_shared.decisions.push_back(
          decide("import.attribute_dropped", {Subject::node(node.name)}, "import", {{"attribute", attribute.name}}));
      continue;
    }
    auto converted = attributeOf(attribute, pending);
    if (!converted.ok()) return converted.error();
    node.attributes.emplace(attribute.name, std::move(converted).value());
  }
  m_editor.addNode(std::move(node));
  return Done{};
}

Result<Attribute> GraphBuilder::attributeOf(const FileAttribute& attribute, const PendingNode& pending) {
  if (auto plain = plainAttribute(attribute)) return std::move(*plain);
  const FileGraph& body = *std::get<std::shared_ptr<const FileGraph>>(attribute.value);
  if (m_depth + 1 > m_shared.limits.subgraphDepth)
    return atNode(pending.node.name, "its subgraphs are nested too deeply");
  GraphBuilder inner(m_shared, *this, pending.origin, m_depth + 1);
  auto graph = inner.build(body, *pending.opsets);
  if (!graph.ok()) {
    Diagnostic error = graph.error();
    if (error.where.node.empty()) error.where.node = pending.node.name;
    error.message += " (in the subgraph '" + attribute.name + "' of '" + pending.node.name + "')";
    return error;
  }
  return Attribute(Subgraph{graph.value(), inner.captures()});
}

std::optional<ValueId> GraphBuilder::resolve(const std::string& name) {
  if (const auto found = m_values.find(name); found != m_values.end()) return found->second;
  if (m_enclosing == nullptr) return std::nullopt;
  const auto outer = m_enclosing->resolve(name);
  if (!outer) return std::nullopt;
  const ValueId id = m_editor.addInput(name, m_enclosing->m_editor.current().value(*outer).type);
  m_values.emplace(name, id);
  m_captures.push_back(*outer);
  return id;
}

TensorType GraphBuilder::declaredType(const std::string& name) const {
  const FileType* declared = type(name);
  return declared == nullptr ? TensorType() : toType(*declared);
}

const FileType* GraphBuilder::type(const std::string& value) const {
  if (const auto found = m_types.find(value); found != m_types.end()) return found->second;
  if (m_enclosing == nullptr) return inferredType(value);
  return m_valueNames.isUsed(value) ? nullptr : m_enclosing->type(value);
}

const FileType* GraphBuilder::inferredType(const std::string& value) const {
  return m_enclosing == nullptr ? m_shared.file.inferred.find(value) : nullptr;
}

const Tensor* GraphBuilder::constantTensor(const std::string& value) const {
  if (const auto found = m_values.find(value); found != m_values.end())
    return m_editor.current().constantData(found->second);
  return m_enclosing == nullptr || m_valueNames.isUsed(value) ? nullptr : m_enclosing->constantTensor(value);
}

const FileTensor* GraphBuilder::constant(const std::string& value) const {
  if (const auto found = m_constants.find(value); found != m_constants.end()) return &found->second;
  return m_enclosing == nullptr || m_valueNames.isUsed(value) ? nullptr : m_enclosing->constant(value);
}

std::string GraphBuilder::freshValue(const std::string& wanted) {
  return m_valueNames.take(wanted);
}

std::string GraphBuilder::addConstant(const std::string& wanted, std::vector<std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return addTensor(wanted, numbersTensor(DataType::I64, {count}, values.data(), values.size()));
}

std::string GraphBuilder::addTensor(const std::string& wanted, FileTensor tensor) {
  const std::string name = freshValue(wanted);
  tensor.name = name;
  m_values.emplace(name, addConstantTensor(name, tensor));
  return name;
}

}  // namespace fusescope
