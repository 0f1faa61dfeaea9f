#include "ir/extent_conditions.h"

#include <gtest/gtest.h>

#include <map>

#include "ir/expression_bounds.h"
#include "tests/unit/ir/parsed_extent.h"

namespace fusescope {
namespace {

using testing::expression;

/// Symbols are ranked by name; those with `#` are of values whose extents nobody can foresee.
std::optional<std::size_t> rankOf(const std::string& symbol) {
  if (symbol.find('#') != std::string::npos) return std::nullopt;
  return static_cast<std::size_t>(symbol.front());
}

std::string assumed(std::string_view a, std::string_view b, ExtentFacts& facts) {
  const auto condition = assumeEqual(expression(a), expression(b), facts, rankOf);
  if (!condition) return "nothing";
  EXPECT_EQ(expression(a).under(facts), expression(b).under(facts)) << condition->text();
  return condition->text();
}

std::string assumed(std::string_view a, std::string_view b) {
  ExtentFacts facts;
  return assumed(a, b, facts);
}

TEST(ExtentConditions, WhatMakesTwoExpressionsEqual) {
  EXPECT_EQ(assumed("h", "w"), "w == h");
  EXPECT_EQ(assumed("past + seq", "total"), "total == past + seq");
  EXPECT_EQ(assumed("h/16", "2*ceil(h/32)"), "h % 32 == 0");
  EXPECT_EQ(assumed("ceil(h/2)", "h/2"), "h % 2 == 0");
  EXPECT_EQ(assumed("7*(h/7)", "h"), "h % 7 == 0");
  EXPECT_EQ(assumed("w", "2*(h/2)"), "w == 2*(h/2)");
  EXPECT_EQ(assumed("n", "5"), "n == 5");
}

TEST(ExtentConditions, OneExtentIsAtMostAnother) {
  EXPECT_EQ(assumed("seq", "min(512, seq)"), "seq <= 512");
  EXPECT_EQ(assumed("seq", "max(min(512, past + seq) - min(512, past), 0)"), "past + seq <= 512");
  ExtentFacts facts;
  EXPECT_EQ(assumed("n", "min(16, n)", facts), "n <= 16");
  EXPECT_EQ(expression("min(20, n)").under(facts).text(), "n") << "what is at most 16 is at most 20";
  EXPECT_EQ(expression("min(8, n)").under(facts).text(), "min(n, 8)");
}

TEST(ExtentConditions, AQuotientIsANumber) {
  ExtentFacts facts;
  EXPECT_EQ(assumed("(h + 15)/48", "1", facts), "(h + 15)/48 == 1");
  EXPECT_EQ(expression("w*((h + 15)/48)").under(facts).text(), "w");
}

TEST(ExtentConditions, TheLeastExtentThatReachesABound) {
  EXPECT_EQ(leastThatReaches(expression("ceil(h/16)"), 3), 33);
  EXPECT_EQ(leastThatReaches(expression("h/32"), 1), 32);
  EXPECT_EQ(leastThatReaches(expression("h"), 1), 1);
  EXPECT_EQ(leastThatReaches(expression("h - 4*(h/4)"), 3), std::nullopt) << "it falls again";
  EXPECT_EQ(leastThatReaches(expression("h*w"), 3), std::nullopt);
}

TEST(ExtentConditions, WhatNothingSimpleMakesEqualIsLeft) {
  EXPECT_EQ(assumed("h*w", "h + w"), "nothing");
  EXPECT_EQ(assumed("h", "h + 1"), "nothing");
  EXPECT_EQ(assumed("n + 5", "0"), "nothing");
  EXPECT_EQ(assumed("x#1", "y#0"), "nothing");
  EXPECT_EQ(assumed("x#1", "h"), "nothing");
}

TEST(ExtentConditions, FactsAddUp) {
  ExtentFacts facts;
  EXPECT_EQ(assumed("4*(w/4)", "w", facts), "w % 4 == 0");
  EXPECT_EQ(assumed("6*(w/6)", "w", facts), "w % 12 == 0");
  // What replaces a symbol is the multiple that the symbol was.
  EXPECT_EQ(assumed("h", "w", facts), "w == h");
  EXPECT_EQ(expression("12*(h/12)").under(facts).text(), "h");
  EXPECT_EQ(assumed("h", "z + 1", facts), "z == h - 1");
  EXPECT_EQ(expression("z + w").under(facts).text(), "2*h - 1");
}

TEST(ExtentConditions, AreCheckedAgainstValues) {
  const auto values = [](std::int64_t h) {
    return [h](const std::string& symbol) { return symbol == "h" ? std::optional(h) : std::nullopt; };
  };
  EXPECT_EQ(holds({"h % 32", "0", ""}, values(64)), true);
  EXPECT_EQ(holds({"h % 32", "0", ""}, values(48)), false);
  EXPECT_EQ(holds({"h", "w", ""}, values(48)), std::nullopt);
  const ExtentCondition atMost{.left = "h", .right = "64", .node = "", .relation = ExtentCondition::Relation::AtMost};
  EXPECT_EQ(atMost.text(), "h <= 64");
  EXPECT_EQ(holds(atMost, values(64)), true);
  EXPECT_EQ(holds(atMost, values(65)), false);
}

}  // namespace
}  // namespace fusescope
