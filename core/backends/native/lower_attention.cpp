#include <algorithm>
#include <cmath>

#include "backends/native/attention_step.h"
#include "backends/native/lowering.h"

namespace fusescope::native {
namespace {

/// The batch axes of `scores` with the last two axes of `matrix`.
Dims batchesOf(const Dims& scores, const Dims& matrix) {
  Dims dims(scores.begin(), scores.end() - 2);
  dims.insert(dims.end(), matrix.end() - 2, matrix.end());
  return dims;
}

}  // namespace

/// One attempt to recognise attention around a softmax: backwards from there to the first product, taking scales and
/// masks on the way; forwards over the guard to the second product. Views and transpositions of the operands are
/// strides by the time the pattern is lowered.
class Lowering::AttentionMatcher {
 public:
  AttentionMatcher(const Lowering& lowering, const Node& softmax)
      : m_lowering(lowering), m_softmax(softmax), m_scores(lowering.dimsOf(softmax.input(0))) {}

  std::optional<AttentionPattern> match() {
    if (!takeSoftmax() || !takeTerms()) return std::nullopt;
    takeFirstProduct();
    if (!takeNanGuard() || !takeSecondProduct() || !extentsFit()) return std::nullopt;
    return std::move(m_pattern);
  }

 private:
  using Term = AttentionPattern::Term;

  /// It must normalise the rows of the scores, which are f32.
  bool takeSoftmax() {
    const auto rank = static_cast<std::int64_t>(m_scores.size());
    const std::int64_t axis = m_softmax.intAttribute("axis", -1);
    if (rank < 2 || rank > 6 || (axis != -1 && axis != rank - 1)) return false;
    m_pattern.nodes.push_back(m_softmax.id);
    return m_lowering.typeOf(m_softmax.input(0)) == DataType::F32;
  }

  /// What is done to the scores between the first product and the softmax.
  bool takeTerms() {
    ValueId at = m_softmax.input(0);
    if (!leadsToProduct(at)) return false;
    while (!m_lowering.node(*m_lowering.producer(at)).is("MatMul")) {
      const Node& change = m_lowering.node(*m_lowering.producer(at));
      const std::size_t scores = scoresOperand(change);
      const std::optional<Term> term = termOf(change, scores);
      if (!term) return false;
      m_pattern.nodes.push_back(change.id);
      m_pattern.terms.insert(m_pattern.terms.begin(), *term);
      at = change.input(scores);
    }
    m_first = *m_lowering.producer(at);
    return true;
  }

  /// Whether `value` is the first product, or comes from it by changes that keep the extents of the scores.
  bool leadsToProduct(ValueId value) const {
    const std::optional<NodeId> from = m_lowering.producer(value);
    if (!from || !m_lowering.onlyConsumer(value) || m_lowering.dimsOf(value) != m_scores) return false;
    const Node& at = m_lowering.node(*from);
    if (at.is("MatMul")) return true;
    if (at.is("Mul") || at.is("Div") || at.is("Add")) return leadsToProduct(at.input(0)) || leadsToProduct(at.input(1));
    return at.is("Where") && (leadsToProduct(at.input(1)) || leadsToProduct(at.input(2)));
  }

  /// Which operand of `change`, whose result leads to the product, are the scores.
  std::size_t scoresOperand(const Node& change) const {
    const std::size_t first = change.is("Where") ? 1 : 0;
    return leadsToProduct(change.input(first)) ? first : first + 1;
  }

  std::optional<Term> termOf(const Node& change, std::size_t scores) const {
    if (change.is("Where")) return choice(change, scores);
    if (change.is("Add")) return mask(change.input(1 - scores));
    const std::optional<float> factor = factorOf(change, scores);
    return factor ? std::optional(Term{.kind = Term::Kind::Scale, .number = *factor}) : std::nullopt;
  }

  std::optional<Term> choice(const Node& where, std::size_t scores) const {
    const bool keepsTrue = scores == 1;
    const std::optional<float> instead = m_lowering.constantNumber(where.input(keepsTrue ? 2 : 1));
    if (!instead || m_lowering.typeOf(where.input(0)) != DataType::Bool) return std::nullopt;
    return Term{keepsTrue ? Term::Kind::WhereFalse : Term::Kind::WhereTrue, where.input(0), *instead};
  }

  std::optional<Term> mask(ValueId addend) const {
    if (m_lowering.typeOf(addend) != DataType::F32) return std::nullopt;
    return Term{.kind = Term::Kind::Mask, .operand = addend};
  }

  /// By what a Mul or a Div scales its operand `scaled`; nothing unless it is by a constant number.
  std::optional<float> factorOf(const Node& node, std::size_t scaled) const {
    const std::optional<float> number = m_lowering.constantNumber(node.input(1 - scaled));
    if (!number || node.is("Mul")) return number;
    return scaled == 0 ? std::optional(1.0f / *number) : std::nullopt;
  }

  /// Query and key as they are before they are scaled; their scales become the first one of the scores.
  void takeFirstProduct() {
    const Node& product = m_lowering.node(m_first);
    m_pattern.nodes.push_back(m_first);
    float scale = 1;
    m_pattern.query = withoutScale(product.input(0), scale);
    m_pattern.key = withoutScale(product.input(1), scale);
    if (scale != 1) m_pattern.terms.insert(m_pattern.terms.begin(), Term{.kind = Term::Kind::Scale, .number = scale});
  }

