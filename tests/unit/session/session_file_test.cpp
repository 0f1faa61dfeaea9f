#include "session/session_file.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/files.h"
#include "session/verdict.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTwoLayers =
    "g (float[2, 2] x) => (float[2, 2] y) { [first] a = Relu (x) [second] y = Sigmoid (a) }";
constexpr const char* kOneLayer = "g (float[2, 2] x) => (float[2, 2] y) { [first] y = Relu (x) }";

Directive pinOf(const std::string& pattern) {
  return {.kind = DirectiveKind::Pin, .pattern = pattern, .type = DataType::F32};
}

Run exampleRun() {
  Run run{.id = "1", .name = "baseline", .state = RunState::Ready, .model = "abc", .threads = 2};
  run.options = {.precisions = {DataType::F16}, .directives = {pinOf("second")}};
  assignIds(run.options.directives);
  run.extents = {{.name = "x", .fixed = Dims{2, 2}}};
  run.machine = "a machine";
  run.started = timestamp();
  run.build = RunBuild{.phases = {{"lower", 1.5}}, .regions = 2, .distinct = 1, .bytes = 10};
  run.time = RunTime{.medianMs = 0.5, .samples = 9, .threads = 2};
  run.time->layers = {{.name = "first", .identity = "00", .types = "{}", .tactic = "t", .medianMs = 0.25},
                      {.name = "second", .emulated = true}};
  TensorComparison bad{.name = "y", .maxAbs = std::numeric_limits<double>::infinity()};
  bad.ofBound = bad.maxOverRms = bad.maxRel = std::numeric_limits<double>::infinity();
  run.evaluation = Evaluation{.tolerance = Tolerance::standard(), .outputs = {bad}};
  run.log = {"lower: first"};
  return run;
}

Session exampleSession(const fs::path& model) {
  Session session{.id = "s1"};
  auto identified = identify(model);
  EXPECT_TRUE(identified.ok());
  session.model = identified.value();
  session.options = exampleRun().options;
  session.runs = {exampleRun()};
  session.comparisons = {{.a = "1", .b = "1", .when = timestamp(), .report = Json{{"turns", 5}}}};
  session.shown = "1";
  session.nextRun = 2;
  session.settings.inputs = (model.parent_path() / "inputs.npz").string();
  session.view = Json{{"zoom", 1.5}};
  return session;
}

TEST(SessionFile, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  const Session session = exampleSession(folder.write("model.onnx", onnxBytes(kTwoLayers)));
  const fs::path file = folder.path() / "s.fsession";
  ASSERT_TRUE(writeSession(file, session).ok());
  EXPECT_TRUE(isSessionFile(file));
  const auto read = readSession(file);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_TRUE(read.value() == session);
}

TEST(SessionFile, AFolderIsMovedAsAWhole) {
  const TemporaryFolder folder, other;
  const Session session = exampleSession(folder.write("model.onnx", onnxBytes(kTwoLayers)));
  ASSERT_TRUE(writeSession(folder.path() / "s.fsession", session).ok());
  for (const char* name : {"model.onnx", "s.fsession"}) fs::copy(folder.path() / name, other.path() / name);
  const auto read = readSession(other.path() / "s.fsession");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read.value().model.path, (other.path() / "model.onnx").string());
  EXPECT_EQ(modelChange(read.value().model), ModelChange::Same);
}

TEST(SessionFile, ARunThatWasUnderWayIsInterrupted) {
  const TemporaryFolder folder;
  Session session = exampleSession(folder.write("model.onnx", onnxBytes(kTwoLayers)));
  session.runs[0].state = RunState::Timing;
  ASSERT_TRUE(writeSession(folder.path() / "s.fsession", session).ok());
  const auto read = readSession(folder.path() / "s.fsession");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().runs[0].state, RunState::Interrupted);
  EXPECT_FALSE(read.value().runs[0].problem.empty());
  EXPECT_TRUE(read.value().runs[0].build == session.runs[0].build);
}

TEST(SessionFile, ErrorsNameFileAndField) {
  const TemporaryFolder folder;
  Session session = exampleSession(folder.write("model.onnx", onnxBytes(kTwoLayers)));
  const auto errorOf = [&](auto change) {
    Json json = toJson(session, folder.path());
    change(json);
    const fs::path file = folder.write("bad.fsession", json.dump());
    const auto read = readSession(file);
    EXPECT_FALSE(read.ok());
    if (read.ok()) return Diagnostic();
    EXPECT_EQ(read.error().where.file, file.string());
    return read.error();
  };
  EXPECT_EQ(errorOf([](Json& json) { json["version"] = kSessionVersion + 1; }).where.attribute, "version");
  EXPECT_EQ(errorOf([](Json& json) { json.erase("model"); }).where.attribute, "model");
  EXPECT_EQ(errorOf([](Json& json) { json["runs"][0]["time"]["samples"] = "nine"; }).where.attribute,
            "runs[0].time.samples");
  EXPECT_EQ(errorOf([](Json& json) { json["shown"] = "7"; }).where.attribute, "shown");
  EXPECT_EQ(errorOf([](Json& json) { json["runs"].push_back(json["runs"][0]); }).where.attribute, "runs");
  EXPECT_FALSE(readSession(folder.write("cut.fsession", "{\"format\":\"fusescope.session\",")).ok());
}

