#include "backends/native/lowering/attention_pattern.h"

#include <algorithm>

#include "backends/native/kernels/attention_batches.h"
#include "planning/kernel_bindings.h"
#include "planning/kinds.h"

namespace fusescope::native {
namespace {

using BoundAttention = AttentionBinding;

ScoreTerm::Kind scoreTermKind(BoundAttention::Term::Kind bound) {
  switch (bound) {
    case BoundAttention::Term::Kind::Multiply:
      return ScoreTerm::Kind::Multiply;
    case BoundAttention::Term::Kind::Add:
      return ScoreTerm::Kind::Add;
    case BoundAttention::Term::Kind::Subtract:
      return ScoreTerm::Kind::Subtract;
    case BoundAttention::Term::Kind::Divide:
      return ScoreTerm::Kind::Divide;
    case BoundAttention::Term::Kind::ReplaceTrue:
      return ScoreTerm::Kind::WhereTrue;
    case BoundAttention::Term::Kind::ReplaceFalse:
      return ScoreTerm::Kind::WhereFalse;
  }
  return ScoreTerm::Kind::Multiply;
}

/// Reads the bindings of an attention.
class AttentionReader {
 public:
  explicit AttentionReader(RegionFacts& region) : m_region(region), m_bound(kernelBindings(region.fused()).attention) {}

  std::optional<AttentionPattern> read() {
    if (m_bound.nodes.empty()) return std::nullopt;
    m_pattern = {.nodes = {m_bound.nodes.begin(), m_bound.nodes.end()},
                 .last = m_bound.product,
                 .query = m_bound.query,
                 .key = m_bound.key,
                 .value = m_bound.values,
                 .scores = m_bound.scores,
                 .result = m_bound.result};
    takeScales(m_bound.aboveQuery);
    takeScales(m_bound.aboveKey);
    if (m_scale != 1) m_pattern.terms.push_back({.kind = ScoreTerm::Kind::Multiply, .number = m_scale});
    if (!takeTerms() || !takeGuard() || !takeWeights()) return std::nullopt;
    return extentsFit() ? std::optional(std::move(m_pattern)) : std::nullopt;
  }

 private:
  using Term = AttentionPattern::Term;

  /// Takes the scales of query and key out of the computation: the nodes that read them read their operands instead,
  /// and the product of the scales becomes the first term of the scores.
  void takeScales(const std::vector<BoundAttention::Above>& above) {
    for (const auto& [id, source, kind, number] : above) {
      const ValueId result = m_region.node(id).outputs[0];
      if (isRounded(result)) return;
      if (kind == BoundAttention::Above::Kind::Move) continue;
      const std::optional<float> factor = m_region.numberReadBy(id, number);
      if (!factor || m_region.dimsOf(source) != m_region.dimsOf(result)) return;
      m_scale *= kind == BoundAttention::Above::Kind::Divide ? 1.0f / *factor : *factor;
      m_pattern.scales.emplace(id, source);
    }
  }

  bool isRounded(ValueId value) const { return m_region.rounding().rounds(value) != DataType::Undefined; }

  /// Collects what changes the scores before Softmax, in order: the terms, and between them the roundings that the
  /// contract demands. Returns false if the kernel cannot evaluate a condition.
  bool takeTerms() {
    for (const NodeId id : m_bound.beforeSoftmax) {
      const auto term = std::ranges::find(m_bound.terms, id, &BoundAttention::Term::node);
      if (term != m_bound.terms.end() && !takeTerm(*term)) return false;
      const DataType type = m_region.rounding().rounds(m_region.node(id).outputs[0]);
      if (type == DataType::Undefined) continue;
      m_pattern.terms.push_back({.kind = type == DataType::F16 ? ScoreTerm::Kind::ToHalf : ScoreTerm::Kind::ToBrain});
    }
    return true;
  }

  /// Finds the type to which the probabilities are rounded before the second product reads them. Returns whether there
  /// is at most one such type.
  bool takeWeights() {
    std::set<DataType> types{m_region.rounding().made(m_bound.weights),
                             m_region.rounding().made(m_bound.probabilities)};
    for (const NodeId id : m_bound.behindSoftmax)
      for (const ValueId value : m_region.node(id).outputs)
        if (value.valid()) types.insert(m_region.rounding().made(value));
    types.erase(DataType::Undefined);
    if (!types.empty()) m_pattern.weights = *types.begin();
    return types.size() <= 1;
  }

  bool takeTerm(const BoundAttention::Term& bound) {
    if (bound.condition.valid() && m_region.typeOf(bound.condition) != DataType::Bool) return false;
    Term term{.kind = scoreTermKind(bound.kind),
              .condition = bound.condition,
              .scores = m_region.node(bound.node).outputs[0]};
    if (const std::optional<float> number = m_region.numberReadBy(bound.node, bound.operand)) {
      term.number = *number;
    } else {
      term.operand = bound.operand;
    }
    m_pattern.terms.push_back(std::move(term));
    return true;
  }

  bool takeGuard() {
    if (!m_bound.guard.valid()) return true;
    m_pattern.guard = m_region.numberReadBy(m_bound.guard, m_bound.guardNumber);
    return m_pattern.guard.has_value();
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
  const BoundAttention& m_bound;
  float m_scale = 1;  ///< the product of the scales of query and key
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
