#include <algorithm>

#include "frontends/onnx/node_order.h"
#include "interchange/typed_network/graph_retyper.h"
#include "planning/structure.h"

// What a GraphRetyper knows of the values of its graph before anything is typed again.

namespace fusescope {

using onnxlib::FileGraph;
using onnxlib::FileNode;

namespace {

DataType exchangeable(DataType type) {
  return isExchangeable(type) ? type : DataType::Undefined;
}

/// What a Cast to a float that can be exchanged makes.
DataType castTarget(const FileNode& node) {
  const auto* attribute = node.op == "Cast" && node.domain.empty() ? node.attribute("to") : nullptr;
  const auto* to = attribute == nullptr ? nullptr : std::get_if<std::int64_t>(&attribute->value);
  for (const DataType type : {DataType::F32, DataType::F16, DataType::BF16})
    if (to != nullptr && *to == onnxlib::elementTypeNumber(type)) return type;
  return DataType::Undefined;
}

}  // namespace

/// The element types of all values: what the plan's graph knows, else what the file says or ONNX finds.
DataType GraphRetyper::declaredType(const std::string& name) const {
  if (m_plan != nullptr)
    if (const auto id = m_plan->graph().findValue(name)) {
      const TensorType& type = m_plan->graph().value(*id).type;
      if (type.dtype != DataType::Undefined)
        return type.container == Container::None ? exchangeable(type.dtype) : DataType::Undefined;
    }
  for (const auto* values : {&m_graph.outputs, &m_graph.values})
    for (const auto& value : *values)
      if (value.name == name && value.type.dtype != DataType::Undefined)
        return value.type.container == Container::None ? exchangeable(value.type.dtype) : DataType::Undefined;
  const onnxlib::FileType* inferred = m_outer == nullptr ? m_shared.file.inferred.find(name) : nullptr;
  if (inferred == nullptr || inferred->container != Container::None) return DataType::Undefined;
  return exchangeable(inferred->dtype);
}

bool GraphRetyper::hasTypeInFile(const std::string& name) const {
  if (m_plan != nullptr)
    if (const auto id = m_plan->graph().findValue(name))
      return m_plan->graph().value(*id).type.dtype != DataType::Undefined;
  for (const auto* values : {&m_graph.outputs, &m_graph.values})
    for (const auto& value : *values)
      if (value.name == name && value.type.dtype != DataType::Undefined) return true;
  return m_outer == nullptr && m_shared.file.inferred.find(name) != nullptr;
}

void GraphRetyper::declare(const std::string& name, DataType type) {
  FileValue& value = m_values[name];
  value.declared = value.made = value.stored = type;
  value.madeName = value.forms[type] = name;
}

void GraphRetyper::declareValues() {
  for (const auto& tensor : m_graph.initializers) {
    if (tensor.name.empty() || m_values.contains(tensor.name)) continue;
    declare(tensor.name, exchangeable(tensor.dtype));
    m_values[tensor.name].isConstant = true;
    m_constants[tensor.name] = &tensor;
  }
  for (const auto& input : m_graph.inputs) {
    if (m_values.contains(input.name)) continue;
    const bool says = input.type.dtype != DataType::Undefined;  // bodies need not
    const bool tensor = input.type.container == Container::None;
    declare(input.name, !says    ? declaredType(input.name)
                        : tensor ? exchangeable(input.type.dtype)
                                 : DataType::Undefined);
  }
  for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
    const FileNode& node = m_graph.nodes[i];
    for (const std::string& output : node.outputs) {
      if (output.empty()) continue;
      declare(output, declaredType(output));
      m_values[output].producer = i;
      if (m_values[output].declared == DataType::Undefined && !hasTypeInFile(output)) m_untyped.insert(output);
    }
    if (node.op != "Constant" || !node.domain.empty() || node.outputs.empty()) continue;
    FileValue& value = m_values[node.outputs[0]];
    value.isConstant = true;
    m_constantNodes[node.outputs[0]] = i;
    if (const auto* attribute = node.attribute("value"))
      if (const auto* tensor = std::get_if<onnxlib::FileTensor>(&attribute->value)) {
        m_constants[node.outputs[0]] = tensor;
        declare(node.outputs[0], exchangeable(tensor->dtype));
      }
    if (node.attribute("value_float") != nullptr || node.attribute("value_floats") != nullptr)
      declare(node.outputs[0], DataType::F32);
  }
  for (const auto& output : m_graph.outputs)
    if (const auto found = m_values.find(output.name); found != m_values.end()) found->second.isBorder = true;
}

/// What neither plan nor file gives a type (values that normalisation removed, in bodies): that of the operands.
void GraphRetyper::declareUntyped() {
  for (const std::size_t place : runningOrder(m_graph)) {
    const FileNode& node = m_graph.nodes[place];
    const auto types = onnxlib::operatorTypes(node.domain, node.op, m_shared.opset);
    if (const DataType to = castTarget(node); to != DataType::Undefined && m_untyped.contains(node.outputs.at(0)))
      declare(node.outputs[0], to);
    for (std::size_t slot = 0; types && slot < node.outputs.size(); ++slot) {
      const auto result = m_values.find(node.outputs[slot]);
      const auto* wanted = types->result(slot);
      if (result == m_values.end() || !m_untyped.contains(node.outputs[slot]) || wanted == nullptr) continue;
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const auto* operand = types->operand(i);
        const auto [owner, value] = find(node.inputs[i]);
        if (operand == nullptr || value == nullptr || operand->parameter != wanted->parameter) continue;
        declare(node.outputs[slot], value->declared);
        break;
      }
    }
  }
}

void GraphRetyper::collectReaders() {
  for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
    const FileNode& node = m_graph.nodes[i];
    for (std::size_t slot = 0; slot < node.inputs.size(); ++slot)
      if (!node.inputs[slot].empty()) m_readers[node.inputs[slot]].emplace_back(i, slot);
    for (const auto& attribute : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<const FileGraph>>(&attribute.value)) collectReadByBody(**body);
  }
  for (const auto& output : m_graph.outputs) {
    m_readAsDeclared.insert(output.name);
    m_handedOut.insert(output.name);
  }
}

void GraphRetyper::collectReadByBody(const FileGraph& body) {
  for (const std::string_view name : namesRead(body)) m_readAsDeclared.emplace(name);
  for (const auto& output : body.outputs) m_handedOut.insert(output.name);
  for (const FileNode& node : body.nodes)
    for (const auto& attribute : node.attributes)
      if (const auto* inner = std::get_if<std::shared_ptr<const FileGraph>>(&attribute.value))
        collectReadByBody(**inner);
}

}  // namespace fusescope
