// What becomes of a network that a compiler cannot compile, where its error does not say because of which node.
#include <algorithm>

#include "compilers/compile_network.h"
#include "session/artifact.h"
#include "session/open_artifact.h"
#include "tests/unit/frontends/onnx_files.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::cpuOptions;
using testing::ModelBuilder;
using testing::planned;

/// Compiles as ours does, but gives up on what it is told to, without a word about where.
class Failing final : public Compiler {
 public:
  using Fails = std::function<bool(const Plan&)>;
  explicit Failing(Fails fails) : m_fails(std::move(fails)) {}

  std::string_view name() const override { return "failing"; }
  CompilerIdentity identity() const override { return {.name = "failing", .version = "1", .environment = {}}; }
  std::string target() const override { return "cpu"; }
  std::string whyNot(Ability) const override { return {}; }
  bool takesWholeNetworks() const override { return false; }
  Result<CompilerSupport> support(const Plan&, const BuildOptions&) const override { return CompilerSupport(); }
  Result<Lowered> lower(std::shared_ptr<const Plan> plan, const BuildOptions&) const override {
    return Lowered{.plan = std::move(plan)};
  }
  Result<std::unique_ptr<Engine>> compile(const Lowered& lowered, const BuildOptions& options) const override {
    ++builds;
    if (m_fails(*lowered.plan)) return Diagnostic{.message = "gave up"};
    return ownCompiler().compile(lowered, options);
  }

  mutable int builds = 0;

 private:
  Fails m_fails;
};

bool holds(const Plan& plan, std::string_view name) {
  return plan.graph().findNode(name).has_value();
}

/// n0 -> n1 -> … -> n15
/// A plan of the model for the CPU, by the compiler of these tests.
std::shared_ptr<const Plan> failingPlan(const std::shared_ptr<const Model>& model, Directives directives = {}) {
  PlanOptions options = cpuOptions();
  options.target = "cpu";
  options.compiler = "failing";
  options.directives = std::move(directives);
  return planned(model, options);
}

std::shared_ptr<const Plan> chain() {
  ModelBuilder m;
  ValueId last = m.input("x", {4, 8});
  for (int i = 0; i < 16; ++i) last = m.node("Exp", "n" + std::to_string(i), {last}, {4, 8});
  m.output(last);
  return failingPlan(m.build());
}

/// The nodes that fell back, and why the first did.
std::string fallbackOf(const Compiler& compiler) {
  const auto engine = compileNetwork(compiler, chain(), {.measureTactics = false});
  EXPECT_TRUE(engine.ok()) << (engine.ok() ? "" : engine.error().text());
  std::string text;
  if (!engine.ok()) return text;
  for (const NodeId node : engine.value()->plan().graph().order()) {
    const NodeSupport* said =
        engine.value()->plan().options.support->find(engine.value()->plan().graph().node(node).name);
    if (said == nullptr || said->isAccepted != false) continue;
    EXPECT_EQ(said->foundBy, SupportSource::Build);
    EXPECT_EQ(said->message, "gave up");
    text += (text.empty() ? "" : " ") + said->node;
  }
  return text;
}

TEST(FailingCompiler, TheNodeIsFoundByCompilingHalves) {
  for (const std::string bad : {"n0", "n5", "n8", "n15"}) {
    const Failing compiler([&](const Plan& plan) { return holds(plan, bad); });
    EXPECT_EQ(fallbackOf(compiler), bad);
    EXPECT_LE(compiler.builds, 13) << "the network, two builds for each of four halvings, what remains of it";
  }
}

TEST(FailingCompiler, SeveralNodesAreFoundOneAfterAnother) {
  const Failing compiler([&](const Plan& plan) { return holds(plan, "n2") || holds(plan, "n11"); });
  EXPECT_EQ(fallbackOf(compiler), "n2 n11");
}

TEST(FailingCompiler, WhatFailsOnlyTogetherFallsBackTogether) {
  const Failing compiler([&](const Plan& plan) { return holds(plan, "n7") && holds(plan, "n8"); });
  EXPECT_EQ(fallbackOf(compiler), "n0 n1 n2 n3 n4 n5 n6 n7 n8 n9 n10 n11 n12 n13 n14 n15");
}

TEST(FailingCompiler, ACompilerThatCompilesNothingBlamesNoNode) {
  const Failing compiler([](const Plan&) { return true; });
  EXPECT_EQ(fallbackOf(compiler), "n0 n1 n2 n3 n4 n5 n6 n7 n8 n9 n10 n11 n12 n13 n14 n15");
  EXPECT_LE(compiler.builds, 6);
}

TEST(FailingCompiler, WhatDependsOnDataFallsBackTogetherAndTheRestDoesNot) {
  const test::TemporaryFolder folder;
  const auto opened =
      openArtifact(folder.write("model.onnx", test::onnxBytes(R"(g (float[4, 8] x) => (float[N, 2] y, float[4, 8] z) {
    [before] a = Exp (x)
    [places] p = NonZero (a)
    [turned] t = Transpose (p)
    [last] y = Cast <to: int = 1> (t)
    [beside] z = Exp (a)
  })")),
                   {}, {});
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  const Failing compiler([](const Plan& plan) { return holds(plan, "places"); });
  const auto engine = compileNetwork(compiler, failingPlan(opened.value().plan->model), {.measureTactics = false});
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  std::string fallback;
  for (const NodeSupport& said : engine.value()->plan().options.support->nodes)
    if (said.code == "validate.not_asked") {
      EXPECT_FALSE(said.isAccepted) << "the compiler refused none of these";
      fallback += (fallback.empty() ? "" : " ") + said.node;
    }
  EXPECT_EQ(fallback, "last turned") << "NonZero does not compile, and they hang on it";
  EXPECT_EQ(engine.value()->plan().options.support->find("places")->foundBy, SupportSource::Build);
}

