#include "engine/program/fused_extents.h"

#include <algorithm>
#include <map>

#include "ops/op_schema.h"
#include "ops/type_flow.h"

namespace fusescope {
namespace {

// The largest number of elements of an input whose elements may determine extents.
constexpr std::int64_t kMostShapeElements = 64;

/// Integers and truth values may determine extents. Floats are not considered, because calculating with them here would
/// be done twice.
bool maySayExtents(const Tensor& tensor) {
  return (isInteger(tensor.type()) || tensor.type() == DataType::Bool) && tensor.count() <= kMostShapeElements;
}

/// Returns whether the extents of the fused node's results can be computed from its inputs before it runs.
bool followInputs(const KernelRequest& request) {
  const Graph& graph = request.plan->graph();
  return std::ranges::all_of(request.fused->nodes, [&](NodeId id) {
    const Node& node = graph.node(id);
    const OpSchema* schema = OpRegistry::standard().find(node);
    return schema != nullptr && !schema->extentsDependOnData && !hasBody(node);
  });
}

}  // namespace

Result<FusedExtents> FusedExtents::prepare(const KernelRequest& request) {
  const Graph& graph = request.plan->graph();
  FusedExtents extents;
  if (!followInputs(request)) return extents;
  GraphEditor editor;
  std::map<ValueId, ValueId> copies;
  const auto add = [&](ValueId id, bool isInput) {
    const Value& value = graph.value(id);
    const TensorType type{.dtype = value.type.dtype, .shape = {}, .container = value.type.container};
    copies[id] = isInput ? editor.addInput(value.name, type) : editor.addValue(value.name, type);
    extents.m_values.push_back(id);
    extents.m_copies.push_back(copies[id]);
  };
  for (const ValueId input : request.fused->inputs) add(input, true);
  for (const auto& [value, tensor] : request.constants)
    copies[value] = editor.addConstant(graph.value(value).name, tensor);
  for (const NodeId id : request.fused->nodes) {
    Node node = graph.node(id);
    for (const ValueId output : node.outputs)
      if (output.valid()) add(output, false);
    for (std::vector<ValueId>* ids : {&node.inputs, &node.outputs})
      for (ValueId& value : *ids)
        if (value.valid()) value = copies.at(value);
    editor.addNode(std::move(node));
  }
  extents.m_part = TRY(editor.publish());
  return extents;
}

std::optional<std::vector<Dims>> FusedExtents::infer(std::span<const Tensor> inputs) const {
  if (m_part == nullptr) return std::nullopt;
  std::vector<TensorType> types;
  std::vector<const Tensor*> known;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    if (input.container() != Container::None || input.type() == DataType::String) return std::nullopt;
    types.push_back({.dtype = m_part->value(m_copies[i]).type.dtype, .shape = Shape::of(input.dims())});
    known.push_back(maySayExtents(input) ? &input : nullptr);
  }
  const auto flow = flowTypes(*m_part, types,
                              {.declared = DeclaredTypes::Fill, .compute = ComputeValues::Small, .knownInputs = known});
  if (!flow.ok()) return std::nullopt;
  std::vector<Dims> extents;
  for (const ValueId value : m_copies) {
    const TensorType& type = flow.value().types[value.index];
    const auto dims = type.shape.fixed();
    if (!dims || type.container != Container::None || type.dtype == DataType::String) return std::nullopt;
    extents.push_back(*dims);
  }
  return extents;
}

}  // namespace fusescope
