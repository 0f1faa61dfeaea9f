#include "base/regular_expression.h"

#include <gtest/gtest.h>

namespace fusescope {
namespace {

TEST(RegularExpression, MatchesAPartOrTheWhole) {
  const auto expression = RegularExpression::create("layer\\.[0-3]");
  ASSERT_TRUE(expression.ok()) << expression.error().text();
  EXPECT_TRUE(expression.value().matchesSome("encoder.layer.2.attention"));
  EXPECT_FALSE(expression.value().matchesSome("encoder.layer.4"));
  EXPECT_TRUE(expression.value().matchesAll("layer.3"));
  EXPECT_FALSE(expression.value().matchesAll("encoder.layer.3"));
}

TEST(RegularExpression, ErrorsSayWhatAndWhere) {
  const auto open = RegularExpression::create("relu[0-");
  ASSERT_FALSE(open.ok());
  EXPECT_NE(open.error().message.find("missing ]"), std::string::npos) << open.error().message;
  EXPECT_NE(open.error().message.find("at character 5"), std::string::npos) << open.error().message;
  const auto lookahead = RegularExpression::create("(?=relu)");
  ASSERT_FALSE(lookahead.ok());
  EXPECT_NE(lookahead.error().help.find("no lookaround"), std::string::npos);
  EXPECT_FALSE(RegularExpression::create("(a{1000}){1000}").ok()) << "an expression that would need gigabytes";
}

/// A backtracking matcher tries 2^n ways here.
TEST(RegularExpression, TakesLinearTime) {
  const auto expression = RegularExpression::create("(a|a)*(a|a)*(a|aa)*b");
  ASSERT_TRUE(expression.ok());
  EXPECT_FALSE(expression.value().matchesSome(std::string(100'000, 'a')));
}

}  // namespace
}  // namespace fusescope
