#include "ops/open_extents.h"

#include <algorithm>
#include <utility>

namespace fusescope {
namespace {

using Function = ExtentExpression::Function;

constexpr std::size_t kBehindInputs = 1'000'000;  // rank of symbols that are no input's

}  // namespace

OpenExtents::OpenExtents(const std::vector<ExtentCondition>& conditions, bool assume) : m_assume(assume) {
  for (const ExtentCondition& condition : conditions) {
    const auto left = ExtentExpression::parse(condition.left), right = ExtentExpression::parse(condition.right);
    if (!left || !right) continue;
    const auto anyRank = [](const std::string& symbol) { return std::optional<std::size_t>(symbol.size()); };
    assumeEqual(*left, *right, m_facts, anyRank);
    m_conditions.push_back(condition);
  }
}

void OpenExtents::addInput(const TensorType& type) {
  for (const Dim& dim : type.shape.dims)
    if (isExtentSymbol(dim.symbol)) m_ranks.try_emplace(dim.symbol, m_ranks.size());
}

Dim OpenExtents::ownSymbol(const std::string& name, std::size_t axis) const {
  std::string symbol = extentSymbol(name + "#" + std::to_string(axis));
  // A body may have a value that is called like one outside.
  while (m_ranks.contains(symbol)) symbol = extentSymbol(symbol + "#");
  return Dim::named(std::move(symbol));
}

bool OpenExtents::takeLearned() {
  return std::exchange(m_learned, false);
}

bool OpenExtents::makeEqual(const ExtentExpression& a, const ExtentExpression& b, const std::string& node,
                            bool demanded) {
  const auto rankOf = [&](const std::string& symbol) -> std::optional<std::size_t> {
    const auto rank = m_ranks.find(symbol);
    if (rank != m_ranks.end()) return rank->second;
    if (!demanded) return std::nullopt;
    return m_others.try_emplace(symbol, kBehindInputs + m_others.size()).first->second;
  };
  auto condition = assumeEqual(a, b, m_facts, rankOf);
  if (!condition) return false;
  condition->node = node;
  if (!demanded) m_conditions.push_back(std::move(*condition));
  m_settled.clear();
  m_learned = true;
  return true;
}

/// Makes the arguments of each same() and, under conditions, of each broadcast() equal.
void OpenExtents::learn(const ExtentExpression& expression, const std::string& node) {
  for (const Function function : {Function::Same, Function::Broadcast}) {
    const bool demanded = function == Function::Same;
    if (m_frozen || (!demanded && !m_assume)) continue;
    for (const auto& arguments : expression.argumentsOf(function))
      for (std::size_t i = 1; i < arguments.size(); ++i) makeEqual(arguments[0], arguments[i], node, demanded);
  }
}

Dim OpenExtents::settled(const Dim& computed, const std::string& node) {
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
