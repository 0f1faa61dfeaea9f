// What becomes of a network that a compiler refuses without naming a node.
#include "compilers/narrow_refusal.h"

#include <algorithm>
#include <functional>
#include <map>

#include "compilers/compile_network.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::cpuOptions;
using testing::ModelBuilder;
using testing::planned;

/// The names of nodes that a network must not contain; "" in place of a name refuses the network and names no node.
using Refused = std::vector<std::string>;

/// Answers about each network that it receives as it is told to.
class Wordless final : public Compiler {
 public:
  using Refuses = std::function<Refused(const Graph&)>;
  explicit Wordless(Refuses refuses) : m_refuses(std::move(refuses)) {}

  std::string_view name() const override { return "wordless"; }
  CompilerIdentity identity() const override { return {.name = "wordless", .version = "1", .environment = {}}; }
  std::string target() const override { return "cpu"; }
  std::string whyNot(Ability) const override { return {}; }
  bool takesWholeNetworks() const override { return false; }
  Result<CompilerSupport> support(const Plan& plan, const BuildOptions&) const override {
    ++questions;
    CompilerSupport told;
    for (const std::string& node : m_refuses(plan.graph()))
      told.nodes.push_back(
          {.node = node, .isAccepted = false, .code = "validate.compiler_refused", .message = "cannot"});
    return told;
  }
  Result<Lowered> lower(std::shared_ptr<const Plan> plan, const BuildOptions&) const override {
    return Lowered{.plan = std::move(plan)};
  }
  Result<std::unique_ptr<Engine>> compile(const Lowered& lowered, const BuildOptions& options) const override {
    if (!m_refuses(lowered.plan->graph()).empty()) return Diagnostic{.message = "asked in vain"};
    return ownCompiler().compile(lowered, options);
  }

  mutable int questions = 0;

 private:
  Refuses m_refuses;
};

std::shared_ptr<const Plan> wordlessPlan(const std::shared_ptr<const Model>& model, Directives directives = {}) {
  PlanOptions options = cpuOptions(std::move(directives));
  options.target = "cpu";
  options.compiler = "wordless";
  return planned(model, options);
}

/// Sixteen operators in a row, each of another form, behind a Cast of an input of `type`.
std::shared_ptr<const Model> row(DataType type) {
  constexpr const char* kOps[] = {"Exp",  "Abs", "Neg",  "Sqrt",    "Floor", "Ceil",     "Sin",  "Cos",
                                  "Tanh", "Erf", "Relu", "Sigmoid", "Log",   "Softplus", "Sign", "Round"};
  ModelBuilder m;
  ValueId last = m.node("Cast", "widen", {m.input("x", {4, 8}, type)}, {4, 8}, DataType::F32,
                        {{"to", static_cast<std::int64_t>(1)}});
  for (const char* op : kOps) last = m.node(op, op, {last}, {4, 8});
  m.output(last);
  return m.build();
}

Refused ifInputIs(const Graph& graph, DataType type) {
  for (const ValueId input : graph.inputs())
    if (graph.value(input).type.dtype == type) return {""};
  return {};
}

/// The nodes that fall back, in the order of the graph; each for the compiler's reason.
std::string fallbackFrom(const Compiler& compiler, const std::shared_ptr<const Plan>& plan) {
  const auto engine = compileNetwork(compiler, plan, {.measureTactics = false});
  EXPECT_TRUE(engine.ok()) << (engine.ok() ? "" : engine.error().text());
  std::string text;
  if (!engine.ok()) return text;
  for (const NodeSupport& said : engine.value()->plan().options.support->nodes) {
    if (said.isAccepted != false) continue;
    EXPECT_EQ(said.message, "cannot");
    EXPECT_EQ(said.code, "validate.compiler_refused");
    EXPECT_EQ(said.foundBy, SupportSource::Parser);
    text += (text.empty() ? "" : " ") + said.node;
  }
  return text;
}

TEST(WordlessRefusal, IsNarrowedDownToTheReaderOfAnInput) {
  const Wordless compiler([](const Graph& graph) { return ifInputIs(graph, DataType::U16); });
  EXPECT_EQ(fallbackFrom(compiler, wordlessPlan(row(DataType::U16))), "widen");
  EXPECT_LE(compiler.questions, 12) << "the network, its nodes, halves of seventeen forms, and the rest";
}

TEST(WordlessRefusal, WhereNothingIsRefusedNothingIsCutOut) {
  const Wordless compiler([](const Graph& graph) { return ifInputIs(graph, DataType::U16); });
  EXPECT_EQ(fallbackFrom(compiler, wordlessPlan(row(DataType::F16))), "");
  EXPECT_EQ(compiler.questions, 1);
}

TEST(WordlessRefusal, NodesOfOneFormFallBackTogether) {
  ModelBuilder m;
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(i);
    const ValueId wide = m.node("Cast", "widen" + number, {m.input("x" + number, {4}, DataType::U32)}, {4},
                                DataType::F32, {{"to", static_cast<std::int64_t>(1)}});
    m.output(m.node("Exp", "exp" + number, {wide}, {4}));
  }
  const Wordless compiler([](const Graph& graph) { return ifInputIs(graph, DataType::U32); });
  const std::string fallback = fallbackFrom(compiler, wordlessPlan(m.build()));
  EXPECT_EQ(std::ranges::count(fallback, ' '), 39);
  EXPECT_EQ(fallback.find("exp"), std::string::npos) << fallback;
  EXPECT_LE(compiler.questions, 6);
}

