#include <algorithm>

#include "backends/native/attention_step.h"
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

/// Reads the bindings of an attention. What the kernel cannot take: terms that are no scale, sum or choice, and
/// operands of terms that are themselves calculated from the scores.
class Lowering::AttentionReader {
 public:
  explicit AttentionReader(const Lowering& lowering) : m_lowering(lowering), m_bindings(lowering.m_fused.bindings) {}

  std::optional<AttentionPattern> read() {
    const Binding* scores = findBinding(m_bindings, roles::kScores);
    const Binding* product = findBinding(m_bindings, roles::kProduct);
    if (!isInside(scores) || !isInside(product) || !takeBetween(*scores, *product)) return std::nullopt;
    takeScaled(roles::kQuery, roles::kQueryScale, m_pattern.query);
    takeScaled(roles::kKey, roles::kKeyScale, m_pattern.key);
    if (m_scale != 1) m_pattern.terms.push_back({.kind = Term::Kind::Scale, .number = m_scale});
    for (const Binding& binding : bindingsOf(m_bindings, roles::kTerm))
      if (!takeTerm(binding)) return std::nullopt;
    const Binding* values = findBinding(m_bindings, roles::kValues);
    if (values == nullptr || !takeGuard()) return std::nullopt;
    m_pattern.value = values->value;
    m_pattern.last = product->node;
    m_pattern.result = product->value;
    return extentsFit(m_lowering.dimsOf(scores->value)) ? std::optional(std::move(m_pattern)) : std::nullopt;
  }

 private:
  using Term = AttentionPattern::Term;

  bool isInside(const Binding* binding) const {
    return binding != nullptr && m_lowering.m_members.contains(binding->node);
  }

