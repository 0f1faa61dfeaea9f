#include "ops/open_extents.h"

#include <algorithm>
#include <utility>

#include "ir/expression_bounds.h"

namespace fusescope {
namespace {

using Function = ExtentExpression::Function;

constexpr std::size_t kBehindInputs = 1'000'000;  // rank of symbols that are not in inputs

/// Returns whether it is not known yet which of several extents it is, so that nothing can be said about it.
bool isUnsettled(const ExtentExpression& expression) {
  return expression.contains(Function::Same) || expression.contains(Function::Broadcast);
}

}  // namespace

OpenExtents::OpenExtents(const std::vector<ExtentCondition>& conditions, bool assume) : m_assume(assume) {
  for (const ExtentCondition& condition : conditions) {
    const auto anyRank = [](const std::string& symbol) { return std::optional<std::size_t>(symbol.size()); };
    fusescope::assume(condition, m_facts, anyRank);
    m_conditions.push_back(condition);
  }
}

void OpenExtents::addInput(const TensorType& type) {
  for (const Dim& dim : type.shape.dims)
    if (isExtentSymbol(dim.symbol)) m_ranks.try_emplace(dim.symbol, m_ranks.size());
}

Dim OpenExtents::ownSymbol(const std::string& name, std::size_t axis) const {
  std::string symbol = extentSymbol(name + "#" + std::to_string(axis));
  // A body may have a value with the same name as one outside.
  while (m_ranks.contains(symbol)) symbol = extentSymbol(symbol + "#");
  return Dim::named(std::move(symbol));
}

bool OpenExtents::hasLearnedSinceLastCall() {
  return std::exchange(m_learned, false);
}

bool OpenExtents::isOfInputs(const ExtentExpression& expression) const {
  return std::ranges::all_of(expression.symbols(), [&](const auto& symbol) { return m_ranks.contains(symbol); });
}

void OpenExtents::add(ExtentCondition condition, const std::string& node, bool demanded) {
  condition.node = node;
  condition.demanded = demanded;
  m_conditions.push_back(std::move(condition));
  m_settled.clear();
  m_learned = true;
}

void OpenExtents::makeEqual(const ExtentExpression& a, const ExtentExpression& b, const std::string& node,
                            bool demanded) {
  const auto rankOf = [&](const std::string& symbol) -> std::optional<std::size_t> {
    const auto rank = m_ranks.find(symbol);
    if (rank != m_ranks.end()) return rank->second;
    if (!demanded) return std::nullopt;
    return m_others.try_emplace(symbol, kBehindInputs + m_others.size()).first->second;
  };
  const bool ofInputs = isOfInputs((a - b).under(m_facts));
  auto condition = assumeEqual(a, b, m_facts, rankOf);
  if (!condition) return;
  if (m_assume && ofInputs) return add(std::move(*condition), node, demanded);
  m_settled.clear();
  m_learned = true;
}

bool OpenExtents::isRecorded(const std::string& left, const std::string& right) const {
  return std::ranges::any_of(m_conditions,
                             [&](const ExtentCondition& known) { return known.left == left && known.right == right; });
}

/// If a demand is about a single symbol, it is recorded in terms of this symbol: "33 <= h" for "3 <= ceil(h/16)".
void OpenExtents::demandOrder(ExtentExpression left, ExtentExpression right, const std::string& node) {
  const auto bound = left.number() ? leastThatReaches(right, *left.number()) : std::nullopt;
  if (bound) {
    left = *bound;
    right = ExtentExpression::symbol(right.symbols().front());
  }
  m_facts.ordered.emplace_back(left, right);
  add({.left = left.text(), .right = right.text(), .node = {}, .relation = ExtentCondition::Relation::AtMost}, node,
      true);
}

void OpenExtents::demand(const ExtentDemand& demanded, const std::string& node) {
  if (m_frozen || !m_assume || (demanded.left.known() && demanded.right.known())) return;
  const ExtentExpression left = ExtentExpression::of(demanded.left).under(m_facts);
  const ExtentExpression right = ExtentExpression::of(demanded.right).under(m_facts);
  const ExtentExpression difference = right - left;
  if (!difference.valid() || difference.number() || !isOfInputs(difference) || isUnsettled(difference)) return;
  if (!demanded.atMost) {
    const std::size_t before = m_conditions.size();
    makeEqual(left, right, node, true);
    if (m_conditions.size() == before && !isRecorded(left.text(), right.text()))
      add({.left = left.text(), .right = right.text(), .node = {}}, node, true);
  } else if (!isAtMost(left, right, m_facts, 1)) {
    demandOrder(left, right, node);
  }
}

/// Makes the arguments of each same() equal and, under conditions, those of each broadcast().
void OpenExtents::learn(const ExtentExpression& expression, const std::string& node) {
  for (const Function function : {Function::Same, Function::Broadcast}) {
    const bool demanded = function == Function::Same;
    if (m_frozen || (!demanded && !m_assume)) continue;
    for (const auto& arguments : expression.argumentsOf(function))
      for (std::size_t i = 1; i < arguments.size(); ++i) makeEqual(arguments[0], arguments[i], node, demanded);
  }
}

Dim OpenExtents::simplified(const Dim& computed, const std::string& node) {
  if (computed.known() || computed.symbol.empty()) return computed;
  if (m_facts.empty() && isExtentSymbol(computed.symbol)) return computed;
  const auto found = m_settled.find(computed.symbol);
  if (found != m_settled.end()) return found->second;
  const ExtentExpression expression = ExtentExpression::of(computed);
  learn(expression, node);
  Dim result = expression.under(m_facts).dim();
  m_settled.emplace(computed.symbol, result);
  return result;
}

}  // namespace fusescope
