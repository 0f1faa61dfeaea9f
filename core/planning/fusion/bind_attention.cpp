#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "ir/graph.h"
#include "planning/fusion/kernel_nodes.h"
#include "planning/fusion/match.h"

namespace fusescope {
namespace {

/// Returns whether the value is a constant, or nodes inside calculate it from constants only.
bool isFixed(const KernelNodes& nodes, ValueId value) {
  if (nodes.graph().isConstant(value)) return true;
  const auto made = nodes.maker(value);
  return made && std::ranges::all_of(nodes.node(*made).inputs,
                                     [&](ValueId input) { return !input.valid() || isFixed(nodes, input); });
}

bool isNumber(const KernelNodes& nodes, ValueId value) {
  if (!value.valid() || !isFixed(nodes, value)) return false;
  const auto extents = nodes.graph().value(value).type.shape.fixed();
  return extents && elementCount(*extents) == 1;
}

using Above = AttentionBinding::Above;
using Term = AttentionBinding::Term;

/// Returns what a node before a product does; nothing if a kernel cannot do that while it reads the operand.
std::optional<Above> aboveOf(const KernelNodes& nodes, const Node& node) {
  const bool multiplies = node.is("Mul");
  if (multiplies || node.is("Div")) {
    const auto scales = [&](std::size_t number) {
      return isNumber(nodes, node.input(number)) && !isNumber(nodes, node.input(1 - number));
    };
    const auto kind = multiplies ? Above::Kind::Multiply : Above::Kind::Divide;
    if (scales(1)) return Above{.node = node.id, .source = node.input(0), .kind = kind, .number = node.input(1)};
    if (multiplies && scales(0))
      return Above{.node = node.id, .source = node.input(1), .kind = kind, .number = node.input(0)};
  }
  const bool moves = isView(nodes.graph(), node) || node.is("Transpose") || isFloatCast(nodes.graph(), node);
  return moves ? std::optional(Above{.node = node.id, .source = node.input(0)}) : std::nullopt;
}

/// Returns what a kernel can do while it reads an operand of the first product.
std::vector<Above> aboveOperand(const KernelNodes& nodes, ValueId operand) {
  std::vector<Above> all;
  for (auto made = nodes.maker(operand); made; made = nodes.maker(operand)) {
    if (nodes.readers(operand).size() != 1 || nodes.isOutput(operand)) break;
    const std::optional<Above> one = aboveOf(nodes, nodes.node(*made));
    if (!one) break;
    all.push_back(*one);
    operand = one->source;
  }
  return all;
}

/// Returns how `node` changes `scores`; nothing if a kernel has no such term.
std::optional<Term> termOf(const Node& node, ValueId scores) {
  using Kind = Term::Kind;
  if (node.is("Where")) {
    const bool keepsTrue = node.input(1) == scores;
    return Term{.kind = keepsTrue ? Kind::ReplaceFalse : Kind::ReplaceTrue,
                .node = node.id,
                .condition = node.input(0),
                .operand = node.input(keepsTrue ? 2 : 1)};
  }
  static constexpr std::array<std::pair<std::string_view, Kind>, 4> kKinds{
      {{"Mul", Kind::Multiply}, {"Add", Kind::Add}, {"Sub", Kind::Subtract}, {"Div", Kind::Divide}}};
  const auto kind = std::ranges::find_if(kKinds, [&](const auto& known) { return node.is(known.first); });
  const bool isLeft = node.input(0) == scores;
  if (kind == kKinds.end() || (!isLeft && (kind->second == Kind::Subtract || kind->second == Kind::Divide)))
    return std::nullopt;
  return Term{.kind = kind->second, .node = node.id, .operand = node.input(isLeft ? 1 : 0)};
}

/// Binds the nodes up to Softmax. Returns false if a kernel has no term for one of them, or if the attention itself
/// calculates the operand of a term.
bool bindTerms(const KernelNodes& nodes, NodeId softmax, AttentionBinding& attention) {
  std::set<ValueId> made;
  for (const NodeId id : attention.nodes) made.insert(nodes.node(id).outputs.begin(), nodes.node(id).outputs.end());
  made.erase(ValueId());
  const auto end = std::ranges::find(attention.nodes, softmax);
  attention.beforeSoftmax.assign(attention.nodes.begin(), end);
  const std::vector<Binding> terms = bindingsOf(nodes.fused().bindings, roles::kTerm);
  for (const NodeId id : attention.beforeSoftmax) {
    const auto bound = std::ranges::find(terms, id, &Binding::node);
    if (bound == terms.end()) continue;
    const std::optional<Term> term = termOf(nodes.node(id), bound->value);
    if (!term || made.contains(term->condition) || made.contains(term->operand)) return false;
    attention.terms.push_back(*term);
  }
  return end != attention.nodes.end();
}

/// Binds the Where that replaces NaN among the probabilities, if there is one.
void bindGuard(const KernelNodes& nodes, AttentionBinding& attention) {
  for (const Binding& binding : bindingsOf(nodes.fused().bindings, roles::kGuard)) {
    const Node& node = nodes.node(binding.node);
    if (!node.is("Where")) continue;
    attention.guard = node.id;
    attention.guardNumber = node.input(1);
  }
}

}  // namespace

AttentionBinding bindAttention(const KernelNodes& nodes) {
  const Bindings& bindings = nodes.fused().bindings;
  const Binding* scores = findBinding(bindings, roles::kScores);
  const Binding* product = findBinding(bindings, roles::kProduct);
  const Binding* softmax = findBinding(bindings, roles::kSoftmax);
  const auto isInside = [&](const Binding* binding) { return binding != nullptr && nodes.has(binding->node); };
  if (!isInside(scores) || !isInside(product) || !isInside(softmax)) return {};
  const Node &first = nodes.node(scores->node), &second = nodes.node(product->node);
  AttentionBinding attention{.nodes = nodes.between(scores->value, product->value),
                             .aboveQuery = aboveOperand(nodes, first.input(0)),
                             .aboveKey = aboveOperand(nodes, first.input(1)),
                             .query = first.input(0),
                             .key = first.input(1),
                             .values = second.input(1),
                             .scores = first.outputs[0],
                             .probabilities = softmax->value,
                             .weights = second.input(0),
                             .product = second.id,
                             .result = second.outputs[0]};
  if (attention.nodes.empty()) return {};
  attention.nodes.insert(attention.nodes.begin(), scores->node);
  if (!nodes.leaveOnly(attention.nodes, product->value)) return {};
  if (!bindTerms(nodes, softmax->node, attention)) return {};
  attention.behindSoftmax = nodes.between(softmax->value, attention.weights);
  bindGuard(nodes, attention);
  return attention;
}

}  // namespace fusescope
