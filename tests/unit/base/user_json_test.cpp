#include "base/user_json.h"
#include "base/json.h"

#include <gtest/gtest.h>

namespace fusescope {
namespace {

std::string errorOf(std::string_view text) {
  const auto json = parseUserJson(text);
  return json.ok() ? "none" : json.error().where.attribute + ": " + json.error().message;
}

TEST(UserJson, AKeyThatStandsTwiceIsNamedByItsPlace) {
  EXPECT_EQ(errorOf(R"({"a": 1, "b": [{"c": 1}, 5, {"c": {"d": 1, "e": 2, "d": 3}}]})"),
            "b[2].c.d: this key occurs twice");
  EXPECT_EQ(errorOf(R"([[1, {"x": 1, "x": 1}]])"), "[0][1].x: this key occurs twice");
  EXPECT_EQ(errorOf(R"({"a": {"x": 1}, "b": {"x": 1}, "c": [{"x": 1}, {"x": 1}]})"), "none");
}

TEST(UserJson, WhatIsNotCompleteIsNamedByItsLine) {
  EXPECT_EQ(errorOf("{\n \"a\": 1,\n \"b\" 2 }"), ": this is not complete JSON: line 3 cannot be read");
  EXPECT_EQ(errorOf(""), ": this is not complete JSON: line 1 cannot be read");
  EXPECT_EQ(parseUserJson("[18446744073709551615]").value()[0].get<std::uint64_t>(), 18446744073709551615U);
}

TEST(UserJson, AKeyThatIsNotKnownIsNamedWithTheNearest) {
  const Json json = {{"low", 1}, {"hihg", 2}};
  const auto status = checkKeys(json, {"low", "high"}, "edges.x", "a range");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().where.attribute, "edges.x.hihg");
  EXPECT_EQ(status.error().message, "is not a key of a range; the nearest is 'high'");
  EXPECT_TRUE(checkKeys(json, {"hihg", "low"}, "", "a range").ok());
  EXPECT_EQ(checkKeys(json, {"low", "width"}, "", "a range").error().message, "is not a key of a range");
}

}  // namespace
}  // namespace fusescope
