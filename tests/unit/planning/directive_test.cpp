#include "base/json.h"
#include "planning/directives_file.h"

#include "planning/directives/directive_form.h"
#include "planning/plan_options_json.h"
#include "tests/support/paths.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::pin;

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
  Directives directives{parsePin("a*=f16:obey").value(),
                        parseOutputType("b=bf16").value(),
                        fallbackDirective("op:Conv"),
                        splitDirective("c"),
                        parseNoFuse("view@d").value(),
                        parseTruncate("all").value(),
                        minSegmentDirective(4),
                        parseTruncateInputs("none").value(),
                        parseTruncateConstants("double").value()};
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
  const auto newer = Json::parse(R"({"format":"fusescope.directives","version":4,"directives":[]})");
  EXPECT_EQ(directivesFromJson(newer).error().where.attribute, "version");
}

/// What is said of a file whose only directive is `directive`.
std::string saidOf(const std::string& directive) {
  const test::TemporaryFolder folder;
  const auto file =
      folder.write("d.json", R"({"format":"fusescope.directives","version":2,"directives":[)" + directive + "]}");
  const auto read = readDirectivesFile(file);
  return read.ok() ? "it was read" : read.error().where.attribute + ": " + read.error().message;
}

TEST(Directive, AKeyThatIsNotKnownIsAnErrorWithTheNearest) {
  EXPECT_EQ(saidOf(R"({"kind":"pin","pattern":"a","type":"f16","strictnes":"obey"})"),
            "directives[0].strictnes: is not a key of a directive of kind pin; the nearest is 'strictness'");
  EXPECT_NE(
      saidOf(R"({"kind":"pin","pattern":"a","type":"f16","enabled":false})").find("directives[0].enabled: is not"),
      std::string::npos);
  EXPECT_EQ(saidOf(R"({"kind":"split","pattern":"a","type":"f16"})"),
            "directives[0].type: is not a key of a directive of kind split");
  EXPECT_NE(saidOf(R"({"kind":"truncate","mode":"all","pattern":"a"})").find("directives[0].pattern: is not"),
            std::string::npos)
      << "truncation holds everywhere";
  EXPECT_EQ(saidOf(R"({"kind":"pinn","pattern":"a","type":"f16"})"),
            "directives[0].kind: 'pinn' is no kind of directive; the nearest is 'pin'");
  EXPECT_EQ(saidOf(R"({"kind":"truncate_inputs","mode":"some"})"),
            "directives[0].mode: 'some' is none of none, long, double and all");
}

TEST(Directive, AKeyThatMustBeThereIsMissingWithTheNearest) {
  EXPECT_EQ(saidOf(R"({"kind":"pin","patern":"a","type":"f16"})"),
            "directives[0].pattern: is missing; the nearest key that is there is 'patern'");
  EXPECT_EQ(saidOf(R"({"knd":"pin","pattern":"a","type":"f16"})"),
            "directives[0].kind: is missing; the nearest key that is there is 'knd'");
  EXPECT_EQ(saidOf(R"({"kind":"pin","type":"f16"})"), "directives[0].pattern: is missing");
  Json options = toJson(PlanOptions{.weightOnly = {DataType::I4, 32}});
  options["weight_only"].erase("block");
  EXPECT_EQ(planOptionsFromJson(options).error().where.attribute, "options.weight_only.block");
}

TEST(Directive, AFileThatDoesNotSayItsFormatIsToldWhatToWrite) {
  const auto errorOf = [](const char* text) { return directivesFileFromJson(Json::parse(text)).error().text(); };
  const std::string mustSay = R"(It must say "format": "fusescope.directives", "version": 3.)";
  EXPECT_EQ(errorOf(R"({"directives":[]})"), "key 'format': is missing. " + mustSay);
  EXPECT_EQ(errorOf(R"({"fromat":"fusescope.directives","directives":[]})"),
            "key 'format': is missing; the nearest key that is there is 'fromat'. " + mustSay);
  EXPECT_EQ(errorOf(R"({"format":"fusescope.directives","directives":[]})"), "key 'version': is missing. " + mustSay);
  EXPECT_EQ(errorOf(R"({"format":"fusescope.ranges"})"),
            R"(key 'format': this is not a directives file: its format is "fusescope.ranges", not )"
            R"("fusescope.directives")");
  EXPECT_EQ(errorOf("[]"), "this is not a directives file: it contains no JSON object. " + mustSay);
}

TEST(Directive, AKeyThatStandsTwiceIsAnError) {
  EXPECT_EQ(saidOf(R"({"kind":"split","pattern":"a"},{"kind":"pin","type":"f16","pattern":"a","type":"f32"})"),
            "directives[1].type: this key occurs twice");
  EXPECT_EQ(saidOf(R"({"kind":"split","pattern":"a"},{"kind":"split","pattern":"b"})"), "it was read");
}

