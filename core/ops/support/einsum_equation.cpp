#include "ops/support/einsum_equation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "ir/graph.h"
#include "ops/support/diagnostics.h"

namespace fusescope::ops {
namespace {

Diagnostic wrongEquation(const std::string& message) {
  return attributeProblem("equation", message);
}

/// Expands the term of an operand of `rank` axes.
Result<std::string> expandedTerm(const std::string& term, std::size_t rank) {
  const std::size_t dots = term.find("...");
  if (dots == std::string::npos) {
    if (term.size() != rank)
      return wrongEquation(fmt::format("'{}' names {} axes, but its operand has rank {}", term, term.size(), rank));
    return term;
  }
  if (term.size() - 3 > rank || rank - (term.size() - 3) > 10)
    return wrongEquation(fmt::format("'{}' does not fit an operand of rank {}", term, rank));
  std::string hidden;
  for (std::size_t i = rank - (term.size() - 3); i-- > 0;) hidden += static_cast<char>('0' + i);
  return term.substr(0, dots) + hidden + term.substr(dots + 3);
}

}  // namespace

Result<EinsumEquation> einsumEquation(const Node& node, const std::vector<std::size_t>& ranks) {
  std::string text = node.textAttribute("equation", "");
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  std::vector<std::string> terms{""};
  for (const char c : left) {
    if (c == ',')
      terms.emplace_back();
    else if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '.')
      terms.back() += c;
    else
      return wrongEquation(fmt::format("contains '{}', which is not allowed in an equation", c));
  }
  if (terms.size() != ranks.size())
    return wrongEquation(fmt::format("names {} operands, but the node has {} inputs", terms.size(), ranks.size()));
  EinsumEquation equation;
  std::string hidden;
  std::map<char, int> uses;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    equation.inputs.push_back(TRY(expandedTerm(terms[i], ranks[i])));
    for (const char label : equation.inputs.back()) ++uses[label];
  }
  for (char label = '9'; label >= '0'; --label)
    if (uses.contains(label)) hidden += label;
  if (arrow == std::string::npos) {
    equation.output = hidden;
    for (const auto& [label, count] : uses)
      if (count == 1 && std::isalpha(static_cast<unsigned char>(label)) != 0) equation.output += label;
    return equation;
  }
  equation.output = text.substr(arrow + 2);
  if (const std::size_t dots = equation.output.find("..."); dots != std::string::npos)
    equation.output.replace(dots, 3, hidden);
  for (const char label : equation.output)
    if (!uses.contains(label) || std::ranges::count(equation.output, label) != 1)
      return wrongEquation(
          fmt::format("label '{}' of the output must occur once in the output and at least once in an operand", label));
  return equation;
}

bool hasUpperCase(const std::string& equation) {
  return std::ranges::any_of(equation, [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; });
}

std::optional<std::string> inLowerCase(std::string equation) {
  std::erase(equation, ' ');
  std::map<char, int> uses;
  for (const char c : equation.substr(0, equation.find("->")))
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) ++uses[c];
  if (equation.find("->") == std::string::npos) {
    std::string output = equation.find("...") == std::string::npos ? "" : "...";
    for (const auto& [letter, count] : uses)
      if (count == 1) output += letter;
    equation += "->" + output;
  }
  std::map<char, char> renamed;
  std::set<char> taken;
  const auto take = [&](char letter, char as) {
    if (!renamed.contains(letter) && taken.insert(as).second) renamed[letter] = as;
  };
  for (const auto& [letter, count] : uses)
    if (std::islower(static_cast<unsigned char>(letter)) != 0) take(letter, letter);
  for (const auto& [letter, count] : uses)
    take(letter, static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
  for (const auto& [letter, count] : uses)
    for (char as = 'a'; as <= 'z'; ++as) take(letter, as);
  if (renamed.size() < uses.size()) return std::nullopt;
  for (char& c : equation)
    if (const auto found = renamed.find(c); found != renamed.end()) c = found->second;
  return equation;
}

}  // namespace fusescope::ops
