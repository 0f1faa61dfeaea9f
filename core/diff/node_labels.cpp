#include "diff/node_labels.h"

#include <algorithm>
#include <span>

#include "analysis/structural_key.h"
#include "base/hash.h"
#include "ir/graph.h"

namespace fusescope {

namespace {

constexpr std::uint64_t kAbsent = 1, kConstant = 2, kBeyond = 3;

std::uint64_t strictFingerprint(const Graph& graph, const Node& node) {
  const std::span<const NodeId> only(&node.id, 1);
  const auto noMore = [](ValueId) { return std::string(); };
  return hashText(structuralKey({.graph = &graph, .nodes = only, .describe = noMore, .context = {}})).low;
}

std::uint64_t looseFingerprint(const Node& node) {
  KeyBuilder key;
  key.text(node.domain).text(node.op).number(operands(node).size());
  return key.hash().low;
}

/// Returns what one operand contributes to a label: its own properties and the label of its producer.
std::uint64_t operandLabel(const Graph& graph, const BorderLabels& borders, ValueId value) {
  if (!value.valid()) return kAbsent;
  if (graph.isConstant(value)) return kConstant;
  return borders.inputs[value.index];
}

/// Calculates labels of the whole network in one pass in `order`, and labels of a few steps in as many rounds.
template <class Order, class LabelOf>
std::vector<std::uint64_t> labels(const Order& order, const std::vector<std::uint64_t>& own, int steps,
                                  LabelOf labelOf) {
  std::vector<std::uint64_t> current = own;
  if (steps == kWholeNetwork) {
    for (const NodeId id : order) current[id.index] = labelOf(id, current);
    return current;
  }
  for (int step = 0; step < steps; ++step) {
    std::vector<std::uint64_t> next = current;
    for (const NodeId id : order) next[id.index] = labelOf(id, current);
    current = std::move(next);
  }
  return current;
}

}  // namespace

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15ULL + b;  // the hash function splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

NodeLinks linksOf(const Graph& graph) {
  NodeLinks links{.reads = std::vector<std::vector<Link>>(graph.nodeIdLimit()),
                  .readers = std::vector<std::vector<Link>>(graph.nodeIdLimit())};
  std::vector<std::uint32_t> outputOf(graph.valueIdLimit(), 0);
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i].valid()) outputOf[node.outputs[i].index] = i;
    const std::vector<ValueId> read = operands(node);
    for (std::uint32_t i = 0; i < read.size(); ++i) {
      if (!read[i].valid()) continue;
      const NodeId producer = graph.value(read[i]).producer;
      if (!producer.valid()) continue;
      links.reads[id.index].push_back({producer, outputOf[read[i].index], i});
      links.readers[producer.index].push_back({id, outputOf[read[i].index], i});
    }
  }
  return links;
}

std::vector<std::uint64_t> fingerprints(const Graph& graph, Likeness likeness) {
  std::vector<std::uint64_t> all(graph.nodeIdLimit(), 0);
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    all[id.index] = likeness == Likeness::Strict ? strictFingerprint(graph, node) : looseFingerprint(node);
  }
  return all;
}

std::vector<std::uint64_t> labelsFromInputs(const Graph& graph, const NodeLinks& links, const BorderLabels& borders,
                                            const std::vector<std::uint64_t>& own, int steps) {
  return labels(graph.order(), own, steps, [&](NodeId id, const std::vector<std::uint64_t>& of) {
    std::uint64_t label = own[id.index];
    auto link = links.reads[id.index].begin();
    const std::vector<ValueId> read = operands(graph.node(id));
    for (std::uint32_t i = 0; i < read.size(); ++i) {
      const bool made = link != links.reads[id.index].end() && link->operand == i;
      label = mixed(label,
                    made ? mixed(of[link->node.index], link->output + kBeyond) : operandLabel(graph, borders, read[i]));
      if (made) ++link;
    }
    return label;
  });
}

std::vector<std::uint64_t> labelsFromOutputs(const Graph& graph, const NodeLinks& links, const BorderLabels& borders,
                                             const std::vector<std::uint64_t>& own, int steps) {
  const std::vector<NodeId> order(graph.order().rbegin(), graph.order().rend());
  std::vector<std::uint64_t> uses;
  return labels(order, own, steps, [&](NodeId id, const std::vector<std::uint64_t>& of) {
    uses.clear();
    for (const Link& link : links.readers[id.index])
      uses.push_back(mixed(of[link.node.index], (std::uint64_t(link.output) << 32) + link.operand + kBeyond));
    for (std::uint32_t i = 0; i < graph.node(id).outputs.size(); ++i) {
      const ValueId value = graph.node(id).outputs[i];
      if (value.valid() && borders.outputs[value.index] != 0) uses.push_back(mixed(borders.outputs[value.index], i));
    }
    std::ranges::sort(uses);
    std::uint64_t label = own[id.index];
    for (const std::uint64_t use : uses) label = mixed(label, use);
    return label;
  });
}

}  // namespace fusescope
