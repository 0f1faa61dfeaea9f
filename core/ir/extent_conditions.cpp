#include "ir/extent_conditions.h"

#include <algorithm>
#include <numeric>

namespace fusescope {
namespace {

constexpr std::int64_t kMostDivisor = 4096;

/// Records that `symbol` equals `value`, also in the facts that are known already.
bool replace(const std::string& symbol, const ExtentExpression& value, ExtentFacts& facts) {
  ExtentFacts changed = facts;
  const auto multiple = changed.multiples.find(symbol);
  if (multiple != changed.multiples.end()) {
    // The value that replaces the symbol must be the multiple that the symbol was assumed to be.
    const std::int64_t n = multiple->second;
    changed.multiples.erase(multiple);
    if (const auto other = value.onlySymbol()) {
      std::int64_t& known = changed.multiples.try_emplace(*other, 1).first->second;
      known = std::lcm(known, n);
    } else if (floorDivided(value, n, &changed) * n != value) {
      return false;
    }
  }
  ExtentFacts step;
  step.equals.emplace(symbol, value);
  step.multiples = changed.multiples;
  for (auto& [other, expression] : changed.equals) {
    expression = expression.under(step);
    if (!expression.valid()) return false;
  }
  for (auto& [least, most] : changed.ordered) {
    least = least.under(step);
    most = most.under(step);
    if (!least.valid() || !most.valid()) return false;
  }
  changed.equals.emplace(symbol, value);
  facts = std::move(changed);
  return true;
}

/// Returns the symbol in which `difference` is linear and that occurs nowhere else in it; if there are several, one
/// with the highest rank.
std::optional<std::string> solvableSymbol(const ExtentExpression& difference, const SymbolRank& rankOf) {
  std::optional<std::string> best;
  std::size_t highest = 0;
  for (const std::string& symbol : difference.symbols()) {
    const std::size_t rank = rankOf(symbol).value();
    const auto alone = ExtentExpression::symbol(symbol);
    const bool plus = !std::ranges::count((difference - alone).symbols(), symbol);
    const bool minus = !std::ranges::count((difference + alone).symbols(), symbol);
    if ((!plus && !minus) || (best && rank < highest)) continue;
    best = symbol;
    highest = rank;
  }
  return best;
}

std::optional<ExtentCondition> asSymbol(const ExtentExpression& difference, ExtentFacts& facts,
                                        const SymbolRank& rankOf) {
  const auto symbol = solvableSymbol(difference, rankOf);
  if (!symbol) return std::nullopt;
  const auto alone = ExtentExpression::symbol(*symbol);
  ExtentExpression value = alone - difference;
  if (std::ranges::count(value.symbols(), *symbol)) value = difference + alone;
  if (!value.valid() || (value.number() && *value.number() < 0) || !replace(*symbol, value, facts)) return std::nullopt;
  return ExtentCondition{.left = *symbol, .right = value.text(), .node = {}};
}

std::optional<ExtentCondition> asMultiple(const ExtentExpression& difference, ExtentFacts& facts) {
  for (const std::string& symbol : difference.symbols()) {
    const std::int64_t all = difference.denominatorOf(symbol);
    if (all > kMostDivisor) continue;
    for (std::int64_t n = 2; n <= all; ++n) {
      if (all % n != 0) continue;
      ExtentFacts assumed = facts;
      std::int64_t& known = assumed.multiples.try_emplace(symbol, 1).first->second;
      known = std::lcm(known, n);
      if (difference.under(assumed).number() != 0) continue;
      facts = std::move(assumed);
      return ExtentCondition{
          .left = symbol + " % " + std::to_string(facts.multiples.at(symbol)), .right = "0", .node = {}};
    }
  }
  return std::nullopt;
}

/// Assumes that a quotient is a number.
std::optional<ExtentCondition> asQuotient(const ExtentExpression& difference, ExtentFacts& facts) {
  for (const auto& arguments : difference.argumentsOf(ExtentExpression::Function::FloorDivision)) {
    const ExtentExpression quotient = floorDivided(arguments[0], arguments[1]);
    const auto above = (difference - quotient).number(), below = (difference + quotient).number();
    if ((!above || *above > 0) && (!below || *below < 0)) continue;
    const std::int64_t value = above && *above <= 0 ? -*above : *below;
    facts.equals.emplace(quotient.text(), value);
    return ExtentCondition{.left = quotient.text(), .right = std::to_string(value), .node = {}};
  }
  return std::nullopt;
}

/// Assumes that one of the two arguments of a minimum or maximum is at most the other.
std::optional<ExtentCondition> asOrder(const ExtentExpression& difference, ExtentFacts& facts) {
  for (const auto function : {ExtentExpression::Function::Minimum, ExtentExpression::Function::Maximum}) {
    for (const auto& arguments : difference.argumentsOf(function)) {
      if (arguments.size() != 2) continue;
      for (std::size_t least = 0; least < 2; ++least) {
        const ExtentExpression &a = arguments[least], &b = arguments[1 - least];
        ExtentFacts assumed = facts;
        assumed.ordered.emplace_back(a, b);
        if (difference.under(assumed).number() != 0) continue;
        facts = std::move(assumed);
        return ExtentCondition{
            .left = a.text(), .right = b.text(), .node = {}, .relation = ExtentCondition::Relation::AtMost};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<bool> holds(const ExtentCondition& condition, const ExtentExpression::ValueOf& valueOf) {
  const auto left = ExtentExpression::parse(condition.left), right = ExtentExpression::parse(condition.right);
  if (!left || !right) return std::nullopt;
  const auto a = left->at(valueOf), b = right->at(valueOf);
  if (!a || !b) return std::nullopt;
  return condition.relation == ExtentCondition::Relation::Equal ? *a == *b : *a <= *b;
}

std::optional<ExtentCondition> assumeEqual(const ExtentExpression& a, const ExtentExpression& b, ExtentFacts& facts,
                                           const SymbolRank& rankOf) {
  const ExtentExpression difference = (a - b).under(facts);
  if (!difference.valid() || difference.number()) return std::nullopt;
  const std::vector<std::string> symbols = difference.symbols();
  if (!std::ranges::all_of(symbols, [&](const auto& symbol) { return rankOf(symbol).has_value(); }))
    return std::nullopt;
  if (auto condition = asSymbol(difference, facts, rankOf)) return condition;
  if (auto condition = asMultiple(difference, facts)) return condition;
  if (auto condition = asQuotient(difference, facts)) return condition;
  return asOrder(difference, facts);
}

void assume(const ExtentCondition& condition, ExtentFacts& facts, const SymbolRank& rankOf) {
  const auto left = ExtentExpression::parse(condition.left), right = ExtentExpression::parse(condition.right);
  if (!left || !right) return;
  if (condition.relation == ExtentCondition::Relation::Equal)
    assumeEqual(*left, *right, facts, rankOf);
  else
    facts.ordered.emplace_back(left->under(facts), right->under(facts));
}

}  // namespace fusescope
