#include "backends/native/attention_pattern.h"

#include <algorithm>

#include "backends/native/attention_batches.h"
#include "backends/native/neighbours.h"
#include "planning/fusion/match.h"
#include "planning/kinds.h"

namespace fusescope::native {
namespace {

/// Reads the bindings of an attention.
class AttentionReader {
 public:
  explicit AttentionReader(RegionFacts& region) : m_region(region), m_bindings(region.fused().bindings) {}

  std::optional<AttentionPattern> read() {
    const Binding* scores = findBinding(m_bindings, roles::kScores);
    const Binding* product = findBinding(m_bindings, roles::kProduct);
    if (!isInside(scores) || !isInside(product)) return std::nullopt;
    m_pattern.nodes = between(m_region, scores->value, product->value);
    if (m_pattern.nodes.empty()) return std::nullopt;
    m_pattern.nodes.insert(scores->node);
    if (!leavesOnly(m_region, m_pattern.nodes, product->value)) return std::nullopt;
    takeScaled(roles::kQuery, roles::kQueryScale, m_pattern.query);
    takeScaled(roles::kKey, roles::kKeyScale, m_pattern.key);
    if (m_scale != 1) m_pattern.terms.push_back({.kind = ScoreTerm::Kind::Multiply, .number = m_scale});
    const Binding* softmax = findBinding(m_bindings, roles::kSoftmax);
    const Binding* values = findBinding(m_bindings, roles::kValues);
    if (values == nullptr || !isInside(softmax) || !takeTerms(softmax->node) || !takeGuard()) return std::nullopt;
    m_pattern.value = values->value;
    if (!takeWeights(softmax->value, m_region.node(product->node).input(0))) return std::nullopt;
    m_pattern.last = product->node;
    m_pattern.scores = scores->value;
    m_pattern.result = product->value;
    return extentsFit() ? std::optional(std::move(m_pattern)) : std::nullopt;
  }

 private:
  using Term = AttentionPattern::Term;

  bool isInside(const Binding* binding) const { return binding != nullptr && m_region.isMember(binding->node); }

  /// An operand of the first product as it is before it is scaled; its scale becomes the first one of the scores.
  /// Scales further up are left out too: what reads them reads what they scale.
  void takeScaled(std::string_view role, std::string_view scaleRole, ValueId& operand) {
    operand = findBinding(m_bindings, role)->value;
    const Binding* scaling = findBinding(m_bindings, scaleRole);
    if (isInside(scaling)) operand = m_region.node(scaling->node).outputs[0];
    ValueId at = operand;
    for (std::optional<NodeId> from = producer(m_region, at); from; from = producer(m_region, at)) {
      const Node& node = m_region.node(*from);
      if (consumers(m_region, at).size() != 1 || m_region.isFusedOutput(at) || isRounded(at)) return;
      if (const auto scaled = scaledOperand(node)) {
        m_scale *= *factorOf(node, *scaled);
        m_pattern.scales.emplace(node.id, *scaled);
        at = *scaled;
      } else if (isView(m_region.graph(), node) || node.is("Transpose") || isFloatCast(m_region.graph(), node)) {
        at = node.input(0);
      } else {
        return;
      }
    }
  }

  /// What a Mul or a Div scales by a constant number, leaving its extents.
  std::optional<ValueId> scaledOperand(const Node& node) {
    if (!node.is("Mul") && !node.is("Div")) return std::nullopt;
    for (const ValueId operand : {node.input(0), node.input(1)}) {
      if (m_region.numberReadBy(node.id, operand) || !factorOf(node, operand)) continue;
      if (m_region.dimsOf(operand) == m_region.dimsOf(node.outputs[0])) return operand;
    }
    return std::nullopt;
  }

  /// By what a Mul or a Div by a constant number changes `scaled`.
  std::optional<float> factorOf(const Node& node, ValueId scaled) {
    const std::optional<float> number = m_region.numberReadBy(node.id, otherOperand(node, scaled));
    if (!number || node.is("Mul")) return number;
    return node.is("Div") && node.input(0) == scaled ? std::optional(1.0f / *number) : std::nullopt;
  }

  bool isRounded(ValueId value) const { return m_region.rounding().rounds(value) != DataType::Undefined; }