TEST(Directive, EveryFieldThatIsWrittenIsKnown) {
  for (const DirectiveForm* form : directiveForms()) {
    Directive directive{.id = "1",
                        .kind = kindOf(*form),
                        .pattern = "a",
                        .type = DataType::F16,
                        .rule = "r",
                        .number = 2,
                        .note = "why"};
    if (form->pattern == PatternUse::None) directive.pattern.clear();
    EXPECT_TRUE(directivesFromJson(toJson(Directives{directive})).ok()) << form->name;
  }
}

TEST(Directive, AFileHoldsWorkspaceAndWeightsThatAreHeldAsIntegers) {
  const PlanOptions options{.workspaceBytes = 4096, .weightOnly = {DataType::I4, 32}};
  const Json json = toJson(directivesFileOf(options));
  EXPECT_EQ(json["version"], 3);
  PlanOptions adopted;
  adopt(directivesFileFromJson(json).value(), adopted);
  EXPECT_EQ(adopted, options);
  Json bad = json;
  bad["weight_only"]["blok"] = 1;
  EXPECT_EQ(directivesFileFromJson(bad).error().where.attribute, "weight_only.blok");
  bad = json;
  bad["workspace_bytes"] = -1;
  EXPECT_EQ(directivesFileFromJson(bad).error().where.attribute, "workspace_bytes");
}

TEST(Directive, AKeyOfAPlansOptionsThatIsNotKnownIsAnError) {
  Json json = toJson(PlanOptions{});
  json["precision"] = Json::array({"f16"});
  const auto read = planOptionsFromJson(json);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().where.attribute, "options.precision");
  EXPECT_NE(read.error().message.find("'precisions'"), std::string::npos) << read.error().message;
}

TEST(Directive, APinNeedsAType) {
  for (const char* type : {"undefined", "", "f31"}) {
    Json json = toJson(Directives{testing::withId(pin("a=f16"), "1")});
    json["directives"][0]["type"] = type;
    EXPECT_EQ(directivesFromJson(json).error().where.attribute, "directives[0].type") << type;
  }
}

TEST(Directive, AFileHoldsTargetAndPrecisionBesides) {
  PlanOptions options{.target = "tensorrt-10", .precisions = {DataType::F16}, .directives = {pin("a=f32:obey")}};
  assignIds(options.directives);
  const Json json = toJson(directivesFileOf(options));
  EXPECT_EQ(json["version"], 2);
  EXPECT_EQ(json["target"], "tensorrt-10");
  EXPECT_EQ(json["precision"], Json::array({"f16"}));
  const auto read = directivesFileFromJson(json);
  ASSERT_TRUE(read.ok()) << read.error().text();
  PlanOptions adopted{.workspaceBytes = 7};
  adopt(read.value(), adopted);
  options.workspaceBytes = 7;
  EXPECT_EQ(adopted, options);
}

TEST(Directive, NothingLowerThanF32IsSaidToo) {
  const Json json = toJson(directivesFileOf({}));
  EXPECT_EQ(json["precision"], Json::array({"f32"}));
  PlanOptions options{.precisions = {DataType::F16}};
  adopt(directivesFileFromJson(json).value(), options);
  EXPECT_TRUE(options.precisions.empty());
}

TEST(Directive, AFileOfVersionOneSaysNothingOfTargetAndPrecision) {
  const auto old = Json::parse(R"({"format":"fusescope.directives","version":1,
    "directives":[{"kind":"pin","pattern":"a","type":"f16"}]})");
  const auto read = directivesFileFromJson(old);
  ASSERT_TRUE(read.ok()) << read.error().text();
  PlanOptions options{.target = "tensorrt-8", .precisions = {DataType::BF16}};
  adopt(read.value(), options);
  EXPECT_EQ(options.target, "tensorrt-8");
  EXPECT_EQ(options.precisions, std::vector<DataType>{DataType::BF16});
  EXPECT_EQ(options.directives.size(), 1U);
}

TEST(Directive, WrongKeysOfAFileAreLocated) {
  const auto errorOf = [](const char* key, const Json& value) {
    Json json = toJson(Directives{});
    json[key] = value;
    const auto read = directivesFileFromJson(json);
    EXPECT_FALSE(read.ok()) << json;
    return read.ok() ? Diagnostic() : read.error();
  };
  EXPECT_EQ(errorOf("target", 8).where.attribute, "target");
  EXPECT_EQ(errorOf("precision", "f16").where.attribute, "precision");
  EXPECT_EQ(errorOf("precision", Json::array()).where.attribute, "precision");
  EXPECT_NE(errorOf("precision", Json::array({"int64"})).message.find("'int64'"), std::string::npos);
  EXPECT_EQ(errorOf("default", "f16").where.attribute, "default") << "a directive must not be left out in silence";
  EXPECT_NE(errorOf("default", "f16").help.find("precision"), std::string::npos);
}

}  // namespace
}  // namespace fusescope
