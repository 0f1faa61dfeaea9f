#include "backends/native/lowering/attention_pattern.h"

#include <algorithm>

#include "backends/native/kernels/attention_batches.h"
#include "planning/fusion/match.h"
#include "planning/kernel_bindings.h"
#include "planning/kinds.h"

namespace fusescope::native {
namespace {

/// Reads the bindings of an attention.
class AttentionReader {
 public:
  explicit AttentionReader(RegionFacts& region)
      : m_region(region), m_bindings(region.fused().bindings), m_bound(kernelBindings(region.fused()).attention) {}

  std::optional<AttentionPattern> read() {
    if (m_bound.nodes.empty()) return std::nullopt;
    m_pattern.nodes = {m_bound.nodes.begin(), m_bound.nodes.end()};
    for (const NodeId id : m_bound.nodes) {
      const std::vector<ValueId>& made = m_region.node(id).outputs;
      m_made.insert(made.begin(), made.end());
    }
    const Node& scores = m_region.node(findBinding(m_bindings, roles::kScores)->node);
    const Node& product = m_region.node(findBinding(m_bindings, roles::kProduct)->node);
    m_pattern.query = scores.input(0);
    m_pattern.key = scores.input(1);
    takeScales(m_bound.query);
    takeScales(m_bound.key);
    if (m_scale != 1) m_pattern.terms.push_back({.kind = ScoreTerm::Kind::Multiply, .number = m_scale});
    const Binding* softmax = findBinding(m_bindings, roles::kSoftmax);
    if (!takeTerms(softmax->node) || !takeGuard()) return std::nullopt;
    m_pattern.value = findBinding(m_bindings, roles::kValues)->value;
    if (!takeWeights(softmax->value, product.input(0))) return std::nullopt;
    m_pattern.last = product.id;
    m_pattern.scores = scores.outputs[0];
    m_pattern.result = product.outputs[0];
    return extentsFit() ? std::optional(std::move(m_pattern)) : std::nullopt;
  }

 private:
  using Term = AttentionPattern::Term;

  /// Takes the scales of query and key out of the computation: the nodes that read them read their operands instead,
  /// and the product of the scales becomes the first term of the scores.
  void takeScales(const std::vector<AttentionBinding::Above>& above) {
    for (const auto& [id, source, scales] : above) {
      const Node& node = m_region.node(id);
      if (isRounded(node.outputs[0])) return;
      if (!scales) continue;
      const std::optional<float> factor = factorOf(node, source);
      if (!factor || m_region.dimsOf(source) != m_region.dimsOf(node.outputs[0])) return;
      m_scale *= *factor;
      m_pattern.scales.emplace(id, source);
    }
  }

  /// Returns the constant number by which a Mul or a Div multiplies `scaled`, or nothing if it is no constant number.
  std::optional<float> factorOf(const Node& node, ValueId scaled) {
    const std::optional<float> number = m_region.numberReadBy(node.id, otherOperand(node, scaled));
    if (!number || node.is("Mul")) return number;
    return node.is("Div") && node.input(0) == scaled ? std::optional(1.0f / *number) : std::nullopt;
  }

  bool isRounded(ValueId value) const { return m_region.rounding().rounds(value) != DataType::Undefined; }

  /// Collects what changes the scores before `softmax`, in order: the terms, and between them the roundings that the
  /// contract demands.
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

  /// Finds the type to which the probabilities are rounded before the second product reads them as `read`. Returns
  /// whether there is at most one such type.
  bool takeWeights(ValueId probabilities, ValueId read) {
    std::set<DataType> types{m_region.rounding().made(read), m_region.rounding().made(probabilities)};
    for (const NodeId id : m_bound.behindSoftmax)
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

  /// Returns whether an operand of a term is known before the scores are calculated.
  bool isKnown(ValueId operand) const { return !operand.valid() || !m_made.contains(operand); }

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
  const AttentionBinding& m_bound;
  std::set<ValueId> m_made;  ///< values that the nodes of the attention calculate
  float m_scale = 1;         ///< the product of the scales of query and key
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
