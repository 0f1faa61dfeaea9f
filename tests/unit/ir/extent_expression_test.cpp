#include "ir/extent_expression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "tests/unit/ir/parsed_extent.h"

namespace fusescope {
namespace {

using testing::expression;

using Function = ExtentExpression::Function;
using Values = std::map<std::string, std::int64_t>;

std::string normal(std::string_view text) {
  const auto expression = ExtentExpression::parse(text);
  return expression ? expression->text() : "not an expression";
}

std::optional<std::int64_t> valueOf(const ExtentExpression& expression, const Values& values) {
  return expression.at([&](const std::string& symbol) -> std::optional<std::int64_t> {
    const auto found = values.find(symbol);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(ExtentExpression, WhatExportersWriteIsBroughtIntoTheNormalForm) {
  constexpr std::array<std::array<std::string_view, 2>, 22> kCases{{
      {"batch", "batch"},
      {"4*s", "4*s"},
      {"s*4", "4*s"},
      {"batch*seq", "batch*seq"},
      {"seq * batch", "batch*seq"},
      {"seq + past", "past + seq"},
      {"past_sequence_length + 1", "past_sequence_length + 1"},
      {"s0 - 1", "s0 - 1"},
      {"floor(height/2 - 1/2) + 1", "ceil(height/2)"},
      {"floor(floor(height/2 - 1/2)/2) + 1", "ceil(height/4)"},
      {"floor(floor(floor(height/2 - 1/2)/2)/2) + 1", "ceil(height/8)"},
      {"(((h + 1)//2) + 1)//2", "ceil(h/4)"},
      {"floor(h/2)/2", "h/4"},
      {"floor((h + 6)/3)", "h/3 + 2"},
      {"floor(8*h/2)", "4*h"},
      {"(4*h + 6)/4", "h + 1"},
      {"h - (h - 3)", "3"},
      {"7*(h/7)", "7*(h/7)"},
      {"Mod(h, 7)", "h - 7*(h/7)"},
      {"Max(1, s0)", "max(s0, 1)"},
      {"min(h, min(w, 5, 9))", "min(h, w, 5)"},
      {"h*w/w", "h"},
  }};
  for (const auto& [text, expected] : kCases) EXPECT_EQ(normal(text), expected) << text;
}

TEST(ExtentExpression, WhatIsNoExpressionBecomesASymbol) {
  for (const char* text : {"a b", "DynamicDimension/x y", "((", "?", "1.5*h", "h +"})
    EXPECT_EQ(normal(text), "not an expression") << text;
  EXPECT_EQ(normalExtentText("a b"), "'a b'");
  EXPECT_EQ(normalExtentText("'a b'"), "'a b'");
  EXPECT_EQ(normalExtentText("it's"), "'it`s'");
  // Names that exporters give: not a difference, not a quotient of anything.
  for (const char* name : {"batch-size", "p2o.DynamicDimension.0", "unk__12", "x#1", "dim:3"}) {
    EXPECT_TRUE(isExtentSymbol(name)) << name;
    EXPECT_EQ(normalExtentText(name), name);
  }
  EXPECT_EQ(normalExtentText("s + s"), "2*s");
  // Two extents that are called so have nothing in common.
  for (const char* nothing : {"", "?", "None", "-1"}) EXPECT_EQ(normalExtentText(nothing), "");
}

TEST(ExtentExpression, EqualExpressionsHaveEqualTexts) {
  const auto h = ExtentExpression::symbol("h"), w = ExtentExpression::symbol("w");
  EXPECT_EQ(((h + 1) * (w - 1)).text(), "h*w - h + w - 1");
  EXPECT_EQ(dividedExactly(h * w + w - h - 1, w - 1).value().text(), "h + 1");
  EXPECT_FALSE(dividedExactly(h * w + 1, w - 1));
  EXPECT_EQ(floorDivided(h * w * 49, w * 7).text(), "7*h");
  EXPECT_EQ(floorDivided(h * 3, 2).text(), "h + h/2");
  EXPECT_EQ(floorDivided(h - 2, h + w).text(), "(h - 2)/(h + w)");
  // A convolution of stride 2, kernel 3 and padding 1, five times.
  ExtentExpression extent = h;
  for (int i = 0; i < 5; ++i) extent = floorDivided(extent - 1, 2) + 1;
  EXPECT_EQ(extent.text(), "ceil(h/32)");
  EXPECT_EQ(applied(Function::Broadcast, {h, applied(Function::Broadcast, {w, h})}).text(), "broadcast(h, w)");
  EXPECT_EQ(applied(Function::Broadcast, {h, 1}).text(), "h");
  EXPECT_EQ(applied(Function::Same, {h, 5}).text(), "5");
}

TEST(ExtentExpression, FactsSimplify) {
  ExtentFacts facts;
  facts.multiples["h"] = 32;
  EXPECT_EQ(expression("2*ceil(h/32)").under(facts).text(), "h/16");
  EXPECT_EQ(expression("ceil(h/16)").under(facts), expression("2*ceil(h/32)").under(facts));
  EXPECT_EQ(expression("32*(h/32)").under(facts).text(), "h");
  EXPECT_EQ(expression("h/16").under(facts).text(), "h/16");
  EXPECT_EQ(expression("(h/16 + 3)/2").under(facts).text(), "h/32 + 1");
  EXPECT_EQ(expression("h/64").under(facts).text(), "h/64");
  EXPECT_NE(expression("2*(h/64)").under(facts), expression("h/32").under(facts));
  facts.equals.emplace("w", expression("h + 1"));
  EXPECT_EQ(expression("w*w - h*h - 2*h").under(facts).text(), "1");
  EXPECT_EQ(expression("broadcast(h, w - 1)").under(facts).text(), "h");
  EXPECT_EQ(expression("2*ceil(h/32) + x/4").denominatorOf("h"), 32);
}

TEST(ExtentExpression, ValuesAndRanges) {
  const Values values{{"h", 20}, {"w", 7}};
  EXPECT_EQ(valueOf(expression("2*ceil(h/32)*w - 1"), values), 13);
  EXPECT_EQ(valueOf(expression("max(h, w) - min(h, w)"), values), 13);
  EXPECT_EQ(valueOf(expression("broadcast(h, w - 6)"), values), 20);
  EXPECT_EQ(valueOf(expression("broadcast(h, w)"), values), std::nullopt);
  EXPECT_EQ(valueOf(expression("same(h, w)"), values), std::nullopt);
  EXPECT_EQ(valueOf(expression("h + x"), values), std::nullopt);
  EXPECT_EQ(valueOf(expression("h/w"), values), 2);
  const auto within = [](const std::string&) { return std::optional(ExtentExpression::Range{8, 64}); };
  EXPECT_EQ(expression("ceil(h/8)*w - 1").within(within), (ExtentExpression::Range{7, 511}));
  EXPECT_EQ(expression("h/w").within(within), (ExtentExpression::Range{0, 8}));
  EXPECT_EQ(expression("-h").within(within), (ExtentExpression::Range{-64, -8}));
}

TEST(ExtentExpression, WhatOverflowsOrGrowsIsNotValid) {
  const auto h = ExtentExpression::symbol("h");
  ExtentExpression huge = h;
  for (int i = 0; i < 9; ++i) huge = huge * huge + h;
  EXPECT_FALSE(huge.valid());
  EXPECT_FALSE((huge + 1).valid());
  EXPECT_FALSE((h * (std::int64_t{1} << 40) * (std::int64_t{1} << 40)).valid());
  EXPECT_EQ(huge.dim(), Dim());
  EXPECT_EQ(ExtentExpression(-3).dim(), Dim());
  EXPECT_EQ((h - h + 3).dim(), Dim(3));
  EXPECT_FALSE(ExtentExpression::of(Dim()).valid());
}

/// A random expression with its value computed beside it.
struct Sample {
  ExtentExpression expression;
  std::int64_t value;
};

Sample sampleOf(std::mt19937& random, const Values& values, int depth) {
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  if (depth == 0) {
    if (below(3) == 0) return {below(9), 0};
    const auto symbol = std::next(values.begin(), static_cast<std::ptrdiff_t>(below(std::ssize(values))));
    return {ExtentExpression::symbol(symbol->first), symbol->second};
  }
  Sample a = sampleOf(random, values, depth - 1), b = sampleOf(random, values, static_cast<int>(below(depth)));
  const auto settled = [](Sample& sample) {
    if (const auto number = sample.expression.number()) sample.value = *number;
  };
  settled(a), settled(b);
  const std::int64_t n = 1 + below(12);
  const auto floored = [](std::int64_t x, std::int64_t by) { return x >= 0 ? x / by : -((-x + by - 1) / by); };
  switch (below(6)) {
    case 0:
      return {a.expression + b.expression, a.value + b.value};
    case 1:
      return {a.expression - b.expression, a.value - b.value};
    case 2:
      return {a.expression * b.expression, a.value * b.value};
    case 3:
      return {applied(Function::Minimum, {a.expression, b.expression}), std::min(a.value, b.value)};
    case 4:
      return {ceilDivided(a.expression, n), floored(a.value + n - 1, n)};
    default:
      return {floorDivided(a.expression, n), floored(a.value, n)};
  }
}

// Whatever is simplified keeps its value, reads back as it is, and stays equal where the symbols' values make facts
// true.
TEST(ExtentExpression, RandomExpressionsKeepTheirValues) {
  std::mt19937 random(7);
  int compared = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto some = [&] { return static_cast<std::int64_t>(random() % 200); };
    const Values values{{"h", some() / 24 * 24}, {"past", some()}, {"w", some()}};
    const Sample sample = sampleOf(random, values, 4);
    if (!sample.expression.valid()) continue;
    ++compared;
    const std::string text = sample.expression.text();
    ASSERT_EQ(valueOf(sample.expression, values), sample.value) << text;
    ASSERT_EQ(normal(text), text);
    ExtentFacts facts;
    facts.multiples["h"] = 24;
    const ExtentExpression known = sample.expression.under(facts);
    if (!known.valid()) continue;
    ASSERT_EQ(valueOf(expression(known.text()), values), sample.value) << text << " became " << known.text();
    ASSERT_EQ(expression(known.text()).under(facts).text(), known.text());
    const auto range = sample.expression.within([&](const std::string& symbol) {
      return std::optional(ExtentExpression::Range{values.at(symbol), values.at(symbol) + 3});
    });
    if (!range) continue;
    ASSERT_LE(range->least, sample.value) << text;
    ASSERT_GE(range->most, sample.value) << text;
  }
  EXPECT_GT(compared, 4700);
}

}  // namespace
}  // namespace fusescope
