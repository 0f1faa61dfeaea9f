#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "backends/native/attention_batches.h"
#include "backends/native/lowering.h"
#include "backends/native/narrow_floats.h"
#include "planning/fusion/match.h"
#include "planning/kinds.h"

namespace fusescope::native {

/// Reads the bindings of an attention. What the kernel cannot take: operands of terms that are themselves calculated
/// from the scores, products without elements, batches that are no views of one another.
class Lowering::AttentionReader {
 public:
  explicit AttentionReader(Lowering& lowering) : m_lowering(lowering), m_bindings(lowering.m_fused.bindings) {}

  std::optional<AttentionPattern> read() {
    const Binding* scores = findBinding(m_bindings, roles::kScores);
    const Binding* product = findBinding(m_bindings, roles::kProduct);
    if (!isInside(scores) || !isInside(product)) return std::nullopt;
    m_pattern.nodes = m_lowering.between(scores->value, product->value);
    if (m_pattern.nodes.empty()) return std::nullopt;
    m_pattern.nodes.insert(scores->node);
    if (!m_lowering.leavesOnly(m_pattern.nodes, product->value)) return std::nullopt;
    takeScaled(roles::kQuery, roles::kQueryScale, m_pattern.query);
    takeScaled(roles::kKey, roles::kKeyScale, m_pattern.key);
    if (m_scale != 1) m_pattern.terms.push_back({.kind = ScoreTerm::Kind::Multiply, .number = m_scale});
    const Binding* softmax = findBinding(m_bindings, roles::kSoftmax);
    const Binding* values = findBinding(m_bindings, roles::kValues);
    if (values == nullptr || !isInside(softmax) || !takeTerms(softmax->node) || !takeGuard()) return std::nullopt;
    m_pattern.value = values->value;
    if (!takeWeights(softmax->value, m_lowering.node(product->node).input(0))) return std::nullopt;
    m_pattern.last = product->node;
    m_pattern.scores = scores->value;
    m_pattern.result = product->value;
    return extentsFit() ? std::optional(std::move(m_pattern)) : std::nullopt;
  }

 private:
  using Term = AttentionPattern::Term;

  bool isInside(const Binding* binding) const {
    return binding != nullptr && m_lowering.m_members.contains(binding->node);
  }

  /// An operand of the first product as it is before it is scaled; its scale becomes the first one of the scores.
  /// Scales further up are left out too: what reads them reads what they scale.
  void takeScaled(std::string_view role, std::string_view scaleRole, ValueId& operand) {
    operand = findBinding(m_bindings, role)->value;
    const Binding* scaling = findBinding(m_bindings, scaleRole);
    if (isInside(scaling)) operand = m_lowering.node(scaling->node).outputs[0];
    ValueId at = operand;
    for (std::optional<NodeId> from = m_lowering.producer(at); from; from = m_lowering.producer(at)) {
      const Node& node = m_lowering.node(*from);
      if (m_lowering.consumers(at).size() != 1 || m_lowering.isFusedOutput(at) || isRounded(at)) return;
      if (const auto scaled = scaledOperand(node)) {
        m_scale *= *factorOf(node, *scaled);
        m_pattern.scales.emplace(node.id, *scaled);
        at = *scaled;
      } else if (isView(m_lowering.m_graph, node) || node.is("Transpose") || isFloatCast(m_lowering.m_graph, node)) {
        at = node.input(0);
      } else {
        return;
      }
    }
  }

  /// A constant of one element as `reader` reads it.
  std::optional<float> numberReadBy(const Node& reader, ValueId value) {
    m_lowering.m_reader = reader.id;
    return m_lowering.constantNumber(value);
  }

  /// What a Mul or a Div scales by a constant number, leaving its extents.
  std::optional<ValueId> scaledOperand(const Node& node) {
    if (!node.is("Mul") && !node.is("Div")) return std::nullopt;
    for (const ValueId operand : {node.input(0), node.input(1)}) {
      if (numberReadBy(node, operand) || !factorOf(node, operand)) continue;
      if (m_lowering.dimsOf(operand) == m_lowering.dimsOf(node.outputs[0])) return operand;
    }
    return std::nullopt;
  }

  /// By what a Mul or a Div by a constant number changes `scaled`.
  std::optional<float> factorOf(const Node& node, ValueId scaled) {
    const std::optional<float> number = numberReadBy(node, otherOperand(node, scaled));
    if (!number || node.is("Mul")) return number;
    return node.is("Div") && node.input(0) == scaled ? std::optional(1.0f / *number) : std::nullopt;
  }

  bool isRounded(ValueId value) const { return m_lowering.m_rounding.rounds(value) != DataType::Undefined; }

