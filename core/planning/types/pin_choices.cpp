#include "planning/types/pin_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "calibration/products.h"
#include "ir/decision.h"
#include "planning/quantized_model.h"
#include "planning/structure.h"
#include "target/runs_in.h"

namespace fusescope {
namespace {

std::string whyNotInt8(const Plan& plan, NodeId id, bool hasRanges) {
  const Node& given = plan.graph().node(id);
  if (multipliesCodes(plan.graph(), given)) return fmt::format("{} is written as a product of int8.", given.name);
  if (!hasRanges)
    return "int8 needs ranges. Make them with: fusescope calibrate MODEL -o RANGES.json, and give --ranges.";
  const Graph& graph = *unquantized(plan.model)->graph;
  if (!graph.has(id)) return fmt::format("{} exists for int8 only.", given.name);
  const Node& node = graph.node(id);
  if (!multiplies(node)) return fmt::format("{} does not multiply: only products are of int8.", node.name);
  const auto form = productOf(graph, node);
  const auto* none = std::get_if<NoProduct>(&form);
  if (none == nullptr) return {};
  return fmt::format("{} {}.", node.name,
                     message(decide(none->code, {Subject::node(node.name)}, "pin", none->arguments)));
}

}  // namespace

std::vector<std::vector<DataType>> precisionChoices() {
  using enum DataType;
  return {{}, {F16}, {BF16}, {F16, BF16}, {F16, F32}, {BF16, F32}, {I8}, {I8, F16}, {I8, BF16}, {I8, F32}};
}

std::vector<DataType> pinTypes(const Plan& plan, bool hasRanges) {
  std::vector<DataType> types;
  for (const DataType type : {DataType::F32, DataType::BF16, DataType::F16})
    if (plan.target.computeTypes.contains(type)) types.push_back(type);
  if (hasRanges) types.push_back(DataType::I8);
  return types;
}

std::string whyNotPinned(const Plan& plan, NodeId id, DataType type, bool hasRanges) {
  if (type == DataType::I8) return whyNotInt8(plan, id, hasRanges);
  const Node& node = plan.graph().node(id);
  std::vector<DataType> made;
  for (const ValueId value : node.outputs)
    if (value.valid()) made.push_back(plan.graph().value(value).type.dtype);
  const bool isOfFloats = std::ranges::any_of(made, [](DataType each) {
    return isFloat(each) || each == DataType::Undefined;  // what is not known may be one
  });
  if (!isOfFloats)
    return fmt::format("{} produces {}, and a pin can only choose among float types.", node.name,
                       made.empty() ? "nothing" : name(made.front()));
  if (std::ranges::find(made, type) != made.end()) return {};
  const std::string why = whyNotCalculatedIn(plan.target, node, type);
  return why.empty() ? std::string() : fmt::format("{} keeps its type: {}.", node.name, why);
}

std::string whyNotStored(const Plan& plan, NodeId id, DataType type) {
  const Node& node = plan.graph().node(id);
  const bool isOfFloats = std::ranges::any_of(node.outputs, [&](ValueId value) {
    return value.valid() && isExchangeable(plan.graph().value(value).type.dtype);
  });
  if (!isOfFloats) return fmt::format("{} has no result of a float type that could be replaced.", node.name);
  if (hasBody(node)) return fmt::format("{} keeps its type: its bodies store the types that they declare.", node.name);
  const std::string why = whyNotStoredIn(plan.target, type);
  return why.empty() ? std::string() : fmt::format("{} keeps its type: {}.", node.name, why);
}

std::string whyNotStoredIn(const Target& target, DataType type) {
  if (isExchangeable(type) && target.computeTypes.contains(type)) return {};
  return fmt::format("target {} does not store {}", target.name, name(type));
}

std::string whyNotCalculatedIn(const Target& target, const Node& node, DataType type) {
  if (!isExchangeable(type) || !target.computeTypes.contains(type))
    return fmt::format("target {} does not compute in {}", target.name, name(type));
  if (runsIn(target, node, type)) return {};
  return fmt::format("target {} does not run {} in {}", target.name, node.op, name(type));
}

}  // namespace fusescope
