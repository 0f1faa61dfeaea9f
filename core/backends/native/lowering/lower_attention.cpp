#include <algorithm>
#include <utility>

#include "backends/native/kernels/attention_batches.h"
#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/lowering/attention_pattern.h"
#include "backends/native/lowering/emitter.h"

namespace fusescope::native {
namespace {

/// The tensors that an attention reads and writes, at given extents.
struct AttentionViews {
  struct Term {
    ScoreTerm::Kind kind;
    float number = 0;
    std::optional<View> condition, operand;
    SmallDims scores;  ///< as AttentionPattern::Term::scores; empty if the term has no operands
  };
  View query, key, value, result;
  SmallDims scores;
  std::vector<Term> terms;
  std::optional<float> guard;
  DataType weights = DataType::Undefined;  ///< as AttentionCall::weights
};

/// Reads operands, and divides the batches of all of them into the same axes.
class OperandReader {
 public:
  explicit OperandReader(SmallDims batches) : m_batches(std::move(batches)) {}

  /// Broadcasts `view` to the batches `own`, and divides the batches of all operands at least as finely as they are
  /// divided in the memory of `view`. Returns false if that is impossible.
  bool take(View& view, const SmallDims& own, const SmallDims& matrix) {
    if (!view.broadcast(withMatrix(own, matrix))) return false;
    const auto common = commonAxes(m_batches, view.inMemory(0, own.size()));
    if (!common) return false;
    m_batches = *common;
    return true;
  }
  std::optional<Ref> read(View& view) const {
    return view.reshape(withMatrix(m_batches, view.dims())) ? view.ref() : std::nullopt;
  }