TEST(OpenSession, PlansTheModelAsTheSessionWishes) {
  const TemporaryFolder folder;
  const Session session = exampleSession(folder.write("model.onnx", onnxBytes(kTwoLayers)));
  ASSERT_TRUE(writeSession(folder.path() / "s.fsession", session).ok());
  std::vector<std::string> warnings;
  const auto artifact = openSession(folder.path() / "s.fsession", {}, {}, warnings);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  EXPECT_TRUE(warnings.empty());
  EXPECT_TRUE(artifact.value().plan->options == session.options);
  ASSERT_NE(artifact.value().session, nullptr);
  EXPECT_EQ(artifact.value().session->settings.inputs, session.settings.inputs);
}

TEST(OpenSession, OfAChangedModelKeepsWhatAppliesAndSaysWhatDoesNot) {
  const TemporaryFolder folder;
  Session session = exampleSession(folder.write("model.onnx", onnxBytes(kTwoLayers)));
  session.options.directives = {pinOf("first"), pinOf("second")};
  ASSERT_TRUE(writeSession(folder.path() / "s.fsession", session).ok());
  folder.write("model.onnx", onnxBytes(kOneLayer));
  std::vector<std::string> warnings;
  const auto artifact = openSession(folder.path() / "s.fsession", {}, {}, warnings);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_NE(warnings[0].find("has changed"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[1].find("pin second"), std::string::npos) << warnings[1];
  ASSERT_EQ(artifact.value().plan->options.directives.size(), 1U);
  EXPECT_EQ(artifact.value().plan->options.directives[0].pattern, "first");
}

TEST(OpenSession, AMissingModelIsAskedForAndMayLieElsewhere) {
  const TemporaryFolder folder;
  const fs::path model = folder.write("model.onnx", onnxBytes(kTwoLayers));
  ASSERT_TRUE(writeSession(folder.path() / "s.fsession", exampleSession(model)).ok());
  fs::rename(model, folder.path() / "moved.onnx");
  std::vector<std::string> warnings;
  const auto missing = openSession(folder.path() / "s.fsession", {}, {}, warnings);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().help.find("model.onnx"), std::string::npos);
  EXPECT_TRUE(openSession(folder.path() / "s.fsession", folder.path() / "moved.onnx", {}, warnings).ok());
  EXPECT_TRUE(warnings.empty());
}

TensorComparison compared(const std::string& name, double overRms) {
  TensorComparison comparison{.name = name, .maxAbs = overRms, .maxRel = overRms, .maxOverRms = overRms};
  comparison.ofBound = overRms / *Tolerance::standard().rms;
  comparison.ok = comparison.ofBound <= 1;
  return comparison;
}

TEST(Verdict, PassesWithinTheToleranceAndSaysHowMuchOfItIsTaken) {
  const Evaluation evaluation{.tolerance = Tolerance::standard(),
                              .outputs = {compared("y", 5e-4), compared("z", 1e-5)}};
  const Verdict verdict = verdictOf(evaluation, Tolerance::standard());
  EXPECT_EQ(verdict.kind, Verdict::Kind::Pass);
  EXPECT_EQ(verdict.output, "y");
  EXPECT_DOUBLE_EQ(verdict.ofBound, 0.5);
  EXPECT_TRUE(verdict.firstWrong.empty());
}

TEST(Verdict, FailsAtTheFirstValueThatIsNotFinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  const Evaluation evaluation{.tolerance = Tolerance::standard(),
                              .outputs = {compared("y", infinite)},
                              .values = {compared("a", 2e-3), compared("b", infinite), compared("c", infinite)}};
  const Verdict verdict = verdictOf(evaluation, Tolerance::standard());
  EXPECT_EQ(verdict.kind, Verdict::Kind::Fail);
  EXPECT_EQ(verdict.firstWrong, "b");
  EXPECT_TRUE(verdict.firstNotFinite);
  EXPECT_NE(inWords(verdict).find("first not finite at b"), std::string::npos) << inWords(verdict);
}

TEST(Verdict, ABoundOnRmsIsJudgedAnewAndOneOnElementsIsNot) {
  const Evaluation evaluation{.tolerance = Tolerance::standard(),
                              .outputs = {compared("y", 5e-3)},
                              .values = {compared("a", 1e-4), compared("b", 3e-3)}};
  EXPECT_EQ(verdictOf(evaluation, {.rms = 1e-2}).kind, Verdict::Kind::Pass);
  const Verdict failed = verdictOf(evaluation, {.rms = 2e-3});
  EXPECT_EQ(failed.kind, Verdict::Kind::Fail);
  EXPECT_EQ(failed.firstWrong, "b");
  EXPECT_EQ(verdictOf(evaluation, {.absolute = 1.0, .relative = 0.0}).kind, Verdict::Kind::Unknown);
  EXPECT_EQ(verdictOf(fusescope::Run(), Tolerance::standard()).kind, Verdict::Kind::Unknown);
}

TEST(RunTitle, TellsTheOptionsApart) {
  EXPECT_EQ(titleOf({}), "baseline");
  EXPECT_EQ(titleOf(exampleRun().options), "precision f16, 1 pin");
}

}  // namespace
}  // namespace fusescope::test