  /// The nodes on the ways from the first product to the second: what becomes one step. Nobody else may need what they
  /// make.
  bool takeBetween(const Binding& scores, const Binding& product) {
    std::set<NodeId> behind{scores.node}, before{product.node};
    const std::vector<NodeId>& order = m_lowering.m_fused.nodes;
    for (const NodeId id : order)
      for (const ValueId input : m_lowering.node(id).inputs)
        if (const auto from = m_lowering.producer(input); from && behind.contains(*from)) behind.insert(id);
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      if (!before.contains(*id)) continue;
      for (const ValueId input : m_lowering.node(*id).inputs)
        if (const auto from = m_lowering.producer(input)) before.insert(*from);
    }
    std::set_intersection(behind.begin(), behind.end(), before.begin(), before.end(),
                          std::inserter(m_pattern.nodes, m_pattern.nodes.end()));
    return std::ranges::all_of(m_pattern.nodes, [&](NodeId id) {
      return id == product.node || std::ranges::none_of(m_lowering.node(id).outputs, [&](ValueId value) {
        return value.valid() && m_lowering.isFusedOutput(value);
      });
    });
  }

  /// An operand of the first product as it is before it is scaled; its scale becomes the first one of the scores.
  void takeScaled(std::string_view role, std::string_view scaleRole, ValueId& operand) {
    operand = findBinding(m_bindings, role)->value;
    const Binding* scaling = findBinding(m_bindings, scaleRole);
    if (!isInside(scaling)) return;
    const Node& node = m_lowering.node(scaling->node);
    const std::optional<float> factor = factorOf(node, scaling->value);
    if (!factor || m_lowering.dimsOf(scaling->value) != m_lowering.dimsOf(node.outputs[0])) {
      operand = node.outputs[0];
      return;
    }
    m_scale *= *factor;
    m_pattern.nodes.insert(node.id);
    operand = scaling->value;
  }

  /// By what a Mul or a Div by a constant number changes `scaled`.
  std::optional<float> factorOf(const Node& node, ValueId scaled) const {
    const std::optional<float> number = m_lowering.constantNumber(otherOperand(node, scaled));
    if (!number || node.is("Mul")) return number;
    return node.is("Div") && node.input(0) == scaled ? std::optional(1.0f / *number) : std::nullopt;
  }

  bool takeTerm(const Binding& binding) {
    const Node& node = m_lowering.node(binding.node);
    if (isView(m_lowering.m_graph, node)) return true;  // other extents for the same scores
    std::optional<Term> term;
    if (node.is("Where")) {
      term = choice(node, binding.value);
    } else if (node.is("Add")) {
      term = Term{.kind = Term::Kind::Mask, .operand = node.input(node.input(0) == binding.value ? 1 : 0)};
    } else if (const std::optional<float> factor = factorOf(node, binding.value)) {
      term = Term{.kind = Term::Kind::Scale, .number = *factor};
    }
    if (!term || !isKnown(term->operand) || !isKnown(term->alternative)) return false;
    term->dims = m_lowering.dimsOf(node.outputs[0]);
    m_pattern.terms.push_back(std::move(*term));
    return true;
  }

  std::optional<Term> choice(const Node& where, ValueId scores) const {
    const bool keepsTrue = where.input(1) == scores;
    const ValueId instead = where.input(keepsTrue ? 2 : 1);
    if (m_lowering.typeOf(where.input(0)) != DataType::Bool) return std::nullopt;
    Term term{.kind = keepsTrue ? Term::Kind::WhereFalse : Term::Kind::WhereTrue, .operand = where.input(0)};
    if (const std::optional<float> number = m_lowering.constantNumber(instead)) {
      term.number = *number;
    } else {
      term.alternative = instead;
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

  /// Matrices with at least one element each, in batches that the terms may split further.
  bool extentsFit(const Dims& scores) {
    const Dims result = m_lowering.dimsOf(m_pattern.result), query = m_lowering.dimsOf(m_pattern.query);
    const bool matrices = query.size() >= 2 && m_lowering.dimsOf(m_pattern.key).size() >= 2 &&
                          m_lowering.dimsOf(m_pattern.value).size() >= 2 && scores.size() >= 2;
    if (!matrices || elementCount(scores).value_or(0) <= 0 || elementCount(result).value_or(0) <= 0) return false;
    if (query.back() <= 0 || result.size() < scores.size()) return false;
    m_pattern.batches = batchesOf(result);
    for (const Term& term : m_pattern.terms) {
      if (term.dims.empty()) continue;
      if (!sameMatrix(term.dims, scores)) return false;
      if (term.dims.size() > m_pattern.batches.size() + 2) m_pattern.batches = batchesOf(term.dims);
    }
    const bool split = m_pattern.batches != batchesOf(result);
    return !split || (batchesOf(scores) == batchesOf(result) && refines(m_pattern.batches, batchesOf(result)));
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
  const Dims batches = batchesOf(dimsOf(pattern.result));
  const auto spread = [&](ValueId value, const Dims& over) -> Result<Ref> {
    const Dims dims = withMatrix(pattern.batches, over);
    const Ref held = broadcast(TRY(strided(TRY(ref(value)))), over);
    return over == dims ? held : TRY(reshaped(held, dims));
  };
  AttentionCall call{.guard = pattern.guard};
  call.query = TRY(spread(pattern.query, withMatrix(batches, dimsOf(pattern.query))));
  if (call.query.strides.back() != 1) call.query = TRY(plain(call.query));
  call.key = TRY(spread(pattern.key, withMatrix(batches, dimsOf(pattern.key))));
  call.value = TRY(spread(pattern.value, withMatrix(batches, dimsOf(pattern.value))));
  std::vector<BufferIndex> reads = {call.query.buffer, call.key.buffer, call.value.buffer};
  for (const AttentionPattern::Term& term : pattern.terms) {
    ScoreTerm prepared{.kind = static_cast<ScoreTerm::Kind>(term.kind), .number = term.number};
    for (const auto& [value, target] :
         {std::pair(term.operand, &prepared.mask), std::pair(term.alternative, &prepared.alternative)}) {
      if (!value.valid()) continue;
      *target = TRY(spread(value, pattern.batches == batches ? withMatrix(batches, term.dims) : term.dims));
      reads.push_back((*target)->buffer);
    }
    call.terms.push_back(std::move(prepared));
  }
  const Ref target = allocateTransposed(pattern.result);
  define(pattern.result, target);
  call.result = TRY(reshaped(target, withMatrix(pattern.batches, target.dims)));
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