 private:
  SmallDims m_batches;
};

/// Returns nothing if strides cannot describe what the attention reads or writes.
std::optional<AttentionCall> attentionCallOf(AttentionViews views) {
  std::vector<SmallDims> termScores;
  for (const auto& term : views.terms)
    if (!term.scores.empty()) termScores.push_back(term.scores);
  const auto batches = batchesFor(views.scores, termScores, views.result.dims());
  if (!batches) return std::nullopt;
  OperandReader reader(batches->all);
  const SmallDims& scores = batches->of(batches->scores);
  if (!reader.take(views.query, scores, views.query.dims()) || !reader.take(views.key, scores, views.key.dims()) ||
      !reader.take(views.value, batches->result, views.value.dims()) ||
      !reader.take(views.result, batches->result, views.result.dims()))
    return std::nullopt;
  for (auto& term : views.terms)
    for (auto* operand : {&term.condition, &term.operand})
      if (*operand && !reader.take(**operand, batches->of(batchesOf(term.scores)), term.scores)) return std::nullopt;
  auto query = reader.read(views.query), key = reader.read(views.key), value = reader.read(views.value),
       result = reader.read(views.result);
  if (!query || !key || !value || !result || query->strides.back() != 1 || result->strides.back() != 1)
    return std::nullopt;
  AttentionCall call{.query = std::move(*query),
                     .key = std::move(*key),
                     .value = std::move(*value),
                     .result = std::move(*result),
                     .guard = views.guard,
                     .weights = views.weights};
  for (auto& term : views.terms) {
    ScoreTerm& prepared = call.terms.emplace_back(ScoreTerm{.kind = term.kind, .number = term.number});
    if (term.condition && !(prepared.condition = reader.read(*term.condition))) return std::nullopt;
    if (term.operand && !(prepared.operand = reader.read(*term.operand))) return std::nullopt;
  }
  return call;
}

Result<AttentionViews> attentionViews(Context& context, const AttentionPattern& pattern) {
  AttentionViews views{.query = TRY(context.seenView(pattern.query)),
                       .key = TRY(context.seenView(pattern.key)),
                       .value = TRY(context.seenView(pattern.value)),
                       .result = TRY(context.allocateView(pattern.result)),
                       .scores = context.dimsOf(pattern.scores),
                       .guard = pattern.guard,
                       .weights = pattern.weights};
  for (const AttentionPattern::Term& term : pattern.terms) {
    auto& seen = views.terms.emplace_back(AttentionViews::Term{.kind = term.kind, .number = term.number});
    if (term.scores.valid()) seen.scores = context.dimsOf(term.scores);
    if (term.condition.valid()) seen.condition = TRY(context.view(term.condition));
    if (term.operand.valid()) seen.operand = TRY(context.view(term.operand));
  }
  return views;
}

/// Returns a function that makes the call for other extents, or nothing if an operand is calculated inside of the
/// kernel.
std::optional<AttentionAt> attentionAt(const Context& context, const AttentionPattern& pattern) {
  struct Term {
    ScoreTerm::Kind kind;
    float number;
    std::optional<ViewOrigin> condition, operand;
    std::optional<ExtentSource> scores;
  };
  /// The values that the calls for all extents share.
  struct Origins {
    std::vector<Term> terms;
    ViewOrigin query, key, value, result;
    ExtentSource scores;
    std::optional<float> guard;
    DataType weights;
  };
  const auto fromTerm = [&](ValueId value) {
    // Narrow floats would have to be widened first, which works only for fixed extents.
    const auto known = context.origin(value);
    return known && !isNarrow(known->operand.dtype) ? known : std::nullopt;
  };
  std::vector<Term> terms;
  for (const AttentionPattern::Term& term : pattern.terms) {
    Term& known = terms.emplace_back(Term{.kind = term.kind, .number = term.number});
    if (term.scores.valid()) known.scores = context.extentsOf(term.scores);
    if (term.condition.valid() && !(known.condition = fromTerm(term.condition))) return std::nullopt;
    if (term.operand.valid() && !(known.operand = fromTerm(term.operand))) return std::nullopt;
  }
  const auto query = context.origin(pattern.query), key = context.origin(pattern.key),
             value = context.origin(pattern.value), result = context.origin(pattern.result);
  if (!query || !key || !value || !result) return std::nullopt;
  return [origins = std::make_shared<const Origins>(Origins{.terms = std::move(terms),
                                                            .query = *query,
                                                            .key = *key,
                                                            .value = *value,
                                                            .result = *result,
                                                            .scores = context.extentsOf(pattern.scores),
                                                            .guard = pattern.guard,
                                                            .weights = pattern.weights})](
             const RegionExtents& extents) -> std::optional<AttentionCall> {
    auto query = origins->query.at(extents), key = origins->key.at(extents), value = origins->value.at(extents),
         result = origins->result.at(extents);
    if (!query || !key || !value || !result) return std::nullopt;
    AttentionViews views{.query = std::move(*query),
                         .key = std::move(*key),
                         .value = std::move(*value),
                         .result = std::move(*result),
                         .scores = origins->scores.in(extents),
                         .guard = origins->guard,
                         .weights = origins->weights};
    for (const Term& term : origins->terms) {
      auto& seen = views.terms.emplace_back(AttentionViews::Term{.kind = term.kind, .number = term.number});
      if (term.scores) seen.scores = term.scores->in(extents);
      if (term.condition && !(seen.condition = term.condition->at(extents))) return std::nullopt;
      if (term.operand && !(seen.operand = term.operand->at(extents))) return std::nullopt;
    }
    return attentionCallOf(std::move(views));
  };
}

// If the result is only transposed, the kernel writes the output of the transposition directly, through its strides. If
// something is calculated inside of the kernel, or strides cannot describe a tensor, the kernel is for these extents
// only.
Status emitAttentionPattern(Context& context, const AttentionPattern& pattern) {
  AttentionViews views = TRY(attentionViews(context, pattern));
  auto call = attentionCallOf(views);
  AttentionAt at;
  if (call) at = attentionAt(context, pattern).value_or(AttentionAt());
  for (auto [seen, value] : {std::pair(&views.query, pattern.query), std::pair(&views.key, pattern.key),
                             std::pair(&views.value, pattern.value)}) {
    if (call) break;
    *seen = View(TRY(context.plain(TRY(context.seen(value)))));
    call = attentionCallOf(views);
  }
  if (!call)
    return Diagnostic{.message = "its operands cannot be read as matrices", .where = {.node = context.fused().name}};
  std::vector<BufferIndex> reads = {call->query.buffer, call->key.buffer, call->value.buffer};
  for (const ScoreTerm& term : call->terms)
    for (const std::optional<Ref>* operand : {&term.condition, &term.operand})
      if (*operand) reads.push_back((*operand)->buffer);
  const BufferIndex written = call->result.buffer;
  context.chose({.kind = kAttentionKernel});
  context.program().addStep(makeAttentionStep(std::move(*call), context.threads(), std::move(at)), reads, {written});
  return Done{};
}

/// Turns the constants by which an attention scales and masks into numbers of its kernel. The kernel can then run even
/// if such a constant is read at several types (for example one scale for query and key, one of which is pinned),
/// provided that nothing else differs.
void foldNumbers(Context& context) {
  if (!bindsAttention(context.fused())) return;
  std::set<ValueId> numbers;
  for (const auto& [value, tensor] : context.request().constants)
    if (tensor.count() == 1) numbers.insert(value);
  Rounding before = context.exchangeRounding(Rounding(context.request(), numbers));
  const auto attention = context.rounding().differs() ? std::nullopt : boundAttention(context);
  const auto folded = [&](NodeId id) {
    const auto isNumber = [&](ValueId input) { return numbers.contains(input); };
    return attention->nodes.contains(id) || attention->scales.contains(id) ||
           std::ranges::none_of(context.node(id).inputs, isNumber);
  };
  if (!attention || !std::ranges::all_of(context.fused().nodes, folded)) context.exchangeRounding(std::move(before));
}

void claimAttention(Context& context, Units& units) {
  const auto pattern = boundAttention(context);
  if (!pattern) return;
  for (const auto& [node, scaled] : pattern->scales) {
    const auto pass = [result = context.node(node).outputs[0], scaled = scaled](Context& at) -> Status {
      TRY(at.flushFor({scaled}));
      return at.defineSame(result, scaled);
    };
    units.add(node, pass);
  }
  const auto emit = [pattern = *pattern](Context& at) -> Status {
    TRY(at.flush());
    return emitAttentionPattern(at, pattern);
  };
  units.add(pattern->last, emit, pattern->nodes);
}

}  // namespace

extern const Emitter kAttentionEmitter{.name = "attention", .settle = foldNumbers, .claim = claimAttention};

}  // namespace fusescope::native
