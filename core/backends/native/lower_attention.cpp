#include <algorithm>

#include "backends/native/lowering.h"
#include "planning/fusion/match.h"
#include "planning/kinds.h"

namespace fusescope::native {
namespace {

Dims batchesOf(const Dims& dims) {
  return {dims.begin(), dims.end() - 2};
}

/// `batches` with the last two axes of `matrix`.
Dims withMatrix(Dims batches, const Dims& matrix) {
  batches.insert(batches.end(), matrix.end() - 2, matrix.end());
  return batches;
}

bool sameMatrix(const Dims& a, const Dims& b) {
  return a.size() >= 2 && b.size() >= 2 && std::equal(a.end() - 2, a.end(), b.end() - 2);
}

/// Whether each axis of `coarse` is a run of axes of `fine`.
bool refines(const Dims& fine, const Dims& coarse) {
  std::size_t at = 0;
  for (const std::int64_t extent : coarse) {
    std::int64_t count = 1;
    while (count != extent && at < fine.size()) count *= fine[at++];
    if (count != extent) return false;
  }
  return productOf(fine, at) == 1;
}

}  // namespace

/// Reads the bindings of an attention. What the kernel cannot take: operands of terms that are themselves calculated
/// from the scores, products without elements, batches that are no views of one another.
class Lowering::AttentionReader {
 public:
  explicit AttentionReader(const Lowering& lowering) : m_lowering(lowering), m_bindings(lowering.m_fused.bindings) {}

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
    for (const Binding& binding : bindingsOf(m_bindings, roles::kTerm))
      if (!takeTerm(binding)) return std::nullopt;
    const Binding* values = findBinding(m_bindings, roles::kValues);
    if (values == nullptr || !takeGuard()) return std::nullopt;
    m_pattern.value = values->value;
    m_pattern.weights = m_lowering.m_rounding.made(m_lowering.node(product->node).input(0));
    m_pattern.last = product->node;
    m_pattern.result = product->value;
    return extentsFit(m_lowering.dimsOf(scores->value)) ? std::optional(std::move(m_pattern)) : std::nullopt;
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
      if (m_lowering.consumers(at).size() != 1 || m_lowering.isFusedOutput(at)) return;
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

  /// What a Mul or a Div scales by a constant number, leaving its extents.
  std::optional<ValueId> scaledOperand(const Node& node) const {
    if (!node.is("Mul") && !node.is("Div")) return std::nullopt;
    for (const ValueId operand : {node.input(0), node.input(1)}) {
      if (m_lowering.constantNumber(operand) || !factorOf(node, operand)) continue;
      if (m_lowering.dimsOf(operand) == m_lowering.dimsOf(node.outputs[0])) return operand;
    }
    return std::nullopt;
  }

  /// By what a Mul or a Div by a constant number changes `scaled`.
  std::optional<float> factorOf(const Node& node, ValueId scaled) const {
    const std::optional<float> number = m_lowering.constantNumber(otherOperand(node, scaled));
    if (!number || node.is("Mul")) return number;
    return node.is("Div") && node.input(0) == scaled ? std::optional(1.0f / *number) : std::nullopt;
  }

  bool takeTerm(const Binding& binding) {
    const Node& node = m_lowering.node(binding.node);
    std::optional<Term> term = node.is("Where") ? choice(node, binding.value) : change(node, binding.value);
    if (!term || !isKnown(term->condition) || !isKnown(term->operand)) return false;
    term->dims = m_lowering.dimsOf(node.outputs[0]);
    m_pattern.terms.push_back(std::move(*term));
    return true;
  }

  std::optional<Term> change(const Node& node, ValueId scores) const {
    using Kind = ScoreTerm::Kind;
    static const std::map<std::string, Kind, std::less<>> kKinds = {
        {"Mul", Kind::Multiply}, {"Add", Kind::Add}, {"Sub", Kind::Subtract}, {"Div", Kind::Divide}};
    const auto kind = kKinds.find(node.op);
    const bool isLeft = node.input(0) == scores;
    if (kind == kKinds.end() || (!isLeft && (node.is("Sub") || node.is("Div")))) return std::nullopt;
    Term term{.kind = kind->second};
    return withOperand(term, node.input(isLeft ? 1 : 0));
  }

  std::optional<Term> choice(const Node& where, ValueId scores) const {
    const bool keepsTrue = where.input(1) == scores;
    if (m_lowering.typeOf(where.input(0)) != DataType::Bool) return std::nullopt;
    Term term{.kind = keepsTrue ? ScoreTerm::Kind::WhereFalse : ScoreTerm::Kind::WhereTrue,
              .condition = where.input(0)};
    return withOperand(term, where.input(keepsTrue ? 2 : 1));
  }

