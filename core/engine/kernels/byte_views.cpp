// Finds the nodes whose result is only a view of bytes that exist already.
#include <algorithm>

#include "base/aligned_memory.h"
#include "engine/kernels/kernel_requests.h"
#include "ops/op_schema.h"
#include "planning/fusion/match.h"

namespace fusescope {
namespace {

/// The elements [begin, begin + extents) of a tensor.
struct Box {
  SmallDims begin, extents;
};

std::optional<SmallDims> constantInts(const Graph& graph, ValueId id) {
  if (!id.valid() || !graph.isConstant(id)) return std::nullopt;
  const Tensor& tensor = *graph.value(id).constant;
  if (!tensor.hasData() || !isInteger(tensor.type())) return std::nullopt;
  SmallDims numbers;
  for (std::int64_t i = 0; i < tensor.count(); ++i) numbers.push_back(tensor.asInt64(i));
  return numbers;
}

/// Returns the box of a Gather that selects one index along an axis.
std::optional<Box> gathered(const Graph& graph, const Node& node, const SmallDims& dims) {
  const auto indices = constantInts(graph, node.input(1));
  const auto rank = static_cast<std::int64_t>(dims.size());
  std::int64_t axis = node.intAttribute("axis", 0);
  axis += axis < 0 ? rank : 0;
  if (!indices || indices->size() != 1 || axis < 0 || axis >= rank) return std::nullopt;
  const std::int64_t extent = dims[static_cast<std::size_t>(axis)];
  const std::int64_t index = indices->front() + (indices->front() < 0 ? extent : 0);
  if (index < 0 || index >= extent) return std::nullopt;
  Box box{.begin = SmallDims(dims.size()), .extents = dims};
  box.begin[static_cast<std::size_t>(axis)] = index;
  box.extents[static_cast<std::size_t>(axis)] = 1;
  return box;
}

/// Returns the box of a Slice; only steps of 1 are possible.
std::optional<Box> sliced(const Graph& graph, const Node& node, const SmallDims& dims) {
  const auto starts = constantInts(graph, node.input(1)), ends = constantInts(graph, node.input(2));
  if (!starts || !ends || starts->size() != ends->size()) return std::nullopt;
  const auto axes = constantInts(graph, node.input(3)), steps = constantInts(graph, node.input(4));
  if (node.input(3).valid() && (!axes || axes->size() != starts->size())) return std::nullopt;
  if (node.input(4).valid() && (!steps || static_cast<std::size_t>(std::ranges::count(*steps, 1)) != starts->size()))
    return std::nullopt;
  Box box{.begin = SmallDims(dims.size()), .extents = dims};
  for (std::size_t i = 0; i < starts->size(); ++i) {
    std::int64_t axis = axes ? (*axes)[i] : static_cast<std::int64_t>(i);
    axis += axis < 0 ? static_cast<std::int64_t>(dims.size()) : 0;
    if (axis < 0 || axis >= static_cast<std::int64_t>(dims.size())) return std::nullopt;
    const std::int64_t extent = dims[static_cast<std::size_t>(axis)];
    const auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent); };
    const std::int64_t begin = place((*starts)[i]), end = place((*ends)[i]);
    box.begin[static_cast<std::size_t>(axis)] = begin;
    box.extents[static_cast<std::size_t>(axis)] = std::max<std::int64_t>(end - begin, 0);
  }
  return box;
}

/// Returns where the elements of `box` begin in a row-major tensor if they are contiguous. They are if the box has one
/// index along the first axes, then a range along one axis, and all elements along the axes after it.
std::optional<std::int64_t> beginOf(const Box& box, const SmallDims& dims) {
  std::int64_t begin = 0, stride = 1;
  bool isWhole = true;  // whether the box contains all elements along the axes after this one
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (!isWhole && box.extents[i] != 1) return std::nullopt;
    isWhole = isWhole && box.extents[i] == dims[i];
    begin += box.begin[i] * stride;
    stride *= dims[i];
  }
  return begin;
}

}  // namespace

DataType wantedType(const Plan& plan, const FusedNode& fused, ValueId input) {
  const auto at = std::ranges::find(fused.inputs, input);
  if (at != fused.inputs.end()) return fused.reads[static_cast<std::size_t>(at - fused.inputs.begin())];
  const DataType stored = plan.storedType(input);
  return stored != DataType::Undefined ? stored : plan.graph().value(input).type.dtype;
}

std::optional<ByteView> viewOf(const Plan& plan, const FusedNode& fused,
                               const std::function<std::optional<SmallDims>(ValueId)>& dimsOf) {
  if (fused.outputs.size() != 1) return std::nullopt;
  const Graph& graph = plan.graph();
  ByteView view{.source = fused.outputs.front().value};
  while (std::ranges::find(fused.inputs, view.source) == fused.inputs.end()) {
    const Value& value = graph.value(view.source);
    if (!value.producer.valid()) return std::nullopt;
    const Node& node = graph.node(value.producer);
    if (node.outputs.empty() || node.outputs[0] != view.source || !node.input(0).valid()) return std::nullopt;
    const bool takesPart = node.is("Gather") || node.is("Slice");
    if (takesPart) {
      const auto dims = dimsOf(node.input(0));
      const auto box = !dims               ? std::nullopt
                       : node.is("Gather") ? gathered(graph, node, *dims)
                                           : sliced(graph, node, *dims);
      const auto begin =
          box && std::ranges::find(box->extents, 0) == box->extents.end() ? beginOf(*box, *dims) : std::nullopt;
      if (!begin) return std::nullopt;
      view.begin += *begin;
      view.isPart = true;
    } else {
      const OpSchema* schema = OpRegistry::standard().find(node);
      if ((schema == nullptr || schema->kind != OpKind::View) && !isFloatCast(graph, node)) return std::nullopt;
    }
    view.source = node.input(0);
  }
  const DataType type = fused.outputs.front().type;
  if (view.isPart && (isPacked(type) || byteSize(type, view.begin) % kTensorAlignment != 0)) return std::nullopt;
  return wantedType(plan, fused, view.source) == type ? std::optional(view) : std::nullopt;
}

}  // namespace fusescope
