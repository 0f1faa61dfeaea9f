#include "ir/decision.h"

#include <gtest/gtest.h>

#include "base/json.h"
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

TEST(Decisions, SayNumbersWithTheirUnitsAndPlurals) {
  DecisionArguments cost{{"type", "f32"}, {"retyped", 1}, {"lost", "none"},          {"kernels", 0},
                         {"casts", 1},    {"bytes", 0},   {"kernel_bytes", 149'508}, {"cast_bytes", -512}};
  EXPECT_EQ(
      message(decide("precision.pin_price", {}, "pin:1", cost)),
      "the pin to f32 is satisfied at a price: 1 operator calculates in another type because of it; kernels that are "
      "split: none; no kernel more and 1 cast more; kernels move 146 KiB more and casts 512 B less");
  cost["pins"] = 2;
  cost["casts"] = 3;
  cost["shared_kernels"] = 0;
  cost["shared_casts"] = -1;
  cost["shared_bytes"] = nullptr;
  EXPECT_EQ(
      message(decide("precision.pins_together", {}, "precision", cost)),
      "all 2 pins together: kernels that are split: none; no kernel more and 3 casts more; kernels move 146 KiB more "
      "and casts 512 B less. Compared with the sum of the single pins: no kernel more, 1 cast fewer, and "
      "an unknown amount moved");
  EXPECT_EQ(message(decide("tactic.unfused", {}, "build", {{"ms", 0.0007}, {"fused_ms", 0.25}})),
            "runs node by node in 0.700 µs: each fused kernel for it takes 0.250 ms or more, and the difference is "
            "larger than "
            "the spread of the measurements");
  EXPECT_EQ(message(decide("fuse.no_fuse_honoured", {}, "no_fuse:1", {{"rule", "residual"}, {"nodes", 1}})),
            "rule residual is switched off for 1 node");
}

// What another version wrote is written again byte for byte, whatever JSON has: a file must not change when it is
// opened.
TEST(Decisions, KeepArgumentsOfEveryKind) {
  const std::string text = R"({"text":"x","yes":true,"count":-3,"most":18446744073709551615,"ms":2.0,"unknown":null,)"
                           R"("names":["a","b"],"inside":{"z":1,"a":[{"deep":0.1}]}})";
  const DecisionArguments arguments = DecisionArguments::fromJson(Json::parse(text));
  EXPECT_EQ(arguments.toJson().dump(), text);
  EXPECT_EQ(arguments, DecisionArguments::fromJson(arguments.toJson()));
  EXPECT_EQ(arguments["count"], -3);
  EXPECT_EQ(arguments["ms"], 2) << "a number is equal whatever its type is";
  EXPECT_EQ(arguments["names"], (DecisionArgument::List{"a", "b"}));
  EXPECT_EQ(arguments["names"], std::vector<std::string>({"a", "b"}));
  EXPECT_TRUE(arguments["absent"].isNull());
  EXPECT_EQ(arguments.find("absent"), nullptr);
}

TEST(Decisions, KeepTheOrderOfTheirArguments) {
  DecisionArguments arguments{{"b", 1}, {"a", std::optional<double>()}, {"b", 2}};
  arguments["c"] = std::optional(std::int64_t{5});
  arguments["b"] = "one";
  EXPECT_EQ(arguments.toJson().dump(), R"({"b":"one","a":null,"c":5})");
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
