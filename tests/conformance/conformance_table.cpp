#include "tests/conformance/conformance_table.h"

#include <fmt/format.h>

#include <set>

namespace fusescope::conformance {
namespace {

struct Tally {
  int passed = 0;
  int all = 0;
  std::string text() const { return all == 0 ? "" : fmt::format("{} / {}", passed, all); }
};

std::set<std::string> elementsOf(const Case& given) {
  std::set<std::string> elements;
  for (const auto* values : {&given.inputs, &given.outputs})
    for (const CaseValue& value : *values) elements.insert(value.element);
  return elements;
}

constexpr const char* kEveryCase = "every case once";
constexpr const char* kExpanded = "of them function bodies";

}  // namespace

std::string tableText(const std::vector<Case>& cases, const std::map<std::string, Outcome>& outcomes) {
  std::map<std::string, std::map<std::string, Tally>> rows;  // by element type, then by domain
  std::set<std::string> domains, elements;
  for (const Case& given : cases) {
    const bool passed = outcomes.at(given.name).passed;
    domains.insert(given.domain);
    std::set<std::string> counted = elementsOf(given);
    elements.insert(counted.begin(), counted.end());
    counted.insert(kEveryCase);
    if (given.expanded) counted.insert(kExpanded);
    for (const std::string& row : counted) {
      Tally& tally = rows[row][given.domain];
      ++tally.all;
      tally.passed += passed ? 1 : 0;
    }
  }
  std::vector<std::string> order(elements.begin(), elements.end());
  order.insert(order.end(), {kEveryCase, kExpanded});
  std::string text = fmt::format("{:24}", "passed / all");
  for (const auto& domain : domains) text += fmt::format("{:>30}", domain);
  text += "\n";
  for (const auto& row : order) {
    text += fmt::format("{:24}", row);
    for (const auto& domain : domains) text += fmt::format("{:>30}", rows[row][domain].text());
    text += "\n";
  }
  return text;
}

}  // namespace fusescope::conformance
