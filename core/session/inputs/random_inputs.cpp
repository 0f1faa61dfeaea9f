#include "session/inputs/random_inputs.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/random_numbers.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// The integers that an input may have: [0, below).
struct IntegerRange {
  std::int64_t below = 8;  ///< small numbers if nothing is known
  bool bounded = false;    ///< a node uses them as indices
  bool mask = false;       ///< a node uses them as truth values
};

bool passesValuesOn(const Node& node) {
  static const std::set<std::string, std::less<>> kOps{"Cast",    "Identity",  "Reshape", "Unsqueeze",
                                                       "Squeeze", "Slice",     "Flatten", "Concat",
                                                       "Expand",  "Transpose", "Split",   "Tile"};
  return node.domain.empty() && kOps.contains(node.op);
}

/// Returns the extent below which indices into the data of `node` must be, if `value` contains its indices.
std::optional<std::int64_t> indexBound(const Graph& graph, const Node& node, ValueId value) {
  const bool gather = node.is("Gather") || node.is("GatherElements") || node.is("GatherND");
  if (!gather || node.input(1) != value || !graph.has(node.input(0))) return {};
  const auto& shape = graph.value(node.input(0)).type.shape;
  if (!shape.ranked || shape.dims.empty()) return {};
  const auto rank = static_cast<std::int64_t>(shape.rank());
  auto axis = node.is("GatherND") ? node.intAttribute("batch_dims", 0) : node.intAttribute("axis", 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank || !shape.dims[static_cast<std::size_t>(axis)].known()) return {};
  return shape.dims[static_cast<std::size_t>(axis)].size;
}

/// Follows an integer input to the nodes that use it, and returns the range that these allow.
IntegerRange rangeOf(const Graph& graph, ValueId input) {
  IntegerRange range;
  std::vector<ValueId> pending{input};
  std::set<ValueId> seen{input};
  while (!pending.empty()) {
    const auto value = pending.back();
    pending.pop_back();
    for (const auto consumer : graph.value(value).consumers) {
      const auto& node = graph.node(consumer);
      if (const auto bound = indexBound(graph, node, value)) {
        range.below = range.bounded ? std::min(range.below, *bound) : *bound;
        range.bounded = true;
      }
      const bool toTruth = node.is("Cast") && !node.outputs.empty() && graph.has(node.outputs[0]) &&
                           graph.value(node.outputs[0]).type.dtype == DataType::Bool;
      range.mask |= toTruth || node.is("Equal");
      if (!passesValuesOn(node) || toTruth) continue;
      for (const auto output : node.outputs) {
        if (output.valid() && seen.insert(output).second) pending.push_back(output);
      }
    }
  }
  if (graph.value(input).name.find("mask") != std::string::npos) range.mask = true;
  if (range.mask && !range.bounded) range.below = 2;
  range.below = std::max<std::int64_t>(range.below, 1);
  return range;
}

Tensor randomTensor(const Graph& graph, ValueId input, DataType type, const Dims& dims) {
  const Container container = graph.value(input).type.container;
  if (container != Container::None) return Tensor::ofElements(container, type, {});
  RandomNumbers generator(hashText(graph.value(input).name).low);
  const auto count = elementCount(dims).value_or(0);
  if (type == DataType::String)
    return Tensor::ofStrings(dims, std::vector<std::string>(static_cast<std::size_t>(count)));
  if (isFloat(type) || type == DataType::Undefined) {
    auto tensor = Tensor::zeros(DataType::F32, dims);
    for (float& element : tensor.mutableData<float>()) element = static_cast<float>(generator.normal());
    return type == DataType::F32 || type == DataType::Undefined ? tensor : tensor.converted(type);
  }
  const std::int64_t below = type == DataType::Bool ? 2 : rangeOf(graph, input).below;
  auto tensor = Tensor::zeros(DataType::I64, dims);
  for (auto& element : tensor.mutableData<std::int64_t>()) {
    element = static_cast<std::int64_t>(generator.next() % static_cast<std::uint64_t>(below));
  }
  return type == DataType::I64 ? tensor : tensor.converted(type);
}

}  // namespace

std::map<std::string, Tensor> randomInputs(const Plan& plan, const std::map<std::string, Dims>& shapes) {
  std::map<std::string, Tensor> inputs;
  const auto& graph = plan.graph();
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const auto& spec = plan.inputSpecs[i];
    const auto given = shapes.find(spec.name);
    const Dims& dims = given != shapes.end() ? given->second : spec.opt;
    inputs.emplace(spec.name, randomTensor(graph, graph.inputs()[i], spec.dtype, dims));
  }
  return inputs;
}

}  // namespace fusescope
