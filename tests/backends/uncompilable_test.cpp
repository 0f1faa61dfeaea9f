// What cannot be prepared in the way that was chosen runs in another one, and the build says so.
#include <gtest/gtest.h>

#include "tests/backends/backend_fixture.h"
#include "tests/backends/faulty/faulty_backend.h"

namespace fusescope::testing {
namespace {

/// x [4] → Exp → Neg, as two fused nodes.
std::shared_ptr<const Plan> twoNodes(Directives directives = {}) {
  GraphEditor editor;
  const TensorType type{.dtype = DataType::F32, .shape = Shape::of(Dims{4})};
  const ValueId x = editor.addInput("x", type), e = editor.addValue("e", type), y = editor.addValue("y", type);
  editor.addNode({.op = "Exp", .name = "exp", .inputs = {x}, .outputs = {e}});
  editor.addNode({.op = "Neg", .name = "neg", .inputs = {e}, .outputs = {y}});
  editor.addOutput(y);
  directives.push_back({.kind = DirectiveKind::Split, .pattern = "exp"});
  return planOf(modelOf(editor), {.directives = std::move(directives)});
}

std::vector<const Decision*> failures(const BuildReport& report) {
  std::vector<const Decision*> found;
  for (const Decision& decision : report.decisions)
    if (decision.code == "tactic.failed") found.push_back(&decision);
  return found;
}

class Uncompilable : public ::testing::Test {
 protected:
  void TearDown() override { setUncompilable({}); }
  KernelStore store;  // what other tests compiled is not in it
  BuildOptions options{.backend = "faulty", .threads = 1, .measureTactics = false, .kernels = &store};
};

TEST_F(Uncompilable, RunsInAnotherWayAndSaysWhy) {
  setUncompilable("Exp");
  const auto plan = twoNodes();
  const auto engine = engineOf(plan, options);
  ASSERT_EQ(engine->report().tactics.size(), 2U);
  EXPECT_EQ(engine->report().tactics[0].chosen, "faulty:wrong");
  EXPECT_EQ(engine->report().tactics[1].chosen, "faulty:right");
  const auto failed = failures(engine->report());
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0]->subjects.front().text(), "exp");
  EXPECT_EQ(failed[0]->arguments["tactic"], "faulty:right");
  EXPECT_EQ(failed[0]->arguments["instead"], "faulty:wrong");
  EXPECT_EQ(failed[0]->arguments["problem"], "its code generator gave up");
  Tensor x = Tensor::zeros(DataType::F32, {4});
  const auto result = engine->run({{"x", x}});
  ASSERT_TRUE(result.ok());
  expectAsReference(plan, result.value(), {{"x", x}});
}

TEST_F(Uncompilable, AlsoWhereSomebodyAskedForIt) {
  setUncompilable("Exp");
  const auto plan = twoNodes({{.kind = DirectiveKind::Tactic, .pattern = "exp", .rule = "faulty:right"}});
  const auto engine = engineOf(plan, options);
  EXPECT_EQ(engine->report().tactics[0].chosen, "faulty:wrong");
  EXPECT_EQ(failures(engine->report()).size(), 1U);
}

TEST_F(Uncompilable, InNoWayDoesNotBuild) {
  setUncompilable("Exp", true);
  const auto engine = buildEngine(twoNodes(), options);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().where.node, "exp");
  EXPECT_NE(engine.error().message.find("gave up"), std::string::npos) << engine.error().text();
}

}  // namespace
}  // namespace fusescope::testing