  Term withOperand(Term term, ValueId operand) const {
    if (const std::optional<float> number = m_lowering.constantNumber(operand)) {
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
      m_pattern.guard = m_lowering.constantNumber(node.input(1));
      if (!m_pattern.guard) return false;
    }
    return true;
  }

  /// Matrices with at least one element each. Their batches are the same ones, seen through views as other axes, unless
  /// those of the scores broadcast to those of the values.
  bool extentsFit(const Dims& scores) {
    const Dims result = m_lowering.dimsOf(m_pattern.result), query = m_lowering.dimsOf(m_pattern.query);
    const bool matrices = query.size() >= 2 && m_lowering.dimsOf(m_pattern.key).size() >= 2 &&
                          m_lowering.dimsOf(m_pattern.value).size() >= 2 && scores.size() >= 2 && result.size() >= 2;
    if (!matrices || elementCount(scores).value_or(0) <= 0 || elementCount(result).value_or(0) <= 0) return false;
    if (query.back() <= 0) return false;
    std::vector<Dims> views = {batchesOf(scores), batchesOf(result)};
    for (const Term& term : m_pattern.terms) {
      if (term.dims.empty()) continue;
      if (!sameMatrix(term.dims, scores)) return false;
      views.push_back(batchesOf(term.dims));
    }
    m_pattern.scores = views[0];
    m_pattern.repeats = productOf(views[0], 0) != productOf(views[1], 0);
    m_pattern.batches = views[1];
    if (m_pattern.repeats)
      return std::all_of(views.begin() + 2, views.end(), [&](const Dims& view) { return view == views[0]; });
    for (const Dims& view : views)
      if (view.size() > m_pattern.batches.size()) m_pattern.batches = view;
    return std::ranges::all_of(views, [&](const Dims& view) { return refines(m_pattern.batches, view); });
  }

  const Lowering& m_lowering;
  const Bindings& m_bindings;
  float m_scale = 1;  ///< of query and key together
  AttentionPattern m_pattern;
};

std::optional<AttentionPattern> Lowering::boundAttention() const {
  if (!hasBoundAttention(m_fused)) return std::nullopt;
  return AttentionReader(*this).read();
}

bool Lowering::hasBoundAttention(const FusedNode& fused) {
  return fused.kind == kinds::kAttention && findBinding(fused.bindings, roles::kScores) != nullptr;
}

// Where the result is only transposed, the transposition's output is written, through its strides.
Status Lowering::lowerAttention(const AttentionPattern& pattern) {
  const Dims result = batchesOf(dimsOf(pattern.result));
  const Dims scores = pattern.repeats ? result : pattern.scores;
  const auto spread = [&](ValueId value, const Dims& batches, const Dims& matrix) -> Result<Ref> {
    const Ref held = broadcast(TRY(strided(TRY(ref(value)))), withMatrix(batches, matrix));
    return batches == pattern.batches ? held : TRY(reshaped(held, withMatrix(pattern.batches, matrix)));
  };
  AttentionCall call{.guard = pattern.guard, .weights = pattern.weights};
  call.query = TRY(spread(pattern.query, scores, dimsOf(pattern.query)));
  if (call.query.strides.back() != 1) call.query = TRY(plain(call.query));
  call.key = TRY(spread(pattern.key, scores, dimsOf(pattern.key)));
  call.value = TRY(spread(pattern.value, result, dimsOf(pattern.value)));
  std::vector<BufferIndex> reads = {call.query.buffer, call.key.buffer, call.value.buffer};
  for (const AttentionPattern::Term& term : pattern.terms) {
    ScoreTerm prepared{.kind = term.kind, .number = term.number};
    for (const auto& [value, target] :
         {std::pair(term.condition, &prepared.condition), std::pair(term.operand, &prepared.operand)}) {
      if (!value.valid()) continue;
      *target = TRY(spread(value, pattern.repeats ? result : batchesOf(term.dims), term.dims));
      reads.push_back((*target)->buffer);
    }
    call.terms.push_back(std::move(prepared));
  }
  const Ref target = allocateTransposed(pattern.result);
  define(pattern.result, target);
  call.result = result == pattern.batches ? target : TRY(reshaped(target, withMatrix(pattern.batches, target.dims)));
  m_implementations.push_back("attention");
  m_program.addStep(makeAttentionStep(std::move(call), m_threads), reads, {target.buffer});
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