  /// What changes the scores before `softmax`, in order: terms, and between them what the contract rounds.
  bool takeTerms(NodeId softmax) {
    const std::vector<Binding> terms = bindingsOf(m_bindings, roles::kTerm);
    for (const NodeId id : m_region.fused().nodes) {
      if (id == softmax) return true;
      if (!m_pattern.nodes.contains(id)) continue;
      const auto term = std::ranges::find(terms, id, &Binding::node);
      if (term != terms.end() && !takeTerm(*term)) return false;
      const DataType type = m_region.rounding().rounds(m_region.node(id).outputs[0]);
      if (type == DataType::Undefined) continue;
      m_pattern.terms.push_back({.kind = type == DataType::F16 ? ScoreTerm::Kind::ToHalf : ScoreTerm::Kind::ToBrain});
    }
    return false;
  }

  /// To what the probabilities are rounded before the second product reads them as `read`: at most once.
  bool takeWeights(ValueId probabilities, ValueId read) {
    std::set<DataType> types{m_region.rounding().made(read), m_region.rounding().made(probabilities)};
    for (const NodeId id : between(m_region, probabilities, read))
      for (const ValueId value : m_region.node(id).outputs)
        if (value.valid()) types.insert(m_region.rounding().made(value));
    types.erase(DataType::Undefined);
    if (!types.empty()) m_pattern.weights = *types.begin();
    return types.size() <= 1;
  }

  bool takeTerm(const Binding& binding) {
    const Node& node = m_region.node(binding.node);
    std::optional<Term> term = node.is("Where") ? choice(node, binding.value) : change(node, binding.value);
    if (!term || !isKnown(term->condition) || !isKnown(term->operand)) return false;
    term->scores = node.outputs[0];
    m_pattern.terms.push_back(std::move(*term));
    return true;
  }

  std::optional<Term> change(const Node& node, ValueId scores) {
    using Kind = ScoreTerm::Kind;
    static const std::map<std::string, Kind, std::less<>> kKinds = {
        {"Mul", Kind::Multiply}, {"Add", Kind::Add}, {"Sub", Kind::Subtract}, {"Div", Kind::Divide}};
    const auto kind = kKinds.find(node.op);
    const bool isLeft = node.input(0) == scores;
    if (kind == kKinds.end() || (!isLeft && (node.is("Sub") || node.is("Div")))) return std::nullopt;
    Term term{.kind = kind->second};
    return withOperand(term, node, isLeft ? 1 : 0);
  }

  std::optional<Term> choice(const Node& where, ValueId scores) {
    const bool keepsTrue = where.input(1) == scores;
    if (m_region.typeOf(where.input(0)) != DataType::Bool) return std::nullopt;
    Term term{.kind = keepsTrue ? ScoreTerm::Kind::WhereFalse : ScoreTerm::Kind::WhereTrue,
              .condition = where.input(0)};
    return withOperand(term, where, keepsTrue ? 2 : 1);
  }

  Term withOperand(Term term, const Node& node, std::size_t input) {
    const ValueId operand = node.input(input);
    if (const std::optional<float> number = m_region.numberReadBy(node.id, operand)) {
      term.number = *number;
    } else {
      term.operand = operand;
    }
    return term;
  }

  /// Whether an operand of a term is there before the scores are.
  bool isKnown(ValueId operand) const {
    const std::optional<NodeId> from = producer(m_region, operand);
    return !from || !m_pattern.nodes.contains(*from);
  }

  bool takeGuard() {
    for (const Binding& binding : bindingsOf(m_bindings, roles::kGuard)) {
      const Node& node = m_region.node(binding.node);
      if (!node.is("Where")) continue;
      m_pattern.guard = m_region.numberReadBy(node.id, node.input(1));
      if (!m_pattern.guard) return false;
    }
    return true;
  }

  bool extentsFit() const {
    const auto isMatrix = [&](ValueId value) { return m_region.dimsOf(value).size() >= 2; };
    if (!isMatrix(m_pattern.query) || !isMatrix(m_pattern.key) || !isMatrix(m_pattern.value)) return false;
    if (m_region.dimsOf(m_pattern.query).back() <= 0) return false;
    std::vector<SmallDims> terms;
    for (const Term& term : m_pattern.terms)
      if (term.scores.valid()) terms.push_back(m_region.dimsOf(term.scores));
    return batchesFor(m_region.dimsOf(m_pattern.scores), terms, m_region.dimsOf(m_pattern.result)).has_value();
  }

  RegionFacts& m_region;
  const Bindings& m_bindings;
  float m_scale = 1;  ///< of query and key together
  AttentionPattern m_pattern;
};

}  // namespace

bool bindsAttention(const FusedNode& fused) {
  return fused.kind == kinds::kAttention && findBinding(fused.bindings, roles::kScores) != nullptr;
}

std::optional<AttentionPattern> boundAttention(RegionFacts& region) {
  return bindsAttention(region.fused()) ? AttentionReader(region).read() : std::nullopt;
}

}  // namespace fusescope::native