  /// What changes the scores before `softmax`, in order: terms, and between them what the contract rounds.
  bool takeTerms(NodeId softmax) {
    const std::vector<Binding> terms = bindingsOf(m_bindings, roles::kTerm);
    for (const NodeId id : m_lowering.m_fused.nodes) {
      if (id == softmax) return true;
      if (!m_pattern.nodes.contains(id)) continue;
      const auto term = std::ranges::find(terms, id, &Binding::node);
      if (term != terms.end() && !takeTerm(*term)) return false;
      const DataType type = m_lowering.m_rounding.rounds(m_lowering.node(id).outputs[0]);
      if (type == DataType::Undefined) continue;
      m_pattern.terms.push_back({.kind = type == DataType::F16 ? ScoreTerm::Kind::ToHalf : ScoreTerm::Kind::ToBrain});
    }
    return false;
  }

  /// To what the probabilities are rounded before the second product reads them as `read`: at most once.
  bool takeWeights(ValueId probabilities, ValueId read) {
    std::set<DataType> types{m_lowering.m_rounding.made(read), m_lowering.m_rounding.made(probabilities)};
    for (const NodeId id : m_lowering.between(probabilities, read))
      for (const ValueId value : m_lowering.node(id).outputs)
        if (value.valid()) types.insert(m_lowering.m_rounding.made(value));
    types.erase(DataType::Undefined);
    if (!types.empty()) m_pattern.weights = *types.begin();
    return types.size() <= 1;
  }

  bool takeTerm(const Binding& binding) {
    const Node& node = m_lowering.node(binding.node);
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
    if (m_lowering.typeOf(where.input(0)) != DataType::Bool) return std::nullopt;
    Term term{.kind = keepsTrue ? ScoreTerm::Kind::WhereFalse : ScoreTerm::Kind::WhereTrue,
              .condition = where.input(0)};
    return withOperand(term, where, keepsTrue ? 2 : 1);
  }

  Term withOperand(Term term, const Node& node, std::size_t input) {
    const ValueId operand = node.input(input);
    if (const std::optional<float> number = numberReadBy(node, operand)) {
      term.number = *number;
    } else {
      term.operand = operand;
    }
    return term;
  }

  /// Whether an operand of a term is there before the scores are.
  bool isKnown(ValueId operand) const {
    const std::optional<NodeId> from = m_lowering.producer(operand);
    return !from || !m_pattern.nodes.contains(*from);
  }

  bool takeGuard() {
    for (const Binding& binding : bindingsOf(m_bindings, roles::kGuard)) {
      const Node& node = m_lowering.node(binding.node);
      if (!node.is("Where")) continue;
      m_pattern.guard = numberReadBy(node, node.input(1));
      if (!m_pattern.guard) return false;
    }
    return true;
  }

  bool extentsFit() const {
    const auto isMatrix = [&](ValueId value) { return m_lowering.dimsOf(value).size() >= 2; };
    if (!isMatrix(m_pattern.query) || !isMatrix(m_pattern.key) || !isMatrix(m_pattern.value)) return false;
    if (m_lowering.dimsOf(m_pattern.query).back() <= 0) return false;
    std::vector<SmallDims> terms;
    for (const Term& term : m_pattern.terms)
      if (term.scores.valid()) terms.push_back(m_lowering.dimsOf(term.scores));
    return batchesFor(m_lowering.dimsOf(m_pattern.scores), terms, m_lowering.dimsOf(m_pattern.result)).has_value();
  }

  Lowering& m_lowering;
  const Bindings& m_bindings;
  float m_scale = 1;  ///< of query and key together
  AttentionPattern m_pattern;
};

std::optional<AttentionPattern> Lowering::boundAttention() {
  if (!hasBoundAttention(m_fused)) return std::nullopt;
  return AttentionReader(*this).read();
}

/// What an attention scales and masks by becomes numbers of its kernel. Where nothing but such a constant is read at
/// several types (one scale for query and key, one of them pinned), the kernel runs all the same.
void Lowering::foldNumbers() {
  if (!hasBoundAttention(m_fused)) return;
  std::set<ValueId> numbers;
  for (const auto& [value, tensor] : m_request.constants)
    if (tensor.count() == 1) numbers.insert(value);
  Rounding before = std::exchange(m_rounding, Rounding(m_request, numbers));
  const auto attention = m_rounding.differs() ? std::nullopt : boundAttention();
  const auto folded = [&](NodeId id) {
    const auto isNumber = [&](ValueId input) { return numbers.contains(input); };
    return attention->nodes.contains(id) || attention->scales.contains(id) ||
           std::ranges::none_of(node(id).inputs, isNumber);
  };
  if (!attention || !std::ranges::all_of(m_fused.nodes, folded)) m_rounding = std::move(before);
}

bool Lowering::hasBoundAttention(const FusedNode& fused) {
  return fused.kind == kinds::kAttention && findBinding(fused.bindings, roles::kScores) != nullptr;
}

/// What an attention reads and writes, at some extents.
struct AttentionViews {
  struct Term {
    ScoreTerm::Kind kind;
    float number = 0;
    std::optional<View> condition, operand;
    SmallDims scores;  ///< as AttentionPattern::Term::scores; none: it has no operands
  };
  View query, key, value, result;
  SmallDims scores;
  std::vector<Term> terms;
  std::optional<float> guard;
  DataType weights = DataType::Undefined;  ///< as AttentionCall::weights
};

namespace {

/// Reads operands whose batches are seen as the same axes.
class OperandReader {
 public:
  explicit OperandReader(SmallDims batches) : m_batches(std::move(batches)) {}

