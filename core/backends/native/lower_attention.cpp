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

// Backwards from the softmax to the first product, taking scales and masks on the way; forwards over the guard to the
// second product. Views and transpositions of the operands are strides by the time the pattern is lowered.
std::optional<AttentionPattern> Lowering::matchAttention(const Node& softmax) const {
  AttentionPattern pattern;
  const Dims scores = dimsOf(softmax.input(0));
  const std::int64_t rank = static_cast<std::int64_t>(scores.size());
  const std::int64_t axis = softmax.intAttribute("axis", -1);
  if (rank < 2 || rank > 6 || (axis != -1 && axis != rank - 1) || typeOf(softmax.input(0)) != DataType::F32)
    return std::nullopt;
  pattern.nodes.push_back(softmax.id);
  const auto number = [this](ValueId value) -> std::optional<float> {
    const Tensor* tensor = value.valid() ? constant(value) : nullptr;
    if (tensor == nullptr || tensor->count() != 1 || !tensor->hasData()) return std::nullopt;
    return static_cast<float>(tensor->asDouble(0));
  };
  const std::function<bool(ValueId)> leadsToProduct = [&](ValueId value) {
    const std::optional<NodeId> from = producer(value);
    if (!from || !onlyConsumer(value) || dimsOf(value) != scores) return false;
    const Node& at = node(*from);
    if (at.is("MatMul")) return true;
    if (at.is("Mul") || at.is("Div") || at.is("Add")) return leadsToProduct(at.input(0)) || leadsToProduct(at.input(1));
    return at.is("Where") && (leadsToProduct(at.input(1)) || leadsToProduct(at.input(2)));
  };
  using Term = AttentionPattern::Term;
  ValueId at = softmax.input(0);
  while (leadsToProduct(at) && !node(*producer(at)).is("MatMul")) {
    const Node& change = node(*producer(at));
    pattern.nodes.push_back(change.id);
    Term term{.kind = Term::Kind::Scale};
    if (change.is("Where")) {
      const bool kept = leadsToProduct(change.input(1));
      const std::optional<float> value = number(change.input(kept ? 2 : 1));
      if (!value || typeOf(change.input(0)) != DataType::Bool) return std::nullopt;
      term = {kept ? Term::Kind::WhereFalse : Term::Kind::WhereTrue, change.input(0), *value};
      at = change.input(kept ? 1 : 2);
    } else {
      const std::size_t side = leadsToProduct(change.input(0)) ? 0 : 1;
      const ValueId other = change.input(1 - side);
      if (change.is("Add")) {
        if (typeOf(other) != DataType::F32) return std::nullopt;
        term = {Term::Kind::Mask, other, 0};
      } else {
        const std::optional<float> factor = number(other);
        if (!factor || (change.is("Div") && side == 1)) return std::nullopt;
        term.number = change.is("Div") ? 1.0f / *factor : *factor;
      }
      at = change.input(side);
    }
    pattern.terms.insert(pattern.terms.begin(), term);
  }
  const std::optional<NodeId> first = producer(at);
  if (!first || !node(*first).is("MatMul") || !onlyConsumer(at)) return std::nullopt;
  pattern.nodes.push_back(*first);
  float scale = 1;
  const auto withoutScale = [&](ValueId value) {
    const std::optional<NodeId> from = producer(value);
    if (!from || onlyConsumer(value) != first || !(node(*from).is("Mul") || node(*from).is("Div"))) return value;
    const bool right = number(node(*from).input(1)).has_value();
    const std::optional<float> factor = number(node(*from).input(right ? 1 : 0));
    if (!factor || (node(*from).is("Div") && !right) || dimsOf(node(*from).input(right ? 0 : 1)) != dimsOf(value))
      return value;
    scale *= node(*from).is("Div") ? 1.0f / *factor : *factor;
    pattern.nodes.push_back(*from);
    return node(*from).input(right ? 0 : 1);
  };
  pattern.query = withoutScale(node(*first).input(0));
  pattern.key = withoutScale(node(*first).input(1));
  if (scale != 1) pattern.terms.insert(pattern.terms.begin(), Term{.kind = Term::Kind::Scale, .number = scale});

  ValueId weights = softmax.outputs[0];
  if (isFusedOutput(weights)) return std::nullopt;
  const std::vector<NodeId> users = consumers(weights);
  if (users.size() == 2 && node(users[0]).is("IsNaN") && node(users[1]).is("Where")) {
    const Node& where = node(users[1]);
    const bool guards = where.input(0) == node(users[0]).outputs[0] && onlyConsumer(where.input(0)) == where.id &&
                        number(where.input(1)) == 0.0f && where.input(2) == weights;
    if (!guards) return std::nullopt;
    pattern.nanGuard = true;
    pattern.nodes.insert(pattern.nodes.end(), users.begin(), users.end());
    weights = where.outputs[0];
  }
  const std::optional<NodeId> second = onlyConsumer(weights);
  if (!second || !node(*second).is("MatMul") || node(*second).input(0) != weights) return std::nullopt;
  pattern.value = node(*second).input(1);
  pattern.nodes.push_back(*second);
  pattern.last = *second;
  pattern.result = node(*second).outputs[0];
  const bool sameRank = static_cast<std::int64_t>(dimsOf(pattern.result).size()) == rank;
  const bool matrices =
      dimsOf(pattern.query).size() >= 2 && dimsOf(pattern.key).size() >= 2 && dimsOf(pattern.value).size() >= 2;
  const bool whole = elementCount(scores).value_or(0) > 0 && elementCount(dimsOf(pattern.result)).value_or(0) > 0 &&
                     dimsOf(pattern.query).back() > 0;
  const Dims resultDims = dimsOf(pattern.result);
  const bool sameBatches = sameRank && std::equal(scores.begin(), scores.end() - 2, resultDims.begin());
  if (!matrices || !whole || !sameBatches) return std::nullopt;
  return pattern;
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
