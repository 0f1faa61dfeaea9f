#include "planning/fusion/norm_match.h"

#include <algorithm>

#include "analysis/users.h"

namespace fusescope {

namespace {

bool holds(const std::vector<NodeId>& nodes, NodeId node) {
  return std::ranges::find(nodes, node) != nodes.end();
}

/// Returns whether the node is a mean that keeps its axes. For [N, R, C], tf2onnx writes the mean over the last axis as
/// a GlobalAveragePool.
bool isMean(const Node& node) {
  return node.is("ReduceMean") || node.is("GlobalAveragePool");
}

/// Returns the producer of `value` if it is a mean.
const Node* meanAt(const Graph& graph, ValueId value) {
  const NodeId producer = value.valid() ? graph.value(value).producer : NodeId();
  return producer.valid() && isMean(graph.node(producer)) ? &graph.node(producer) : nullptr;
}

}  // namespace

std::optional<NormCore> NormMatcher::match(const Node& mean, std::string& obstacle) const {
  if (!isMean(mean)) return std::nullopt;
  NormCore core{.root = mean.id, .axes = reducedLastAxes(m_graph, mean)};
  std::optional<ValueId> d = squared(beforeCasts(m_graph, mean.input(0), &core.nodes), core);
  if (!d) return std::nullopt;
  if (core.axes == 0) {
    obstacle = mean.name + " does not run over the last axes and keep them";
    return std::nullopt;
  }
  core.nodes.push_back(mean.id);
  const Node* variance = &mean;
  if (const Node* difference = meanOffSquares(mean, *d, core)) {
    variance = difference;
    d = centred(*d);
    if (!d) return std::nullopt;
  }
  bool inverse = false;
  const Node* deviation = reciprocal(*variance, core, inverse, obstacle);
  if (deviation == nullptr) return std::nullopt;
  core.centred = takeCentring(*d, core);
  if (!takeScaling(*deviation, inverse, *d, core, obstacle)) return std::nullopt;
  placeInput(core.centred ? beforeCasts(m_graph, producerIf(m_graph, *d, "Sub")->input(0)) : *d, core);
  return core;
}

/// Returns d if `square` is d · d, where d is the value before Casts.
std::optional<ValueId> NormMatcher::squared(ValueId square, NormCore& core) const {
  const Node* pow = producerIf(m_graph, square, "Pow");
  if (pow != nullptr && isConstantNumber(m_graph, pow->input(1), 2)) {
    core.nodes.push_back(pow->id);
    return beforeCasts(m_graph, pow->input(0));
  }
  const Node* mul = producerIf(m_graph, square, "Mul");
  if (mul == nullptr) return std::nullopt;
  const ValueId d = beforeCasts(m_graph, mul->input(0));
  if (d != beforeCasts(m_graph, mul->input(1))) return std::nullopt;
  core.nodes.push_back(mul->id);
  return d;
}

/// Finds the variance as mean(x · x) - mean(x) · mean(x), with a Max of it and 0 if that is the only reader.
const Node* NormMatcher::meanOffSquares(const Node& mean, ValueId x, NormCore& core) const {
  NormCore taken;
  const Node* difference = next(mean, taken);
  if (difference == nullptr || !difference->is("Sub")) return nullptr;
  const auto first = squared(beforeCasts(m_graph, difference->input(1), &taken.nodes), taken);
  const Node* other = first ? meanAt(m_graph, *first) : nullptr;
  if (other == nullptr || reducedLastAxes(m_graph, *other) != core.axes) return nullptr;
  if (beforeCasts(m_graph, other->input(0)) != x) return nullptr;
  taken.nodes.push_back(difference->id);
  const Node* most = next(*difference, taken);
  const bool bounded = most != nullptr && (most->is("Relu") || (most->is("Max") && most->inputs.size() == 2 &&
                                                                (isConstantNumber(m_graph, most->input(0), 0) ||
                                                                 isConstantNumber(m_graph, most->input(1), 0))));
  if (bounded) taken.nodes.push_back(most->id);
  core.nodes.insert(core.nodes.end(), taken.nodes.begin(), taken.nodes.end());
  return bounded ? most : difference;
}

/// Returns the value x - mean(x), if a node calculates it. It is searched if the variance was calculated from the
/// squares of x.
std::optional<ValueId> NormMatcher::centred(ValueId x) const {
  for (const NodeId reader : m_graph.value(x).consumers) {
    const Node& node = m_graph.node(reader);
    if (!node.is("Sub") || beforeCasts(m_graph, node.input(0)) != x) continue;
    const Node* mean = meanAt(m_graph, beforeCasts(m_graph, node.input(1)));
    if (mean != nullptr && beforeCasts(m_graph, mean->input(0)) == x) return node.outputs.front();
  }
  return std::nullopt;
}

/// Returns the only node that reads the result of `node`, after Casts.
const Node* NormMatcher::next(const Node& node, NormCore& core) const {
  return onlyConsumer(m_graph, behindCasts(m_graph, node.outputs.front(), core.nodes));
}

/// Finds the addition of epsilon and the root of the sum. `inverse` is set if the returned node already gives the
/// reciprocal of the root.
const Node* NormMatcher::reciprocal(const Node& mean, NormCore& core, bool& inverse, std::string& obstacle) const {
  const Node* plus = next(mean, core);
  const auto number = [&](const Node& node, std::size_t i) { return isScalarConstant(m_graph, node.input(i)); };
  if (plus == nullptr || !plus->is("Add") || !(number(*plus, 0) || number(*plus, 1))) {
    obstacle = "an Add of an epsilon is not the only reader of " + mean.name;
    return nullptr;
  }
  core.epsilon = plus->input(number(*plus, 1) ? 1 : 0);
  core.nodes.push_back(plus->id);
  const Node* root = next(*plus, core);
  const auto power = [&](double exponent) {
    return root != nullptr && root->is("Pow") && isConstantNumber(m_graph, root->input(1), exponent);
  };
  inverse = power(-0.5);
  if (root == nullptr || !(root->is("Sqrt") || power(0.5) || inverse)) {
    obstacle = "a square root is not the only reader of " + plus->name;
    return nullptr;
  }
  core.nodes.push_back(root->id);
  const Node* after = inverse ? nullptr : next(*root, core);
  const bool oneOver = after != nullptr &&
                       (after->is("Reciprocal") || (after->is("Div") && isConstantNumber(m_graph, after->input(0), 1)));
  if (!oneOver) return root;
  inverse = true;
  core.nodes.push_back(after->id);
  return after;
}

/// Returns whether d = x - mean(x) over the same axes; if so, both nodes are added.
bool NormMatcher::takeCentring(ValueId d, NormCore& core) const {
  const Node* sub = producerIf(m_graph, d, "Sub");
  if (sub == nullptr) return false;
  std::vector<NodeId> casts;
  const Node* mean = meanAt(m_graph, beforeCasts(m_graph, sub->input(1), &casts));
  if (mean == nullptr || reducedLastAxes(m_graph, *mean) != core.axes) return false;
  if (beforeCasts(m_graph, mean->input(0)) != beforeCasts(m_graph, sub->input(0))) return false;
  core.nodes.insert(core.nodes.end(), casts.begin(), casts.end());
  core.nodes.insert(core.nodes.end(), {mean->id, sub->id});
  return true;
}

/// Returns the producer of `value` if it is another Sub of the same operands as the one in `core`.
const Node* NormMatcher::differenceTo(ValueId value, const NormCore& core) const {
  const Node* other = producerIf(m_graph, value, "Sub");
  if (!core.centred || other == nullptr) return nullptr;
  const Node& sub = m_graph.node(core.nodes.back());
  const auto same = [&](std::size_t i) {
    return beforeCasts(m_graph, other->input(i)) == beforeCasts(m_graph, sub.input(i));
  };
  return same(0) && same(1) ? other : nullptr;
}

/// Returns the node of r · w, if it is the only reader of r.
const Node* NormMatcher::weightOf(ValueId inverse, NormCore& core) const {
  const Node* product = onlyConsumerIf(m_graph, inverse, "Mul");
  if (product == nullptr || !m_graph.isConstant(otherOperand(*product, inverse))) return nullptr;
  core.scale = {roles::kScale, otherOperand(*product, inverse), product->id};
  return product;
}

/// Returns the Neg of `value`, if there is one.
const Node* NormMatcher::negationOf(ValueId value) const {
  for (const NodeId reader : m_graph.value(value).consumers)
    if (m_graph.node(reader).is("Neg")) return &m_graph.node(reader);
  return nullptr;
}

/// Matches x · weighted + (b - mean · weighted), where d = x - mean. The mean may be negated first, and b added.
bool NormMatcher::takeSpreadOut(ValueId weighted, ValueId d, NormCore& core) const {
  const Node* difference = producerIf(m_graph, d, "Sub");
  if (!core.centred || difference == nullptr || m_graph.isOutput(weighted)) return false;
  const std::vector<NodeId>& readers = m_graph.value(weighted).consumers;
  const auto productWith = [&](ValueId factor) -> const Node* {
    for (const NodeId reader : readers) {
      const Node& node = m_graph.node(reader);
      if (node.is("Mul") && beforeCasts(m_graph, otherOperand(node, weighted)) == beforeCasts(m_graph, factor))
        return &node;
    }
    return nullptr;
  };
  const Node* scaled = productWith(difference->input(0));
  const Node* negated = negationOf(difference->input(1));
  const Node* shift = productWith(negated != nullptr ? negated->outputs.front() : difference->input(1));
  if (readers.size() != 2 || scaled == nullptr || shift == nullptr) return false;
  const ValueId shifted = shift->outputs.front();
  const Node* offset = onlyConsumerIf(m_graph, shifted, negated != nullptr ? "Add" : "Sub");
  if (offset == nullptr || (negated == nullptr && offset->input(1) != shifted)) return false;
  const ValueId bias = otherOperand(*offset, shifted);
  if (!bias.valid() || !m_graph.isConstant(bias)) return false;
  const Node* sum = onlyConsumerIf(m_graph, offset->outputs.front(), "Add");
  if (sum == nullptr || sum != onlyConsumerIf(m_graph, scaled->outputs.front(), "Add")) return false;
  core.nodes.insert(core.nodes.end(), {scaled->id, shift->id, offset->id, sum->id});
  if (negated != nullptr) core.nodes.push_back(negated->id);
  core.bias = {roles::kBias, bias, offset->id};
  core.result = sum->outputs.front();
  return true;
}

bool NormMatcher::takeScaling(const Node& deviation, bool inverse, ValueId d, NormCore& core,
                              std::string& obstacle) const {
  std::vector<NodeId> casts;
  ValueId by = behindCasts(m_graph, deviation.outputs.front(), casts);
  if (const Node* weight = inverse ? weightOf(by, core) : nullptr) {
    casts.push_back(weight->id);
    by = behindCasts(m_graph, weight->outputs.front(), casts);
    if (takeSpreadOut(by, d, core)) {
      core.nodes.insert(core.nodes.end(), casts.begin(), casts.end());
      return true;
    }
  }
  const Node* scaling = onlyConsumer(m_graph, by);
  if (scaling == nullptr || !scaling->is(inverse ? "Mul" : "Div") || (!inverse && scaling->input(1) != by)) {
    obstacle = "a " + std::string(inverse ? "Mul" : "Div") + " is not the only reader of " + deviation.name;
    return false;
  }
  const ValueId scaled = beforeCasts(m_graph, inverse ? otherOperand(*scaling, by) : scaling->input(0));
  const Node* again = scaled == d ? nullptr : differenceTo(scaled, core);
  if (scaled != d && again == nullptr) {
    obstacle = scaling->name + " scales another value than the one that is squared";
    return false;
  }
  if (again != nullptr) core.nodes.push_back(again->id);
  core.nodes.insert(core.nodes.end(), casts.begin(), casts.end());
  core.nodes.push_back(scaling->id);
  core.result = scaling->outputs.front();
  return true;
}

/// Adds the Casts of x whose readers are all in the norm. The value before them is the input.
void NormMatcher::placeInput(ValueId x, NormCore& core) const {
  std::vector<ValueId> entries;
  for (bool grown = true; grown;) {
    grown = false;
    entries.clear();
    const std::vector<NodeId> nodes = core.nodes;
    for (const NodeId id : nodes) {
      for (const ValueId operand : m_graph.node(id).inputs) {
        if (!operand.valid() || m_graph.isConstant(operand)) continue;
        const NodeId producer = m_graph.value(operand).producer;
        if (producer.valid() && holds(core.nodes, producer)) continue;
        const bool cast = producer.valid() && isFloatCast(m_graph, m_graph.node(producer));
        const auto taken = [&](NodeId user) { return holds(core.nodes, user); };
        if (cast && !m_graph.isOutput(operand) && std::ranges::all_of(m_graph.value(operand).consumers, taken)) {
          core.nodes.push_back(producer);
          grown = true;
        } else if (std::ranges::find(entries, operand) == entries.end()) {
          entries.push_back(operand);
        }
      }
    }
  }
  core.input = entries.size() == 1 ? entries.front() : x;
}

void takeAffine(RegionBuilder& state, NodeId root, std::string_view kind, ValueId result, bool withBias,
                bool (*fits)(const Graph&, ValueId constant, ValueId value, std::size_t axes), std::size_t axes) {
  const Graph& graph = state.graph();
  for (const std::string_view op : {"Mul", "Add"}) {
    std::vector<NodeId> nodes;
    const ValueId value = behindCasts(graph, result, nodes);
    const Node* affine = onlyConsumerIf(graph, value, op);
    if (affine == nullptr || (op == "Add" && !withBias)) continue;
    if (findBinding(state.bindingsOf(root), op == "Mul" ? roles::kScale : roles::kBias) != nullptr) continue;
    const ValueId operand = otherOperand(*affine, value);
    if (!operand.valid() || !graph.isConstant(operand) || !fits(graph, operand, value, axes)) break;
    nodes.insert(nodes.end(), {affine->id, root});
    if (!state.tryMerge({.nodes = nodes,
                         .root = root,
                         .kind = kind,
                         .rules = {kind},
                         .bindings = {{op == "Mul" ? roles::kScale : roles::kBias, operand, affine->id}}}))
      break;
    result = affine->outputs.front();
  }
  state.bind(root, {{roles::kResult, result, graph.value(result).producer}});
}

}  // namespace fusescope
