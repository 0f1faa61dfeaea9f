#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "tests/scrambled/printed_facts.h"
#include "tests/support/process.h"

namespace fusescope::test {
namespace {

std::string nameOf(const FactsCase& asked) {
  std::string name = asked.model.parent_path().filename().string() + "_" + asked.model.stem().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name + "_" + asked.how;
}

class Scrambled : public ::testing::TestWithParam<FactsCase> {};

TEST_P(Scrambled, DecisionsChangeNothingButTexts) {
  const auto plan = planOf(GetParam());
  if (plan.ok()) {
    for (const Decision& decision : plan.value()->decisions)
      ASSERT_TRUE(decision.arguments.contains("scrambled")) << decision.code << ": this program scrambles nothing";
  }
  const ProcessResult plain = runProcess({PLAN_FACTS, GetParam().model.string(), GetParam().how});
  ASSERT_EQ(plain.status, 0) << plain.err;
  const Json expected = Json::parse(plain.out), facts = Json::parse(factsOf(GetParam()).dump());
  ASSERT_FALSE(expected.empty());
  for (const auto& [part, fact] : expected.items())
    EXPECT_EQ(fact, facts[part]) << part << " differs: " << Json::diff(fact, facts[part]).dump(1).substr(0, 1500);
}

INSTANTIATE_TEST_SUITE_P(Networks, Scrambled, ::testing::ValuesIn(factsCases()),
                         [](const auto& info) { return nameOf(info.param); });

}  // namespace
}  // namespace fusescope::test
