#include "compilers/onnxruntime/tensor_bindings.h"

namespace fusescope::onnxruntime {
namespace {

void note(std::vector<KnownType>& types, std::uint32_t tensor, const onnxlib::FileType& type) {
  if (tensor == TensorGraph::kNone || type.container != Container::None) return;
  KnownType& known = types[tensor];
  if (known.type == DataType::Undefined) known.type = type.dtype;
  if (known.extents || !type.ranked) return;
  known.extents.emplace();
  for (const onnxlib::FileDim& dim : type.dims) known.extents->push_back(dim.size);
}

/// Returns the types that a file declares for the tensors of its main graph.
std::vector<KnownType> declaredTypes(const TensorGraph& graph, const onnxlib::FileGraph& file) {
  std::vector<KnownType> types(graph.tensors().size());
  for (const auto* list : {&file.inputs, &file.outputs, &file.values})
    for (const onnxlib::FileValue& value : *list) note(types, graph.findTensor(value.name), value.type);
  for (const onnxlib::FileTensor& tensor : file.initializers)
    if (const std::uint32_t known = graph.findTensor(tensor.name); known != TensorGraph::kNone)
      types[known] = {.type = tensor.dtype, .extents = tensor.dims};
  return types;
}

/// Adds the types of the plan with their extents, because files need not declare any.
void addPlanned(const CompilerInput& handed, const TensorGraph& graph, std::vector<KnownType>& types) {
  const Graph& planned = handed.plan->graph();
  for (const auto& [name, id] : handed.values) {
    const std::uint32_t tensor = graph.findTensor(name);
    if (tensor == TensorGraph::kNone || !planned.has(id)) continue;
    const TensorType& type = planned.value(id).type;
    if (type.container != Container::None || !type.shape.ranked) continue;
    std::vector<std::int64_t> extents;
    for (const Dim& dim : type.shape.dims) extents.push_back(dim.size);
    if (!types[tensor].extents) types[tensor].extents = std::move(extents);
  }
}

}  // namespace

Network::Network(const CompilerInput& handed)
    : handed(handed),
      graph(handed.file.graph),
      equal(equalTensors(graph)),
      types(declaredTypes(graph, handed.file.graph)) {
  addPlanned(handed, graph, types);
}

Optimised::Optimised(const onnxlib::FileGraph& file)
    : graph(file), types(declaredTypes(graph, file)), bindings(graph.tensors().size()) {}

}  // namespace fusescope::onnxruntime
