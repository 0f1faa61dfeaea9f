#include "planning/directive.h"

#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::ModelBuilder;

TEST(Directive, PinIsReadFromTheEnd) {
  const auto plain = parsePin("node_linear_1=f32");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain.value().pattern, "node_linear_1");
  EXPECT_EQ(plain.value().type, DataType::F32);
  EXPECT_EQ(plain.value().strictness, Strictness::Prefer);

  const auto odd = parsePin("/a=b:c/=bf16:obey");
  ASSERT_TRUE(odd.ok());
  EXPECT_EQ(odd.value().pattern, "/a=b:c/");
  EXPECT_EQ(odd.value().type, DataType::BF16);
  EXPECT_EQ(odd.value().strictness, Strictness::Obey);
}

TEST(Directive, BadPinsSayWhatIsWrong) {
  EXPECT_NE(parsePin("node").error().message.find("no '='"), std::string::npos);
  EXPECT_NE(parsePin("=f32").error().message.find("empty"), std::string::npos);
  EXPECT_NE(parsePin("node=f31").error().message.find("'f31' is not a type"), std::string::npos);
  EXPECT_NE(parsePin("node=f32:must").error().message.find("neither obey nor prefer"), std::string::npos);
  EXPECT_EQ(parsePin("node=f31").error().where.attribute, "--pin");
  EXPECT_EQ(parseOutputType("node").error().where.attribute, "--output-type");
}

TEST(Directive, NoFuseAndTruncate) {
  EXPECT_EQ(parseNoFuse("attention").value().pattern, "");
  EXPECT_EQ(parseNoFuse("residual@node_add").value().pattern, "node_add");
  EXPECT_EQ(parseNoFuse("residual@node_add").value().rule, "residual");
  EXPECT_FALSE(parseNoFuse("@node").ok());
  EXPECT_FALSE(parseNoFuse("residual@").ok());
  EXPECT_EQ(parseTruncate("double").value().truncate, TruncateMode::Double);
  EXPECT_EQ(parseTruncate("some").error().help, "Modes: none, long, double, all.");
}

TEST(Directive, IdsAreNumberedAroundThoseGiven) {
  Directives directives{splitDirective("a"), testing::withId(splitDirective("b"), "1"), splitDirective("c")};
  assignIds(directives);
  EXPECT_EQ(directives[0].id, "2");
  EXPECT_EQ(directives[1].id, "1");
  EXPECT_EQ(directives[2].id, "3");
}

TEST(Directive, JsonGivesTheSameBack) {
  Directives directives{parsePin("a*=f16:obey").value(), parseOutputType("b=bf16").value(),
                        fallbackDirective("op:Conv"),    splitDirective("c"),
                        parseNoFuse("view@d").value(),   parseTruncate("all").value(),
                        minSegmentDirective(4)};
  directives.push_back({.kind = DirectiveKind::Tactic, .pattern = "e", .rule = "onednn:jit:avx2"});
  directives[0].note = "overflows";
  assignIds(directives);
  const auto read = directivesFromJson(toJson(directives));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read.value(), directives);
}

TEST(Directive, BadJsonNamesTheField) {
  const auto missing = Json::parse(R"({"format":"fusescope.directives","version":1,"directives":[{"kind":"pin"}]})");
  EXPECT_EQ(directivesFromJson(missing).error().where.attribute, "directives[0].pattern");
  EXPECT_EQ(directivesFromJson(Json::parse(R"({"format":"x"})")).error().where.attribute, "format");
  const auto newer = Json::parse(R"({"format":"fusescope.directives","version":2,"directives":[]})");
  EXPECT_EQ(directivesFromJson(newer).error().where.attribute, "version");
}

class PatternTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ModelBuilder builder;
    const ValueId x = builder.input("x", {2, 2});
    const ValueId a = builder.node("Relu", "layer.0.relu", {x}, {2, 2});
    const ValueId b = builder.node("Relu", "layer.1.relu", {a}, {2, 2});
    builder.output(builder.node("Abs", "/abs/", {b}, {2, 2}));
    m_graph = builder.build()->graph;
  }
  std::vector<std::string> matched(std::string_view pattern) {
    const auto nodes = matchPattern(*m_graph, {"first", "second", "third"}, pattern);
    EXPECT_TRUE(nodes.ok()) << pattern;
    std::vector<std::string> names;
    for (NodeId id : nodes.value()) names.push_back(m_graph->node(id).name);
    return names;
  }
  std::shared_ptr<const Graph> m_graph;
};

TEST_F(PatternTest, NamesGlobsRegexesAndOperators) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(matched("layer.1.relu"), Names{"layer.1.relu"});
  EXPECT_EQ(matched("layer.*"), (Names{"layer.0.relu", "layer.1.relu"}));
  EXPECT_EQ(matched("/1.relu$/"), Names{"layer.1.relu"});
  EXPECT_EQ(matched("op:Abs"), Names{"/abs/"});
  EXPECT_EQ(matched("/abs/"), Names{"/abs/"}) << "a name that looks like a regular expression is a name first";
  EXPECT_EQ(matched("second"), Names{"layer.1.relu"}) << "nodes answer to the names of their origins";
}

TEST_F(PatternTest, NothingMatchedGivesTheNearest) {
  const auto wrong = matchPattern(*m_graph, {}, "layer.0.rely");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("layer.0.rely"), std::string::npos);
  EXPECT_NE(wrong.error().help.find("layer.0.relu"), std::string::npos);
  EXPECT_NE(matchPattern(*m_graph, {}, "op:Abz").error().help.find("op:Abs"), std::string::npos);
  EXPECT_NE(matchPattern(*m_graph, {}, "/(/").error().message.find("not a regular expression"), std::string::npos);
}

}  // namespace
}  // namespace fusescope
