#include "ir/decision.h"

#include <gtest/gtest.h>

#include "base/result.h"

namespace fusescope {
namespace {

TEST(Decisions, AreReadBackAsTheyWere) {
  Decision decision = decide("fuse.single", {Subject::node("relu")}, "fusion", {{"kind", "pointwise"}});
  decision.evidence = {3, 7};
  const auto again = decisionFromJson(toJson(decision));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.value(), decision);
}

// Engine files hold decisions: one whose code another version had must not keep the file from opening.
TEST(Decisions, OfAnotherVersionSayWhatTheySaid) {
  Json json = toJson(decide("fuse.single", {Subject::node("relu")}, "fusion", {{"kind", "pointwise"}}));
  json["code"] = "fuse.of_long_ago";
  json["message"] = "ran alone, long ago";
  const auto read = decisionFromJson(json);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(message(read.value()), "ran alone, long ago");
  EXPECT_EQ(read.value().kind, DecisionKind::Fuse);
  EXPECT_EQ(toJson(read.value()), json);
}

TEST(Decisions, OfNoKindAreRefused) {
  Json json = toJson(decide("fuse.single", {Subject::node("relu")}, "fusion", {{"kind", "pointwise"}}));
  json["code"] = "magic.of_long_ago";
  json["kind"] = "magic";
  const auto read = decisionFromJson(json);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("magic"), std::string::npos);
}

}  // namespace
}  // namespace fusescope
