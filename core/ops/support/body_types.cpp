#include "ops/support/body_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/extent_expression.h"

namespace fusescope::ops {
namespace {

constexpr int kPreciseRounds = 2;  // rounds in which carried extents are widened one by one
// If bodies are nested more deeply, nothing is known about the extents of carried values.
constexpr int kDeepestPrecise = 3;

/// Returns how many levels of bodies are nested in `graph`.
int nesting(const Graph& graph) {
  int deepest = 0;
  for (const NodeId id : graph.order())
    for (const auto& [key, attribute] : graph.node(id).attributes)
      if (const auto* body = std::get_if<Subgraph>(&attribute)) deepest = std::max(deepest, 1 + nesting(*body->graph));
  return deepest;
}

std::set<std::string> symbolsOf(const Dim& dim) {
  const auto symbols = ExtentExpression::of(dim).symbols();
  return {symbols.begin(), symbols.end()};
}

void collectSymbols(const TensorType& type, std::set<std::string>& symbols) {
  for (const Dim& dim : type.shape.dims)
    if (!dim.symbol.empty()) symbols.merge(symbolsOf(dim));
}

/// Returns the symbols of the node's operands, which mean the same inside its bodies and outside.
std::set<std::string> outerSymbols(const InferContext& context) {
  std::set<std::string> symbols;
  for (std::size_t i = 0; i < context.inputCount(); ++i)
    if (context.hasInput(i)) collectSymbols(context.input(i), symbols);
  for (const auto& [key, attribute] : context.node().attributes)
    for (const TensorType* capture : context.captures(key))
      if (capture != nullptr) collectSymbols(*capture, symbols);
  return symbols;
}

Types concatenated(const LoopInputs& inputs, const Types& carried) {
  Types types = inputs.before;
  types.insert(types.end(), carried.begin(), carried.end());
  types.insert(types.end(), inputs.after.begin(), inputs.after.end());
  return types;
}

/// One step of widening: keeps what `carried` and `given` have in common, and in late rounds less than that.
TensorType widened(const TensorType& carried, const TensorType& given, int round) {
  const TensorType common = joined(carried, given);
  if (common == carried || round < kPreciseRounds) return common;
  if (round == kPreciseRounds) return {.dtype = common.dtype, .shape = Shape::unknown(), .container = common.container};
  return {};
}

}  // namespace

Result<Subgraph> bodyOf(const Node& node, const std::string& attribute) {
  const auto found = node.attributes.find(attribute);
  const auto* body = found == node.attributes.end() ? nullptr : std::get_if<Subgraph>(&found->second);
  if (body == nullptr || body->graph == nullptr) return attributeProblem(attribute, "is missing");
  if (body->graph->inputs().size() < body->captures.size())
    return attributeProblem(attribute, "its graph has fewer inputs than it captures values");
  return *body;
}

Result<Subgraph> checkedBody(const Node& node, const std::string& attribute, std::size_t inputs, std::size_t outputs) {
  Subgraph body = TRY(bodyOf(node, attribute));
  const std::size_t own = body.graph->inputs().size() - body.captures.size();
  if (own != inputs)
    return attributeProblem(attribute, fmt::format("its graph has {} inputs, but the node passes {}", own, inputs));
  if (body.graph->outputs().size() != outputs)
    return attributeProblem(
        attribute, fmt::format("its graph has {} outputs, expected {}", body.graph->outputs().size(), outputs));
  return body;
}

Result<TypeFlow> inferBody(const InferContext& context, const std::string& attribute, const BodyInputs& inputs) {
  const Subgraph body = TRY(bodyOf(context.node(), attribute));
  const auto captures = context.captures(attribute);
  const auto values = context.constantCaptures(attribute);
  if (inputs.types.size() + captures.size() != body.graph->inputs().size())
    return attributeProblem(attribute, fmt::format("its graph has {} inputs, but the node passes {}",
                                                   body.graph->inputs().size() - captures.size(), inputs.types.size()));
  Types types = inputs.types;
  for (const TensorType* capture : captures) types.push_back(capture == nullptr ? TensorType() : *capture);
  std::vector<const Tensor*> known = inputs.known;
  known.resize(inputs.types.size(), nullptr);
  known.insert(known.end(), values.begin(), values.end());
  return flowTypes(*body.graph, types,
                   {.declared = DeclaredTypes::Fill, .compute = ComputeValues::Small, .knownInputs = known});
}

Types outputTypes(const InferContext& context, const Graph& body, const TypeFlow& flow) {
  const std::set<std::string> symbols = outerSymbols(context);
  Types types;
  for (const ValueId output : body.outputs()) {
    types.push_back(flow.types[output.index]);
    for (Dim& dim : types.back().shape.dims)
      if (!dim.symbol.empty() && !std::ranges::includes(symbols, symbolsOf(dim))) dim = Dim();
  }
  return types;
}

TensorType joined(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype || a.container != b.container) return {};
  TensorType common{.dtype = a.dtype, .shape = Shape::unknown(), .container = a.container};
  if (!a.shape.ranked || !b.shape.ranked || a.shape.rank() != b.shape.rank()) return common;
  common.shape = a.shape;
  for (std::size_t i = 0; i < common.shape.rank(); ++i)
    if (a.shape.dims[i] != b.shape.dims[i]) common.shape.dims[i] = Dim();
  return common;
}

Result<LoopTypes> inferLoop(const InferContext& context, const std::string& attribute, LoopInputs inputs,
                            std::size_t firstCarried) {
  const Subgraph body = TRY(bodyOf(context.node(), attribute));
  // Each level of bodies is visited several times for each visit of the level around it, so that beyond a certain depth
  // it is visited only once.
  const bool deep = nesting(*body.graph) >= kDeepestPrecise;
  Types carried = deep ? Types(inputs.carried.size()) : inputs.carried;
  for (int round = 0;; ++round) {
    BodyInputs given{.types = concatenated(inputs, carried), .known = inputs.known};
    TypeFlow flow = TRY(inferBody(context, attribute, given));
    Types outputs = outputTypes(context, *body.graph, flow);
    Types wider = carried;
    for (std::size_t i = 0; i < wider.size() && firstCarried + i < outputs.size(); ++i)
      wider[i] = widened(wider[i], outputs[firstCarried + i], round);
    if (wider == carried) return LoopTypes{std::move(given), std::move(carried), std::move(outputs), std::move(flow)};
    carried = round > kPreciseRounds ? Types(carried.size()) : std::move(wider);
  }
}

}  // namespace fusescope::ops
