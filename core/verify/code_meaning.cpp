#include "verify/code_meaning.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/number_range.h"
#include "ops/run_node.h"

namespace fusescope {
namespace {

/// Returns the node's scale and zero point, if both are known.
std::optional<CodeMeaning> meaningOf(const Graph& graph, const Node& node) {
  const bool converts = node.is("QuantizeLinear") || node.is("DequantizeLinear");
  if (!converts || node.intAttribute("block_size", 0) != 0) return std::nullopt;
  const ValueId codes = node.is("QuantizeLinear") ? node.outputs[0] : node.input(0);
  const Tensor* scale = graph.constantData(node.input(1));
  const Tensor* zero = node.input(2).valid() ? graph.constantData(node.input(2)) : nullptr;
  if (scale == nullptr || (node.input(2).valid() && zero == nullptr) || scale->dims().size() > 1) return std::nullopt;
  const DataType type = graph.value(codes).type.dtype;
  return CodeMeaning{.type = type,
                     .scale = scale->converted(DataType::F32),
                     .zero = zero != nullptr ? *zero : Tensor::zeros(type, scale->dims()),
                     .axis = node.intAttribute("axis", 1)};
}

bool same(const CodeMeaning& a, const CodeMeaning& b) {
  if (a.type != b.type || a.scale.count() != b.scale.count()) return false;
  for (std::int64_t i = 0; i < a.scale.count(); ++i)
    if (a.scale.asDouble(i) != b.scale.asDouble(i) || a.zero.asDouble(i) != b.zero.asDouble(i)) return false;
  return a.scale.count() == 1 || a.axis == b.axis;
}

/// Applies `op` to `from` with the reference kernel, which supports every type and all scales.
Result<Tensor> byReference(const std::string& op, const CodeMeaning& meaning, const Tensor& from,
                           const StopToken& stop) {
  Node node{.op = op, .name = op, .inputs = {ValueId(0), ValueId(1), ValueId(2)}, .outputs = {ValueId(3)}};
  node.attributes["axis"] = meaning.axis;
  const Tensor* const operands[] = {&from, &meaning.scale, &meaning.zero};
  return std::move(TRY(runNode(node, operands, stop)).front());
}

}  // namespace

Result<Tensor> CodeMeaning::codesOf(const Tensor& numbers, const StopToken& stop) const {
  const Tensor wide = numbers.converted(DataType::F32);
  if (!isByOneInteger()) return byReference("QuantizeLinear", *this, wide, stop);
  const auto by = static_cast<float>(scale.asDouble(0)), from = static_cast<float>(zero.asDouble(0));
  const auto range = rangeOf(type).value();
  const auto least = static_cast<float>(range.least), most = static_cast<float>(range.most);
  Tensor codes = Tensor::zeros(DataType::F32, wide.dims());
  std::ranges::transform(wide.data<float>(), codes.mutableData<float>().begin(), [&](float number) {
    const float code = std::nearbyint(number / by) + from;
    return code > least ? std::min(code, most) : least;  // NaN becomes `least`, too
  });
  return codes.converted(type);
}

Result<Tensor> CodeMeaning::numbersOf(const Tensor& codes, const StopToken& stop) const {
  if (!isByOneInteger()) return byReference("DequantizeLinear", *this, codes, stop);
  const auto by = static_cast<float>(scale.asDouble(0)), from = static_cast<float>(zero.asDouble(0));
  const Tensor wide = codes.converted(DataType::F32);
  Tensor numbers = Tensor::zeros(DataType::F32, codes.dims());
  std::ranges::transform(wide.data<float>(), numbers.mutableData<float>().begin(),
                         [&](float code) { return (code - from) * by; });
  return numbers;
}

bool CodeMeaning::isByOneInteger() const {
  return scale.count() == 1 && isInteger(type) && bitWidth(type) <= 16;
}

bool carriesCodes(const Node& node) {
  constexpr std::array kOperators{"Reshape", "Flatten", "Squeeze",        "Unsqueeze",    "Transpose", "Identity",
                                  "Gather",  "Slice",   "GatherElements", "GatherND",     "Split",     "Expand",
                                  "Tile",    "Concat",  "DepthToSpace",   "SpaceToDepth", "MaxPool"};
  return node.domain.empty() && std::ranges::find(kOperators, node.op) != kOperators.end() &&
         (!node.is("MaxPool") || node.outputs.size() == 1 || !node.outputs[1].valid());
}

CodeReach reachOfCodes(const Graph& graph, ValueId value) {
  const DataType type = graph.value(value).type.dtype;
  CodeReach found{.values = {value}, .nodes = {}};
  std::vector<ValueId> open{value};
  const auto reach = [&](ValueId next) {
    if (next.valid() && graph.value(next).type.dtype == type && found.values.insert(next).second) open.push_back(next);
  };
  while (!open.empty()) {
    const Value& codes = graph.value(open.back());
    open.pop_back();
    std::vector<NodeId> nodes = codes.consumers;
    if (codes.producer.valid()) nodes.push_back(codes.producer);
    for (const NodeId id : nodes) {
      if (!found.nodes.insert(id).second || !carriesCodes(graph.node(id))) continue;
      std::ranges::for_each(graph.node(id).inputs, reach);
      std::ranges::for_each(graph.node(id).outputs, reach);
    }
  }
  return found;
}

std::optional<CodeMeaning> codeMeaning(const Graph& graph, ValueId value) {
  const CodeReach reach = reachOfCodes(graph, value);
  std::optional<CodeMeaning> meaning;
  bool moved = false;
  for (const NodeId id : reach.nodes) {
    const Node& node = graph.node(id);
    moved = moved || carriesCodes(node);
    const auto found = meaningOf(graph, node);
    if (!found || !reach.values.contains(node.is("QuantizeLinear") ? node.outputs[0] : node.input(0))) continue;
    if (meaning && !same(*meaning, *found)) return std::nullopt;
    meaning = found;
  }
  return meaning && moved && meaning->scale.count() != 1 ? std::nullopt : meaning;
}

}  // namespace fusescope