  /// What `operand` of the first product is before it is scaled, if it is; `scale` is multiplied by that.
  ValueId withoutScale(ValueId operand, float& scale) {
    const std::optional<NodeId> from = m_lowering.producer(operand);
    if (!from || m_lowering.onlyConsumer(operand) != m_first) return operand;
    const Node& scaling = m_lowering.node(*from);
    if (!scaling.is("Mul") && !scaling.is("Div")) return operand;
    const std::size_t scaled = m_lowering.constantNumber(scaling.input(1)) ? 0 : 1;
    const std::optional<float> factor = factorOf(scaling, scaled);
    if (!factor || m_lowering.dimsOf(scaling.input(scaled)) != m_lowering.dimsOf(operand)) return operand;
    scale *= *factor;
    m_pattern.nodes.push_back(*from);
    return scaling.input(scaled);
  }

  /// Where(IsNaN(weights), 0, weights), if two nodes like these follow. Nobody else may need the weights.
  bool takeNanGuard() {
    m_weights = m_softmax.outputs[0];
    if (m_lowering.isFusedOutput(m_weights)) return false;
    const std::vector<NodeId> users = m_lowering.consumers(m_weights);
    if (users.size() != 2 || !m_lowering.node(users[0]).is("IsNaN") || !m_lowering.node(users[1]).is("Where"))
      return true;
    const Node& where = m_lowering.node(users[1]);
    const ValueId isNan = m_lowering.node(users[0]).outputs[0];
    const bool guards = where.input(0) == isNan && m_lowering.onlyConsumer(isNan) == where.id &&
                        m_lowering.constantNumber(where.input(1)) == 0.0f && where.input(2) == m_weights;
    if (!guards) return false;
    m_pattern.nanGuard = true;
    m_pattern.nodes.insert(m_pattern.nodes.end(), users.begin(), users.end());
    m_weights = where.outputs[0];
    return true;
  }

  /// weights · value.
  bool takeSecondProduct() {
    const std::optional<NodeId> second = m_lowering.onlyConsumer(m_weights);
    if (!second || !m_lowering.node(*second).is("MatMul") || m_lowering.node(*second).input(0) != m_weights)
      return false;
    m_pattern.value = m_lowering.node(*second).input(1);
    m_pattern.nodes.push_back(*second);
    m_pattern.last = *second;
    m_pattern.result = m_lowering.node(*second).outputs[0];
    return true;
  }

  /// Products of matrices, in the batches of the scores, with at least one element in each.
  bool extentsFit() const {
    const Dims query = m_lowering.dimsOf(m_pattern.query), result = m_lowering.dimsOf(m_pattern.result);
    const bool matrices = query.size() >= 2 && m_lowering.dimsOf(m_pattern.key).size() >= 2 &&
                          m_lowering.dimsOf(m_pattern.value).size() >= 2;
    if (!matrices || result.size() != m_scores.size()) return false;
    const bool sameBatches = std::equal(m_scores.begin(), m_scores.end() - 2, result.begin());
    const bool anyElements =
        elementCount(m_scores).value_or(0) > 0 && elementCount(result).value_or(0) > 0 && query.back() > 0;
    return sameBatches && anyElements;
  }

  const Lowering& m_lowering;
  const Node& m_softmax;
  const Dims m_scores;  ///< their extents
  NodeId m_first;       ///< the first product
  ValueId m_weights;    ///< what the second product multiplies the values by
  AttentionPattern m_pattern;
};

std::optional<AttentionPattern> Lowering::matchAttention(const Node& softmax) const {
  return AttentionMatcher(*this, softmax).match();
}

// Where the result is only transposed, the transposition's output is written, through its strides.
Status Lowering::lowerAttention(const AttentionPattern& pattern) {
  const Node& softmax = node(pattern.nodes[0]);
  const Dims scores = dimsOf(softmax.input(0));
  const auto operand = [&](ValueId value) -> Result<Ref> {
    const Ref held = TRY(strided(TRY(ref(value))));
    return broadcast(held, batchesOf(scores, held.dims));
  };
  AttentionCall call{.nanGuard = pattern.nanGuard};
  call.query = TRY(operand(pattern.query));
  if (call.query.strides.back() != 1) call.query = TRY(plain(call.query));
  call.key = TRY(operand(pattern.key));
  call.value = TRY(operand(pattern.value));
  std::vector<BufferIndex> reads = {call.query.buffer, call.key.buffer, call.value.buffer};
  for (const AttentionPattern::Term& term : pattern.terms) {
    ScoreTerm prepared{.kind = static_cast<ScoreTerm::Kind>(term.kind), .number = term.number};
    if (term.operand.valid()) {
      prepared.mask = broadcast(TRY(strided(TRY(ref(term.operand)))), scores);
      reads.push_back(prepared.mask->buffer);
    }
    call.terms.push_back(std::move(prepared));
  }
  call.result = allocateTransposed(pattern.result);
  define(pattern.result, call.result);
  const BufferIndex written = call.result.buffer;
  m_implementations.push_back("attention");
  m_program.addStep(makeAttentionStep(std::move(call), m_threads), reads, {written});
  return Done{};
}

Ref Lowering::allocateTransposed(ValueId value) {
  const std::optional<NodeId> next = onlyConsumer(value);
  if (!next || !node(*next).is("Transpose")) return allocate(value);
  const Node& transpose = node(*next);
  const std::vector<std::int64_t> order = transpose.intsAttribute("perm");
  if (order.empty() || order.back() != static_cast<std::int64_t>(order.size()) - 1) return allocate(value);
  const Ref moved = allocate(transpose.outputs[0]);
  Ref ref = moved;
  for (std::size_t i = 0; i < order.size(); ++i) {
    ref.dims[static_cast<std::size_t>(order[i])] = moved.dims[i];
    ref.strides[static_cast<std::size_t>(order[i])] = moved.strides[i];
  }
  return ref;
}

}  // namespace fusescope::native
