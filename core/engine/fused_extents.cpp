#include "engine/fused_extents.h"

#include <algorithm>

#include "passes/pipelines.h"

namespace fusescope {
namespace {

constexpr std::int64_t kMostShapeElements = 64;  // of an input that may say extents

/// Integers and truth values may say extents; floats are not looked at: computing with them here would be done twice.
bool maySayExtents(const Tensor& tensor) {
  return (isInteger(tensor.type()) || tensor.type() == DataType::Bool) && tensor.count() <= kMostShapeElements;
}

/// A copy that outlives the run: what the tensor stands on is written again.
Tensor copied(const Tensor& tensor) {
  Tensor copy = Tensor::zeros(tensor.type(), tensor.dims());
  std::copy_n(tensor.bytes(), tensor.byteSize(), copy.mutableBytes());
  return copy;
}

bool equal(const std::optional<Tensor>& a, const std::optional<Tensor>& b) {
  return a.has_value() == b.has_value() && (!a || a->identical(*b));
}

}  // namespace

FusedExtents::FusedExtents(const KernelRequest& request) : m_request(request), m_values(request.fused->inputs) {
  for (const NodeId id : request.fused->nodes)
    for (const ValueId output : request.plan->graph().node(id).outputs)
      if (output.valid()) m_values.push_back(output);
}

Result<FusedExtents::Part> FusedExtents::partWith(std::vector<std::optional<Tensor>> known) const {
  const Graph& graph = m_request.plan->graph();
  GraphEditor editor;
  std::map<ValueId, ValueId> copies;
  for (std::size_t i = 0; i < m_values.size(); ++i) {
    const Value& value = graph.value(m_values[i]);
    const bool isInput = i < known.size();
    copies[value.id] = isInput && known[i] ? editor.addConstant(value.name, *known[i])
                       : isInput           ? editor.addInput(value.name, {.dtype = value.type.dtype})
                                           : editor.addValue(value.name, {.dtype = value.type.dtype});
  }
  for (const auto& [value, tensor] : m_request.constants)
    copies[value] = editor.addConstant(graph.value(value).name, tensor);
  for (const NodeId id : m_request.fused->nodes) {
    Node node = graph.node(id);
    for (std::vector<ValueId>* ids : {&node.inputs, &node.outputs})
      for (ValueId& value : *ids)
        if (value.valid()) value = copies.at(value);
    editor.addNode(std::move(node));
  }
  Part part{.known = std::move(known), .graph = TRY(editor.publish())};
  for (const ValueId value : m_values) part.copies.push_back(copies.at(value));
  return part;
}

std::optional<std::vector<Dims>> FusedExtents::infer(std::span<const Tensor> inputs) {
  std::vector<std::optional<Tensor>> known;
  std::map<std::string, Dims> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    if (input.container() != Container::None || input.type() == DataType::String) return std::nullopt;
    given[m_request.plan->graph().value(m_values[i]).name] = input.dims();
    known.push_back(maySayExtents(input) ? std::optional(copied(input)) : std::nullopt);
  }
  if (!m_part || !std::ranges::equal(m_part->known, known, equal)) {
    auto part = partWith(std::move(known));
    if (!part.ok()) return std::nullopt;
    m_part = std::move(part).value();
  }
  const auto types = inferShapes(*m_part->graph, given);
  if (!types.ok()) return std::nullopt;
  std::vector<Dims> extents;
  for (std::size_t i = 0; i < m_values.size(); ++i) {
    const TensorType& type = types.value()[m_part->copies[i].index];
    const auto dims = i < inputs.size() ? inputs[i].dims() : type.shape.fixed();
    if (!dims || type.container != Container::None || type.dtype == DataType::String) return std::nullopt;
    extents.push_back(*dims);
  }
  return extents;
}

}  // namespace fusescope