/// NonZero is not in the target's table. The compiler does not refuse it, so it is given to the compiler; that it does
/// not compile is looked for where the table predicts it, whatever else is in the network.
TEST(FailingCompiler, WhatTheTablePredictsIsTriedFirst) {
  ModelBuilder m;
  ValueId last = m.input("x", {4, 8});
  for (int i = 0; i < 64; ++i) {
    last = m.node("Exp", "n" + std::to_string(i), {last}, {4, 8});
    if (i % 16 == 8) m.output(m.node("Det", "det" + std::to_string(i), {m.input("s" + std::to_string(i), {2, 2})}, {}));
  }
  m.output(last);
  const auto isBad = [](const Plan& plan) {
    return std::ranges::any_of(plan.graph().order(), [&](NodeId id) { return plan.graph().node(id).is("Det"); });
  };
  const Failing compiler(isBad);
  const auto engine = compileNetwork(compiler, failingPlan(m.build()), {.measureTactics = false});
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  EXPECT_EQ(compiler.builds, 3) << "the network, one of four equal nodes alone, and the network without them";
  for (const NodeSupport& said : engine.value()->plan().options.support->nodes) {
    EXPECT_EQ(said.isAccepted == false, said.node.starts_with("det")) << said.node;
    if (said.isAccepted == false) {
      EXPECT_EQ(said.message, "gave up");
      EXPECT_EQ(said.foundBy, SupportSource::Build);
    }
  }
}

/// A body captures values of unknown extents, and what is asked before it has known extents: between the node that
/// falls back and the body, the compiler would run some that are not behind unknown extents.
TEST(FailingCompiler, WhatIsBetweenExtentsThatDependOnDataFallsBackWithThem) {
  const test::TemporaryFolder folder;
  const auto opened =
      openArtifact(folder.write("model.onnx", test::onnxBytes(R"(g (float[4, 8] x) => (float[N, 2] y, float[4, 8] z)
      <float two = {2}> {
    [before] a = Exp (x)
    [places] p = NonZero (a)
    [turned] t = Transpose (p)
    [count] n = Size (t)
    [number] f = Cast <to: int = 1> (n)
    [doubled] d = Mul (f, two)
    [some] b = Cast <to: int = 9> (d)
    [choice] y = If (b) <
      then_branch = have () => (float[N, 2] u) { [up] u = Cast <to: int = 1> (t) },
      else_branch = lack () => (float[N, 2] v) { [lift] l = Cast <to: int = 1> (t) [down] v = Neg (l) }>
    [beside] z = Exp (a)
  })")),
                   {}, {});
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  const Failing compiler([](const Plan&) { return false; });
  const auto engine = compileNetwork(compiler, failingPlan(opened.value().plan->model, {fallbackDirective("places")}),
                                     {.measureTactics = false});
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  const Plan& plan = engine.value()->plan();
  const auto kindOf = [&](std::string_view name) {
    for (const Segment& segment : plan.segments)
      for (const NodeId node : segment.nodes)
        if (plan.graph().node(node).name == name) return segment.kind;
    ADD_FAILURE() << name;
    return SegmentKind::Fallback;
  };
  for (const char* name : {"before", "beside"}) EXPECT_EQ(kindOf(name), SegmentKind::Accelerated) << name;
  for (const char* name : {"places", "turned", "doubled", "choice"})
    EXPECT_EQ(kindOf(name), SegmentKind::Fallback) << name;
  EXPECT_EQ(plan.segments.size(), 2U);
  EXPECT_LE(compiler.builds, 1) << "nothing is compiled before the network can be cut";
}

TEST(FailingCompiler, WhatNobodyCanRunIsSaidToBeThat) {
  const test::TemporaryFolder folder;
  const auto opened = openArtifact(folder.write("model.onnx", test::onnxBytes(R"(g (float[4] x) => (float[4] y) {
    [mine] y = com.acme.Own (x)
  })",
                                                                              18, ", \"com.acme\" : 1")),
                                   {}, {});
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  const Failing compiler([](const Plan&) { return false; });
  const auto engine = compileNetwork(compiler, failingPlan(opened.value().plan->model), {.measureTactics = false});
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().where.node, "mine");
  EXPECT_NE(engine.error().message.find("it falls back from failing"), std::string::npos) << engine.error().message;
  EXPECT_NE(engine.error().help.find("Without failing you can view, plan and export the network"), std::string::npos)
      << engine.error().help;
}

TEST(FailingCompiler, TheNumberOfBuildsIsLimited) {
  const Failing compiler([&](const Plan& plan) {
    return std::ranges::any_of(plan.graph().order(),
                               [&](NodeId node) { return node.index != 0 || plan.graph().nodeCount() > 1; });
  });
  EXPECT_FALSE(fallbackOf(compiler).empty());
  EXPECT_LE(compiler.builds, 64 + 32);
}

}  // namespace
}  // namespace fusescope
