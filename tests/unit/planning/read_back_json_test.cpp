// The document of a plan that was read back.
#include <algorithm>
#include <random>

#include "base/json.h"
#include "tests/unit/planning/read_back_testing.h"

namespace fusescope {
namespace {

using testing::chainPlan;
using testing::pin;
using testing::Told;

/// One of everything.
Told richlyTold() {
  Told t(chainPlan({pin("fc1=f16"), pin("exp=f16"), fallbackDirective("flat")}));
  ReadBackKernel& prepare = t.kernel("prepare", {});
  prepare.once = true;
  prepare.outputs = {{.value = {}, .type = DataType::I8, .format = "packed"}};
  ReadBackKernel& last = t.kernel("last", {"fc2", "exp"}, DataType::F16);
  last.region = "region";
  last.ms = 0.25;
  last.optimiser = "MatMulAddFusion";
  last.outputs = {{.value = t.value("fc2_out"), .type = DataType::F32, .format = "nchw"}};
  last.nodes[0].second = Certainty::Guessed;
  t.kernel("first", {"fc1"}, DataType::F32).inputs = {{.value = {}, .format = "blocked"}};
  t.kernel("half", {"exp"}).region = "region";
  t.told.fates[t.node("relu")] = Fate::Merged;
  t.told.conversions = {{.value = t.value("x"), .from = "f32", .to = "f16", .isCast = true, .kernel = "prepare"},
                        {.value = {}, .from = "nchw", .to = "nhwc"}};
  t.told.pins = {{.node = t.node("relu"), .asked = DataType::F16, .granted = DataType::F32, .why = "It said so."}};
  t.told.decisions = {t.asked->decisions.front(), t.asked->decisions.front()};
  t.told.decisions[1].evidence = {static_cast<std::uint32_t>(t.asked->decisions.size())};
  return t;
}

TEST(ReadBackPlanJson, HasTheKeysOfAPlanAndItsOwn) {
  const Told t = richlyTold();
  const Json json = toJson(*t.make());
  EXPECT_EQ(json["source"], "read_back");
  EXPECT_EQ(json["hash"], t.asked->hash.hex());
  EXPECT_EQ(json["asked"], toJson(*t.asked));
  EXPECT_EQ(json["compiler"]["options"]["level"], "2");
  EXPECT_EQ(json["kernels"].size(), json["fused_nodes"].size());
  ASSERT_EQ(json["regions"].size(), 1U);
  EXPECT_EQ(json["regions"][0]["nodes"], Json::array({"exp", "fc2"}));
  EXPECT_EQ(json["nodes"][1]["fate"], "merged");
  EXPECT_EQ(json["nodes"][2]["fate"], "fallback");
  EXPECT_EQ(json["nodes"][3]["kernels"].size(), 2U);
  EXPECT_EQ(json["conversions"][0]["kind"], "cast");
  EXPECT_TRUE(json["conversions"][1]["value"].is_null());
  EXPECT_EQ(json["support"].size(), 5U);
  EXPECT_EQ(coverJson(*t.make()), json);
  EXPECT_EQ(coverJson(*t.asked), json["asked"]);
}

TEST(ReadBackPlanJson, ReadingGivesTheSameBytes) {
  const Told t = richlyTold();
  const Json json = toJson(*t.make());
  const auto read = readBackPlanFromJson(Json::parse(json.dump()), t.asked);
  ASSERT_TRUE(read.ok()) << read.error().text();
  const Json again = toJson(*read.value());
  EXPECT_TRUE(again.dump() == json.dump()) << Json::diff(json, again).dump(1);
}

/// Whatever a compiler may tell: kernels that share nodes, and tensors that are known, unknown or not told.
Told randomlyTold(std::mt19937& dice) {
  Told t(chainPlan({fallbackDirective("flat")}));
  const std::vector<NodeId>& order = t.asked->graph().order();
  const std::vector<ValueId> all = t.asked->graph().allValues();
  const auto roll = [&](std::size_t below) { return static_cast<std::size_t>(dice() % below); };
  for (std::size_t kernels = roll(7); kernels > 0; --kernels) {
    ReadBackKernel& kernel =
        t.kernel(roll(2) == 0 ? "one" : "other", {}, roll(2) == 0 ? DataType::F16 : DataType::Undefined);
    for (const NodeId node : order)
      if (roll(3) == 0 && t.asked->fusedNodeOf(node)->kind != "view")
        kernel.nodes.emplace_back(node, Certainty::Derived);
    for (auto* values : {&kernel.inputs, &kernel.outputs})
      for (std::size_t told = roll(3); told > 0; --told)
        values->push_back({.value = roll(3) == 0 ? ValueId() : all[roll(all.size())],
                           .type = roll(2) == 0 ? DataType::F16 : DataType::Undefined});
    std::shuffle(kernel.nodes.begin(), kernel.nodes.end(), dice);
  }
  return t;
}

TEST(ReadBackPlanJson, WhateverIsToldIsReadAsItWas) {
  std::mt19937 dice(1);
  for (int i = 0; i < 100; ++i) {
    const Told t = randomlyTold(dice);
    const Json json = toJson(*t.make());
    const auto read = readBackPlanFromJson(json, t.asked);
    ASSERT_TRUE(read.ok()) << read.error().text();
    const Json again = toJson(*read.value());
    ASSERT_TRUE(again.dump() == json.dump()) << i << ": " << Json::diff(json, again).dump(1);
  }
}

TEST(ReadBackPlanJson, IsNoPlan) {
  const Told t = richlyTold();
  Json json = toJson(*t.make());
  const auto read = planFromJson(json, t.asked->model);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().where.attribute, "source");
  EXPECT_NE(read.error().text().find("read back from other"), std::string::npos);
  json.erase("compiler");
  EXPECT_FALSE(planFromJson(json, t.asked->model).ok());
  EXPECT_TRUE(planFromJson(json["asked"], t.asked->model).ok());
}

TEST(ReadBackPlanJson, NamesThatTheNetworkDoesNotHaveAreErrorsWithTheirPlace) {
  const Told t = richlyTold();
  Json json = toJson(*t.make());
  json["kernels"][1]["nodes"][0]["node"] = "nobody";
  const auto read = readBackPlanFromJson(json, t.asked);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().where.attribute, "kernels[1].nodes[0].node");
  Json endless = toJson(*t.make());
  endless["kernels"] = Json::array();
  for (int i = 0; i < 300'000; ++i) endless["kernels"].push_back(nullptr);
  EXPECT_EQ(readBackPlanFromJson(endless, t.asked).error().where.attribute, "kernels");
  Json late = toJson(*t.make());
  late["kernels"][1]["ms"] = -1;
  EXPECT_FALSE(readBackPlanFromJson(late, t.asked).ok());
}

/// Whatever is read is a plan that can be written, or an error.
void expectNoCrash(const Json& json, const std::shared_ptr<const Plan>& asked) {
  const auto read = readBackPlanFromJson(json, asked);
  EXPECT_TRUE(!read.ok() || toJson(*read.value())["kernels"].is_array());
}

/// Damages each value below `at` in turn: takes it away, or puts something else there.
void damage(Json& whole, Json& at, const std::shared_ptr<const Plan>& asked) {
  const std::vector<Json> others = {nullptr, -1, "fc1", Json::array({1, "x"}), {{"node", "relu"}}};
  const auto tryOthers = [&](Json& place) {
    const Json was = place;
    for (const Json& other : others) {
      place = other;
      expectNoCrash(whole, asked);
    }
    place = was;
    damage(whole, place, asked);
  };
  if (at.is_array())
    for (Json& entry : at) tryOthers(entry);
  if (!at.is_object()) return;
  std::vector<std::string> keys;
  for (const auto& [key, value] : at.items()) keys.push_back(key);
  for (const std::string& key : keys) {
    tryOthers(at[key]);
    const Json was = at;
    at.erase(key);
    expectNoCrash(whole, asked);
    at = was;
  }
}

TEST(ReadBackPlanJson, ADamagedFileIsAnErrorOrAPlan) {
  const Told t = richlyTold();
  Json json = toJson(*t.make());
  Json added = Json::object();
  for (const char* key : {"compiler", "kernels", "nodes", "conversions", "pins", "asked"}) added[key] = json[key];
  added["decisions"] = Json::array();
  for (std::size_t i = t.asked->decisions.size(); i < json["decisions"].size(); ++i)
    added["decisions"].push_back(json["decisions"][i]);
  added["asked"] = {{"decisions", Json::array()}};  // of a version that said less
  for (Json& decision : added["decisions"]) decision["evidence"] = Json::array();
  added["decisions"][1]["evidence"] = Json::array({0});
  const auto whole = readBackPlanFromJson(added, t.asked);
  ASSERT_TRUE(whole.ok()) << whole.error().text();
  damage(added, added, t.asked);
  for (const Json& other : {Json(), Json(1), Json("text"), Json::array()})
    EXPECT_FALSE(readBackPlanFromJson(other, t.asked).ok());
}

}  // namespace
}  // namespace fusescope
