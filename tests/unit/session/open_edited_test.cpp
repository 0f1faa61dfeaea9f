// A network that is planned again with other options is planned as if it had just been opened.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "engine/tactics/build_memory.h"
#include "session/artifact.h"
#include "session/build_and_run.h"
#include "session/open_artifact.h"
#include "tests/support/paths.h"

namespace fusescope::test {
namespace {

PlanOptions pinnedTo(DataType type, const std::string& pattern = "op:Gemm") {
  PlanOptions options;
  options.directives.push_back({.id = "1", .kind = DirectiveKind::Pin, .pattern = pattern, .type = type});
  return options;
}

class OpenEdited : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy(sampleFolder("fp16_overflow"), m_folder / "network",
                          std::filesystem::copy_options::recursive);
  }
  std::filesystem::path model() const { return m_folder / "network" / "model.onnx"; }
  Artifact opened(const PlanOptions& options = {}) const {
    auto artifact = openArtifact(model(), {}, options);
    EXPECT_TRUE(artifact.ok()) << artifact.error().text();
    return std::move(artifact).value();
  }

  TemporaryFolder m_folder;
};

TEST_F(OpenEdited, GivesThePlanOfAFreshlyOpenedNetwork) {
  const Artifact before = opened();
  for (const PlanOptions& options : {pinnedTo(DataType::F16), pinnedTo(DataType::BF16), PlanOptions()}) {
    const auto edited = openEdited(before, options);
    ASSERT_TRUE(edited.ok()) << edited.error().text();
    const Artifact fresh = opened(options);
    EXPECT_EQ(edited.value().plan->hash, fresh.plan->hash);
    EXPECT_EQ(toJson(*edited.value().plan).dump(), toJson(*fresh.plan).dump());
    EXPECT_EQ(edited.value().plan->model, before.plan->model) << "the network was not read again";
    EXPECT_EQ(edited.value().plan->structure, before.plan->structure);
    EXPECT_EQ(edited.value().memory, before.memory);
    EXPECT_NE(fresh.memory, before.memory);
  }
}

TEST_F(OpenEdited, BuildsTakeOverWhatDidNotChange) {
  const Artifact before = opened();
  const auto built = [](const Artifact& artifact) {
    BuildOptions options = buildOptions(artifact, 1, {});
    options.measureTactics = false;
    auto engine = openEngine(artifact, options);
    EXPECT_TRUE(engine.ok()) << engine.error().text();
    return std::move(engine).value()->report();
  };
  const BuildReport first = built(before);
  EXPECT_EQ(first.takenOver, 0);
  const BuildReport same = built(openEdited(before, {}).value());
  EXPECT_EQ(same.takenOver, same.regions);
  EXPECT_EQ(same.compiled, 0);
  EXPECT_EQ(built(opened()).takenOver, 0) << "another session";
}

TEST_F(OpenEdited, RefusesWhatHoldsItsOwnOptionsAndFilesThatChanged) {
  const Artifact before = opened();
  const auto plan = m_folder / "plan.json";
  ASSERT_TRUE(writeFileAtomically(plan, toJson(*before.plan).dump()).ok());
  const auto ofPlan = openArtifact(plan, {}, {});
  ASSERT_TRUE(ofPlan.ok()) << ofPlan.error().text();
  EXPECT_FALSE(openEdited(ofPlan.value(), pinnedTo(DataType::F16)).ok());
  EXPECT_FALSE(openEdited(before, pinnedTo(DataType::F16, "nothing_of_this_name")).ok());
  std::string bytes = readTextFile(model()).value();
  ASSERT_TRUE(writeFileAtomically(model(), bytes + "x").ok());
  const auto changed = openEdited(before, pinnedTo(DataType::F16));
  ASSERT_FALSE(changed.ok());
  EXPECT_NE(changed.error().text().find("changed"), std::string::npos) << changed.error().text();
}

}  // namespace
}  // namespace fusescope::test
