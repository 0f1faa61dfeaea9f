// What an engine file says of a network, described before the file is written.
#include "engine/description/described_model.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "engine/engine_file.h"
#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

std::string fileOf(const std::shared_ptr<const Plan>& plan, const std::filesystem::path& path) {
  const Status written = writeEngineFile(
      path,
      {.path = {}, .plan = plan, .made = nullptr, .backend = "reference", .fingerprint = "of a test", .extents = {}});
  EXPECT_TRUE(written.ok()) << written.error().text();
  return readTextFile(path).value();
}

TEST(DescribedModel, AFileIsTheSameIfItsModelWasDescribedAhead) {
  const TemporaryFolder folder;
  const auto plan = planOf(smallNetwork());
  const std::string expected = fileOf(plan, folder / "now.fse");
  const EngineFileExpected isExpected;
  describeAhead(unquantized(plan->model));
  EXPECT_TRUE(fileOf(plan, folder / "ahead.fse") == expected);
  EXPECT_TRUE(fileOf(plan, folder / "again.fse") == expected) << "what was described ahead serves one file";
}

TEST(DescribedModel, WhatWasDescribedOfAnotherModelIsNotTaken) {
  const TemporaryFolder folder;
  const auto plan = planOf(smallNetwork());
  const std::string expected = fileOf(plan, folder / "now.fse");
  Model renamed = *unquantized(plan->model);
  renamed.producer = "somebody else";
  const auto other = std::make_shared<const Model>(std::move(renamed));
  const EngineFileExpected isExpected;
  describeAhead(other);
  EXPECT_TRUE(fileOf(plan, folder / "small.fse") == expected);
  const DescribedModel described = describedModel(other);
  EXPECT_EQ(described.model, other);
  EXPECT_NE(described.text.find("somebody else"), std::string::npos);
}

TEST(DescribedModel, WhoMeasuresWaitsForWhatIsDescribedAhead) {
  const TemporaryFolder folder;
  const auto plan = planOf(smallNetwork());
  const std::string expected = fileOf(plan, folder / "now.fse");
  awaitDescription();  // nothing is described
  const EngineFileExpected isExpected;
  describeAhead(unquantized(plan->model));
  awaitDescription();
  EXPECT_TRUE(fileOf(plan, folder / "ahead.fse") == expected);
  awaitDescription();  // what was described is taken already
}

TEST(DescribedModel, NothingIsKeptOfAModelThatNoFileIsExpectedOf) {
  auto model = std::make_shared<const Model>(*unquantized(planOf(smallNetwork())->model));
  const std::weak_ptr<const Model> kept = model;
  describeAhead(model);
  {
    const EngineFileExpected isExpected;
    describeAhead(model);
  }
  model.reset();
  EXPECT_TRUE(kept.expired());
}

TEST(DescribedModel, ANameThatIsNoTextIsAnErrorOfTheFile) {
  const TemporaryFolder folder;
  const auto planned = planOf(smallNetwork());
  Model damaged = *unquantized(planned->model);
  damaged.producer = "\xff";
  Plan plan = *planned;
  plan.model = std::make_shared<const Model>(std::move(damaged));
  const EngineFileExpected isExpected;
  describeAhead(unquantized(plan.model));
  const Status written =
      writeEngineFile(folder / "bad.fse", {.path = {}, .plan = std::make_shared<const Plan>(plan), .made = nullptr});
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().text().find("is not valid text"), std::string::npos) << written.error().text();
  EXPECT_FALSE(std::filesystem::exists(folder / "bad.fse"));
}

}  // namespace
}  // namespace fusescope::testing
