// Where something stands in a network: the bodies around it, and their texts.
#include "ir/place.h"
#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/decision.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// An If, and in its first branch another. "twin" is in both branches of the outer one.
std::shared_ptr<const Graph> nested() {
  auto graph = parseGraph(R"(graph "g" {
  input %c: bool[]
  input %x: f32[4]
  %y: f32[4] = If(%c) <else_branch=body (%x) graph "e" {
      input %x: f32[4]
      %e: f32[4] = Sin(%x) {name="twin"}
      output %e
    }, then_branch=body (%c, %x) graph "t" {
      input %c: bool[]
      input %x: f32[4]
      %k: f32[4] = If(%c) <else_branch=body (%x) graph "ee" {
          input %x: f32[4]
          %q: f32[4] = Neg(%x) {name="leaf"}
          output %q
        }, then_branch=body (%x) graph "tt" {
          input %x: f32[4]
          %p: f32[4] = Abs(%x) {name="leaf"}
          output %p
        }> {name="inner"}
      %t: f32[4] = Exp(%k) {name="twin"}
      output %t
    }> {name="outer"}
  output %y
}
)");
  EXPECT_TRUE(graph.ok()) << graph.error().text();
  return graph.value();
}

TEST(Places, SayTheBranchWhereTwoHaveTheName) {
  const auto graph = nested();
  const Node& outer = graph->node(*graph->findNode("outer"));
  const BodyPath then = BodyPath().into(outer, "then_branch");
  EXPECT_EQ(then.of("inner"), "outer/inner");
  EXPECT_EQ(then.of("twin"), "outer/then_branch/twin");
  EXPECT_EQ(then.of("x"), "outer/x") << "what both capture is one value";
  EXPECT_EQ(then.exactly("inner"), "outer/then_branch/inner");
  EXPECT_EQ(then.text(), "outer/then_branch");
  const Graph& body = *std::get<Subgraph>(outer.attributes.at("then_branch")).graph;
  const BodyPath deep = then.into(body.node(*body.findNode("inner")), "else_branch");
  EXPECT_EQ(deep.of("leaf"), "outer/inner/else_branch/leaf");
  EXPECT_EQ(deep.of("q"), "outer/inner/q");
  EXPECT_EQ(deep.holder()->text(), "outer/inner");
  EXPECT_EQ(BodyPath().of("outer"), "outer");
  EXPECT_FALSE(BodyPath().holder().has_value());
  EXPECT_EQ(BodyPath().into(body.node(*body.findNode("inner")), "else_branch").within(then), deep);
}

TEST(Places, TextsLeadIntoTheBodiesThatTheyMayMean) {
  const auto graph = nested();
  const auto both = bodiesNamed(*graph, "outer/twin");
  ASSERT_EQ(both.size(), 2U);
  for (const NamedBody& body : both) EXPECT_EQ(body.rest, "twin");
  const auto one = bodiesNamed(*graph, "outer/then_branch/inner/leaf");
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].attribute, "then_branch");
  EXPECT_EQ(one[0].rest, "inner/leaf");
  EXPECT_TRUE(bodiesNamed(*graph, "outer").empty());
  EXPECT_TRUE(bodiesNamed(*graph, "outer/").empty());
  EXPECT_TRUE(bodiesNamed(*graph, "oute/twin").empty());
}

TEST(Places, OfDecisionsAreReadBackAsTheyWere) {
  const auto graph = nested();
  const Node& outer = graph->node(*graph->findNode("outer"));
  for (const char* name : {"twin", "inner"}) {
    const NetworkPlace place{BodyPath().into(outer, "then_branch"), name};
    const Decision decision = decide("fuse.single", {Subject::node(place)}, "fusion", {{"kind", "pointwise"}});
    const auto again = decisionFromJson(toJson(decision));
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(again.value(), decision);
    EXPECT_EQ(again.value().subjects[0].text(), place.text());
    EXPECT_EQ(toJson(again.value()), toJson(decision));
    EXPECT_FALSE(again.value().subjects[0].nodeIn(*graph).has_value()) << "it is no node of the network itself";
  }
  Json old = toJson(decide("fuse.single", {Subject::node("outer/twin")}, "fusion", {{"kind", "pointwise"}}));
  EXPECT_EQ(decisionFromJson(old).value().subjects[0].text(), "outer/twin") << "older files hold the text alone";
}

}  // namespace
}  // namespace fusescope