TEST(WordlessRefusal, WhatIsRefusedOnlyBecauseItWasCutOutIsGivenBack) {
  // Nothing but Cast writes f16, and the compiler cannot read f16 from outside, as with the inner types of quantisers.
  ModelBuilder m;
  const ValueId wide = m.node("Cast", "widen", {m.input("x", {4}, DataType::U16)}, {4}, DataType::F32,
                              {{"to", static_cast<std::int64_t>(1)}});
  const ValueId narrow = m.node("Cast", "narrow", {m.node("Exp", "exp", {wide}, {4})}, {4}, DataType::F16,
                                {{"to", static_cast<std::int64_t>(10)}});
  m.output(m.node("Cast", "back", {narrow}, {4}, DataType::F32, {{"to", static_cast<std::int64_t>(1)}}));
  const Wordless compiler([](const Graph& graph) {
    Refused refused = ifInputIs(graph, DataType::U16);
    return refused.empty() ? ifInputIs(graph, DataType::F16) : refused;
  });
  EXPECT_EQ(fallbackFrom(compiler, wordlessPlan(m.build())), "widen");
}

TEST(WordlessRefusal, NamedRefusalsBesideItAreKept) {
  const Wordless compiler([](const Graph& graph) {
    Refused refused = ifInputIs(graph, DataType::U16);
    if (graph.findNode("Erf")) refused.push_back("Erf");
    return refused;
  });
  EXPECT_EQ(fallbackFrom(compiler, wordlessPlan(row(DataType::U16))), "widen Erf");
}

TEST(WordlessRefusal, WhatFallsBackAnywayIsNotAskedAbout) {
  const Wordless compiler([](const Graph& graph) { return ifInputIs(graph, DataType::U16); });
  EXPECT_EQ(fallbackFrom(compiler, wordlessPlan(row(DataType::U16), {fallbackDirective("widen")})), "");
  EXPECT_EQ(compiler.questions, 2) << "the network, and what the compiler is to get of it";
}

TEST(WordlessRefusal, WhereNothingSmallerIsRefusedEverythingFallsBack) {
  const Wordless together([](const Graph& graph) -> Refused {
    return graph.findNode("Exp") && graph.findNode("Round") ? Refused{""} : Refused{};
  });
  const std::string all = fallbackFrom(together, wordlessPlan(row(DataType::F16)));
  EXPECT_EQ(std::ranges::count(all, ' '), 16) << all;
  const Wordless nothing([](const Graph&) { return Refused{""}; });
  EXPECT_EQ(fallbackFrom(nothing, wordlessPlan(row(DataType::F16))), all);
}

TEST(WordlessRefusal, AnInputThatNoNodeReadsRefusesTheNetwork) {
  ModelBuilder m;
  m.input("unread", {4}, DataType::U64);
  m.output(m.node("Exp", "exp", {m.input("x", {4})}, {4}));
  const Wordless compiler([](const Graph& graph) { return ifInputIs(graph, DataType::U64); });
  EXPECT_EQ(fallbackFrom(compiler, wordlessPlan(m.build())), "exp");
}

TEST(WordlessRefusal, AsksABoundedNumberOfQuestions) {
  // Each type makes another form.
  ModelBuilder m;
  constexpr DataType kTypes[] = {DataType::F32, DataType::F16, DataType::BF16, DataType::F64,
                                 DataType::I8,  DataType::I16, DataType::I32,  DataType::I64};
  for (const DataType from : kTypes)
    for (const DataType to : kTypes)
      for (const char* op : {"Abs", "Neg"}) {
        const std::string name = std::string(fusescope::name(from)) + std::string(fusescope::name(to)) + op;
        const ValueId cast = m.node("Cast", "cast" + name, {m.input("x" + name, {4}, from)}, {4}, to);
        m.output(m.node(op, name, {cast}, {4}, to));
      }
  const Wordless compiler([](const Graph& graph) {
    return std::ranges::any_of(graph.order(), [&](NodeId id) { return graph.node(id).is("Cast"); }) ? Refused{""}
                                                                                                    : Refused{};
  });
  const auto plan = wordlessPlan(m.build());
  const auto told = narrowedDown(compiler, plan, compiler.support(*plan, {}).value(), {});
  ASSERT_TRUE(told.ok()) << told.error().text();
  EXPECT_EQ(refusalOfNoNode(told.value()), nullptr);
  EXPECT_LE(compiler.questions, 65);
  for (const NodeSupport& said : told.value().nodes) EXPECT_EQ(said.isAccepted, false);
  for (const NodeId id : plan->graph().order()) {
    const Node& node = plan->graph().node(id);
    EXPECT_TRUE(!node.is("Cast") || told.value().find(node.name) != nullptr) << node.name;
  }
}

}  // namespace
}  // namespace fusescope