  /// Broadcasts `view` to the batches `own`, and makes those of all operands as fine as it has them in memory. False if
  /// that cannot be.
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

/// Nothing where strides cannot say what it reads or writes.
std::optional<AttentionCall> callOf(AttentionViews views) {
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

}  // namespace

Result<AttentionViews> Lowering::attentionViews(const AttentionPattern& pattern) {
  AttentionViews views{.query = TRY(seenView(pattern.query)),
                       .key = TRY(seenView(pattern.key)),
                       .value = TRY(seenView(pattern.value)),
                       .result = TRY(allocateTransposed(pattern.result)),
                       .scores = dimsOf(pattern.scores),
                       .guard = pattern.guard,
                       .weights = pattern.weights};
  for (const AttentionPattern::Term& term : pattern.terms) {
    auto& seen = views.terms.emplace_back(AttentionViews::Term{.kind = term.kind, .number = term.number});
    if (term.scores.valid()) seen.scores = dimsOf(term.scores);
    if (term.condition.valid()) seen.condition = TRY(view(term.condition));
    if (term.operand.valid()) seen.operand = TRY(view(term.operand));
  }
  return views;
}

std::optional<AttentionAt> Lowering::attentionAt(const AttentionPattern& pattern) const {
  struct Term {
    ScoreTerm::Kind kind;
    float number;
    std::optional<ViewOrigin> condition, operand;
    std::optional<ExtentsOf> scores;
  };
  /// Shared by the calls at all extents.
  struct Origins {
    std::vector<Term> terms;
    ViewOrigin query, key, value, result;
    ExtentsOf scores;
    std::optional<float> guard;
    DataType weights;
  };
  const auto fromTerm = [this](ValueId value) {
    const auto known = origin(value);  // narrow floats are widened first, which takes no extents
    return known && !isNarrow(known->operand.dtype) ? known : std::nullopt;
  };
  std::vector<Term> terms;
  for (const AttentionPattern::Term& term : pattern.terms) {
    Term& known = terms.emplace_back(Term{.kind = term.kind, .number = term.number});
    if (term.scores.valid()) known.scores = extentsOf(term.scores);
    if (term.condition.valid() && !(known.condition = fromTerm(term.condition))) return std::nullopt;
    if (term.operand.valid() && !(known.operand = fromTerm(term.operand))) return std::nullopt;
  }
  const auto query = origin(pattern.query), key = origin(pattern.key), value = origin(pattern.value),
             result = origin(pattern.result);
  if (!query || !key || !value || !result) return std::nullopt;
  return [origins = std::make_shared<const Origins>(Origins{.terms = std::move(terms),
                                                            .query = *query,
                                                            .key = *key,
                                                            .value = *value,
                                                            .result = *result,
                                                            .scores = extentsOf(pattern.scores),
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
    return callOf(std::move(views));
  };
}

// Where the result is only transposed, the transposition's output is written, through its strides. What is calculated
// inside, or lies in memory as no strides can say, is for these extents alone.
Status Lowering::lowerAttention(const AttentionPattern& pattern) {
  AttentionViews views = TRY(attentionViews(pattern));
  auto call = callOf(views);
  AttentionAt at;
  if (call) at = attentionAt(pattern).value_or(AttentionAt());
  for (auto [seen, value] : {std::pair(&views.query, pattern.query), std::pair(&views.key, pattern.key),
                             std::pair(&views.value, pattern.value)}) {
    if (call) break;
    *seen = View(TRY(plain(TRY(this->seen(value)))));
    call = callOf(views);
  }
  if (!call) return Diagnostic{.message = "its operands cannot be read as matrices", .where = {.node = m_fused.name}};
  std::vector<BufferIndex> reads = {call->query.buffer, call->key.buffer, call->value.buffer};
  for (const ScoreTerm& term : call->terms)
    for (const std::optional<Ref>* operand : {&term.condition, &term.operand})
      if (*operand) reads.push_back((*operand)->buffer);
  const BufferIndex written = call->result.buffer;
  m_implementations.push_back("attention");
  m_program.addStep(makeAttentionStep(std::move(*call), m_threads, std::move(at)), reads, {written});
  return Done{};
}

Result<View> Lowering::allocateTransposed(ValueId value) {
  const std::optional<NodeId> next = onlyConsumer(value);
  std::vector<std::int64_t> order;
  if (next && node(*next).is("Transpose")) order = node(*next).intsAttribute("perm");
  if (order.empty() || order.back() != static_cast<std::int64_t>(order.size()) - 1) {
    const Ref target = allocate(value, {}, storedType(value));
    define(value, target);
    return View(target);
  }
  const ValueId moved = node(*next).outputs[0];
  define(moved, allocate(moved, {}, storedType(moved)));
  std::vector<std::int64_t> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  TRY(defineLook(value, moved, [back](View& view, const RegionExtents&) { return view.transpose(back); }));
  return m_views.at(value);
}

}  // namespace fusescope::native
