#include "session/session_file.h"
#include "session/inputs/sample_source.h"
#include "session/open_artifact.h"
#include "session/open_model.h"
#include "session/runs/run_comparison.h"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>
#include <utility>

#include "base/files.h"
#include "session/runs/verdict.h"
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
  const LayerTypes kTypes{.compute = DataType::F16, .calculates = {DataType::F16}, .inputs = {DataType::F32}};
  Run run{.id = "1", .name = "baseline", .state = RunState::Ready, .model = "abc", .threads = 2};
  run.options = {.precisions = {DataType::F16}, .directives = {pinOf("second")}};
  assignIds(run.options.directives);
  run.extents = {{.name = "x", .fixed = Dims{2, 2}}};
  run.machine = "a machine";
  run.started = timestamp();
  run.build = RunBuild{.phases = {{"lower", 1.5}}, .regions = 2, .distinct = 1, .bytes = 10};
  run.time = RunTime{.medianMs = 0.5, .samples = 9, .threads = 2, .remark = "of kernels: means"};
  run.time->layers = {{.name = "first", .identity = "00", .types = kTypes, .tactic = "t", .medianMs = 0.25},
                      {.name = "second", .emulated = true}};
  TensorComparison bad{.name = "y", .maxAbs = std::numeric_limits<double>::infinity()};
  bad.ofBound = bad.maxOverRms = bad.maxRel = std::numeric_limits<double>::infinity();
  run.evaluations = {Evaluation{.when = timestamp(), .tolerance = Tolerance::standard(), .outputs = {bad}},
                     Evaluation{.when = timestamp(),
                                .inputs = {.paths = {"/elsewhere/other.npz"}, .batchAxis = 0},
                                .tolerance = {.rms = 0.5},
                                .samples = {{"other_0", {{.name = "y", .ok = true}}}}}};
  RunErrors errors{.when = timestamp(), .inputs = {.paths = {"/elsewhere/other.npz"}}, .samples = 3, .against = "f32"};
  errors.nodes = {{.name = "first", .identity = "00", .types = kTypes, .errors = {TensorError{.maxOverRms = 0.5}, {}}}};
  errors.tensors = {{.name = "a", .fusedNode = "first", .stored = DataType::F16, .isOutput = true}};
  errors.tensors[0].errors.carried =
      TensorError{.elements = 4, .maxOverRms = std::numeric_limits<double>::infinity(), .nonFinite = 0.25};
  errors.notMeasured = {{"b", "it has no elements"}};
  run.errors = {errors};
  run.serving =
      RunServing{.when = "2026-01-31T13:00:00Z",
                 .inputs = {.paths = {"/elsewhere/other.npz"}},
                 .settled = false,
                 .samples = {{.sample = "a", .extents = {{"x", {1, 4}}}, .state = ServingState::Seen, .calls = 1},
                             {.sample = "b",
                              .extents = {{"x", {5, 4}}},
                              .state = ServingState::TakenOver,
                              .calls = 90,
                              .generalMs = 0.5,
                              .specialisedMs = 0.25,
                              .firstMs = 3,
                              .takenOverMs = 400,
                              .bytes = 4096}}};
  run.log = {"lower: first"};
  return run;
}

Run exampleComparison() {
  Run run{.id = "2", .name = "run 1 against run 1", .kind = RunKind::Comparison, .state = RunState::Ready};
  RunComparison compared{
      .a = "1", .b = "1", .inputs = {.paths = {"/elsewhere/other.npz"}}, .valuesInBodies = 3, .aMs = 1.0, .bMs = 2.0};
  compared.groups = {{.origins = {"first"},
                      .a = {"first"},
                      .b = {"first"},
                      .identitiesOfA = {"00"},
                      .identitiesOfB = {"00"},
                      .same = true,
                      .aMs = 0.5,
                      .deltaRangeMs = Range{-1, 1}},
                     {.body = BodyPath().into("h", "body"), .b = {"h/in"}, .identitiesOfB = {"01"}}};
  compared.outputs = {{.name = "y", .ok = true, .maxAbs = 1e-3}};
  compared.turns = 5;
  compared.ratioRange = Range{1.9, 2.1};
  compared.differences = {{.kind = ComparedDifferenceKind::Types, .a = "f32", .b = "bf16"}};
  compared.notRanked = "A was disturbed";
  compared.timeUnavailable = "A: emulated";
  run.comparison = std::move(compared);
  return run;
}

Session exampleSession(const fs::path& model) {
  Session session{.id = "s1"};
  auto identified = identify(model);
  EXPECT_TRUE(identified.ok());
  session.model = identified.value();
  session.options = exampleRun().options;
  session.runs = {exampleRun(), exampleComparison()};
  session.shown = "1";
  session.comparison = "2";
  session.nextRun = 3;
  session.settings.inputs.paths = {(model.parent_path() / "inputs.npz").string(), "/elsewhere/other.npz"};
  session.settings.inputs.batchAxis = 1;
  session.runs[0].time->inputs = session.settings.inputs;
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

/// Ranges of one edge, with a histogram of many bins.
std::shared_ptr<const Ranges> exampleRanges(float largest) {
  std::vector<float> numbers(4000);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = largest * static_cast<float>(i) / static_cast<float>(numbers.size());
  Histogram histogram;
  histogram.add(numbers);
  Ranges ranges{.samples = 3};
  ranges.edges.emplace("a", EdgeRange{{0, largest}, histogram});
  return std::make_shared<const Ranges>(std::move(ranges));
}

TEST(SessionFile, RangesStandOnceAndAreShared) {
  const TemporaryFolder folder;
  Session session = exampleSession(folder.write("model.onnx", onnxBytes(kTwoLayers)));
  session.calibrated = {exampleRanges(2)};
  session.options.ranges = session.calibrated.ranges;
  session.runs[0].options.ranges = exampleRanges(2);  // equal, and of another place in memory
  session.settings.errorsAgainst = ErrorsAgainst::F64;
  session.settings.tune = {.goal = {.minSpeedup = 1.25, .evaluations = 9}, .metric = "judge"};
  const fs::path file = folder.path() / "s.fsession";
  ASSERT_TRUE(writeSession(file, session).ok());
  EXPECT_EQ(toJson(session, folder.path())["ranges"].size(), 1U);
  const auto read = readSession(file);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_TRUE(read.value() == session);
  const auto& ranges = read.value().calibrated.ranges;
  ASSERT_NE(ranges, nullptr);
  EXPECT_EQ(read.value().options.ranges, ranges);
  EXPECT_EQ(read.value().runs[0].options.ranges, ranges);
  const Histogram& histogram = *ranges->edges.at("a").histogram;
  EXPECT_EQ(histogram.count(), 4000);
  EXPECT_LE(std::ssize(histogram.bins()), SessionRanges::kMostBins);

  session.runs[0].options.ranges = exampleRanges(3);
  const Json two = toJson(session, folder.path());
  EXPECT_EQ(two["ranges"].size(), 2U);
  Json bad = two;
  bad["runs"][0]["options"]["ranges"] = 2;
  const auto place = sessionFromJson(bad, folder.path());
  ASSERT_FALSE(place.ok());
  EXPECT_EQ(place.error().where.attribute, "runs[0].options.ranges");
  bad = two;
  bad["calibrated"] = "first";
  ASSERT_FALSE(sessionFromJson(bad, folder.path()).ok());
}

TEST(SessionFile, Version3HeldRangesInEachOfItsOptions) {
  const TemporaryFolder folder;
  Session session = exampleSession(folder.write("model.onnx", onnxBytes(kTwoLayers)));
  Json json = toJson(session, folder.path());
  json["version"] = 3;
  for (const char* later : {"ranges", "calibrated", "errors_against", "tune"}) json.erase(later);
  json["options"]["ranges"] = toJson(*exampleRanges(2), Histograms::LeftOut);
  json["runs"][0]["options"]["ranges"] = json["options"]["ranges"];
  const auto read = sessionFromJson(json, folder.path());
  ASSERT_TRUE(read.ok()) << read.error().text();
  session.options.ranges = session.runs[0].options.ranges = exampleRanges(2);
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
  EXPECT_EQ(read.value().settings.inputs.paths,
            (std::vector<std::string>{(other.path() / "inputs.npz").string(), "/elsewhere/other.npz"}));
  EXPECT_EQ(read.value().runs[0].time->inputs, read.value().settings.inputs);
  EXPECT_EQ(stateOnDisk(read.value().model).change, ModelChange::Same);
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
  EXPECT_EQ(errorOf([](Json& json) { json["shown"] = "2"; }).where.attribute, "shown");  // a comparison is not timed
  EXPECT_EQ(errorOf([](Json& json) { json["comparison"] = "1"; }).where.attribute, "comparison");
  EXPECT_EQ(errorOf([](Json& json) { json["runs"][1].erase("comparison"); }).where.attribute, "runs[1].comparison");
  EXPECT_EQ(errorOf([](Json& json) { json["runs"][1]["comparison"]["b"] = "9"; }).where.attribute,
            "runs[1].comparison.b");
  EXPECT_EQ(errorOf([](Json& json) { json["runs"][1]["comparison"]["ratio_range"].erase("most"); }).where.attribute,
            "runs[1].comparison.ratio_range.most");
  EXPECT_EQ(errorOf([](Json& json) { json["inputs"]["batch_axis"] = "one"; }).where.attribute, "inputs.batch_axis");
  EXPECT_EQ(
      errorOf([](Json& json) { json["runs"][0]["errors"][0]["tensors"][0]["carried"]["ulp"] = true; }).where.attribute,
      "runs[0].errors[0].tensors[0].carried.ulp");
  EXPECT_EQ(errorOf([](Json& json) { json["runs"][0]["kind"] = "guess"; }).where.attribute, "runs[0].kind");
  EXPECT_EQ(errorOf([](Json& json) { json["runs"][0]["evaluations"][1]["tolerance"] = 1; }).where.attribute,
            "runs[0].evaluations[1].tolerance");
  EXPECT_FALSE(readSession(folder.write("cut.fsession", "{\"format\":\"fusescope.session\",")).ok());
}

/// As version 1 wrote it: one evaluation of a run, comparisons in a list of their own.
constexpr const char* kVersion1 = R"({
 "format": "fusescope.session", "version": 1, "id": "s1", "saved_as": "",
 "model": {"path": "model.onnx", "content": "CONTENT", "bytes": BYTES},
 "extents": [], "options": {"target": "cpu", "precisions": ["f16"]}, "inputs": "in.npz",
 "tolerance": {"rms": 0.001, "absolute": null, "relative": null},
 "backend": "native", "threads": 2, "seconds": 0.5,
 "runs": [
  {"id": "1", "name": "baseline", "state": "ready", "model": "CONTENT", "options": {"target": "cpu"}, "extents": [],
   "backend": "native", "threads": 2, "machine": "m", "started": "2026-01-31T12:00:00Z",
   "time": {"median_ms": 1.5, "samples": 3, "threads": 2, "quiet": true, "inputs": "", "layers": []},
   "evaluation": {"inputs": "in.npz", "tolerance": {"rms": 0.001},
                  "outputs": [{"name": "y", "ok": false, "max_abs": "inf", "max_over_rms": "inf", "of_bound": "inf"}],
                  "values": []},
   "log": ["built"]},
  {"id": "4", "name": "other.fse", "state": "ready", "model": "", "options": {"target": "cpu"}, "extents": [],
   "backend": "native", "threads": 2, "machine": "m", "started": "2026-01-31T12:01:00Z", "engine": "/x/other.fse",
   "log": []}],
 "comparisons": [{"a": "1", "b": "4", "when": "2026-01-31T12:02:00Z",
                  "report": {"format": "fusescope.compare", "version": 1, "a": "/x/run-1.fse", "b": "/x/other.fse",
                             "groups": [{"origins": ["n"], "body_of": null, "attribute": null, "a": ["n"], "b": ["n"],
                                         "a_identities": ["12"], "b_identities": ["12"], "same": true, "a_ms": 1.0,
                                         "b_ms": 2.0, "delta_ms": 1.0, "delta_range_ms": {"least": 0.9, "most": 1.1}}],
                             "outputs": [], "values": [], "values_in_bodies": {"count": 0, "compared": 0},
                             "a_ms": 1.0, "b_ms": 2.0, "turns": 5, "ratio_range": {"least": 1.9, "most": 2.1},
                             "time_unavailable": null}}],
 "shown": "4", "compared_with": "1", "next_run": 5, "view": {"zoom": 2.0}})";

std::string version1Of(const ModelFile& model) {
  std::string text = kVersion1;
  const auto put = [&](const std::string& mark, const std::string& value) {
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark)) text.replace(at, mark.size(), value);
  };
  put("CONTENT", model.content);
  put("BYTES", std::to_string(model.bytes));
  return text;
}

TEST(SessionFile, OfVersion1IsReadWithAllThatItHolds) {
  const TemporaryFolder folder;
  const auto model = identify(folder.write("model.onnx", onnxBytes(kTwoLayers)));
  ASSERT_TRUE(model.ok());
  const auto read = readSession(folder.write("old.fsession", version1Of(model.value())));
  ASSERT_TRUE(read.ok()) << read.error().text();
  const Session& session = read.value();
  EXPECT_EQ(stateOnDisk(session.model).change, ModelChange::Same);
  ASSERT_EQ(session.runs.size(), 3U);
  const auto& [built, engine, compared] = std::tie(session.runs[0], session.runs[1], session.runs[2]);
  EXPECT_EQ(built.kind, RunKind::Plan);
  EXPECT_EQ(built.model, session.model.identity());
  ASSERT_EQ(built.evaluations.size(), 1U);
  EXPECT_EQ(built.evaluations[0]->inputs, session.settings.inputs);
  EXPECT_EQ(built.evaluations[0]->tolerance, Tolerance{.rms = 1e-3});
  EXPECT_EQ(verdictOf(built, session.settings).kind, Verdict::Kind::Fail);
  EXPECT_EQ(engine.kind, RunKind::Engine);
  EXPECT_EQ(compared.kind, RunKind::Comparison);
  EXPECT_EQ(compared.id, "5");
  EXPECT_EQ(compared.started, "2026-01-31T12:02:00Z");
  EXPECT_EQ(compared.comparison->a, "1");
  EXPECT_EQ(compared.comparison->b, "4");
  EXPECT_EQ(compared.comparison->turns, 5);
  ASSERT_EQ(compared.comparison->groups.size(), 1U);
  EXPECT_EQ(compared.comparison->groups[0].deltaRangeMs, (Range{0.9, 1.1}));
  EXPECT_EQ(session.nextRun, 6);
  // Written again, it is of this version, and the same.
  ASSERT_TRUE(writeSession(folder.path() / "new.fsession", session).ok());
  const auto again = readSession(folder.path() / "new.fsession");
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_TRUE(again.value() == session);
}

TEST(SessionFile, OfVersion2HasOneFileOfInputs) {
  const TemporaryFolder folder;
  const Session session = exampleSession(folder.write("model.onnx", onnxBytes(kTwoLayers)));
  Json json = toJson(session, folder.path());
  json["version"] = 2;
  json["inputs"] = "in.npz";
  json["batch_axis"] = 0;
  json["runs"][0]["time"]["inputs"] = "";
  json["runs"][0]["evaluations"][1]["inputs"] = "in.npz";
  json["runs"][1]["comparison"]["inputs"] = "in.npz";
  const auto read = readSession(folder.write("old.fsession", json.dump()));
  ASSERT_TRUE(read.ok()) << read.error().text();
  const std::string path = (folder.path() / "in.npz").string();
  EXPECT_EQ(read.value().settings.inputs, (SampleSource{.paths = {path}, .batchAxis = 0}));
  EXPECT_TRUE(read.value().runs[0].time->inputs.empty());
  EXPECT_EQ(read.value().runs[0].evaluations[1]->inputs, SampleSource{.paths = {path}});
  EXPECT_EQ(read.value().runs[1].comparison->inputs, SampleSource{.paths = {path}});
  json["inputs"] = "";  // there is nothing to cut
  const auto random = readSession(folder.write("random.fsession", json.dump()));
  ASSERT_TRUE(random.ok()) << random.error().text();
  EXPECT_EQ(random.value().settings.inputs, SampleSource());
}

/// y = x + w, w in the file "w.bin" beside the model.
fs::path externalModel(const TemporaryFolder& folder, float w) {
  const std::vector<float> data(4, w);
  folder.write("w.bin", std::string(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(float)));
  return folder.write("model.onnx", onnxBytes("g (float[4] x) => (float[4] y) <float[4] w = [\"location\": \"w.bin\"]> "
                                              "{ [add] y = Add (x, w) }"));
}

ModelFile filesOf(const fs::path& path) {
  const auto model = openModel(path);
  EXPECT_TRUE(model.ok()) << model.error().text();
  return identify(model.value()->files).value();
}

TEST(ModelFile, IsItsExternalDataToo) {
  const TemporaryFolder folder;
  const fs::path path = externalModel(folder, 1);
  const ModelFile model = filesOf(path);
  ASSERT_EQ(model.data.size(), 1U);
  EXPECT_EQ(stateOnDisk(model).change, ModelChange::Same);
  externalModel(folder, 2);  // the model's own file is as it was
  EXPECT_EQ(identify(path).value().content, model.content);
  const ModelState changed = stateOnDisk(model);
  EXPECT_EQ(changed.change, ModelChange::Changed);
  EXPECT_EQ(fs::path(changed.file).filename(), "w.bin");
  EXPECT_NE(filesOf(path).identity(), model.identity());
  externalModel(folder, 1);
  EXPECT_EQ(filesOf(path).identity(), model.identity());
  fs::remove(folder.path() / "w.bin");
  EXPECT_EQ(stateOnDisk(model).change, ModelChange::Changed);
  fs::remove(path);
  EXPECT_EQ(stateOnDisk(model).change, ModelChange::Missing);
}

TEST(ModelFile, ItsDataMovesWithItAndRunsAreOfBoth) {
  const TemporaryFolder folder, other;
  Session session = exampleSession(externalModel(folder, 1));
  session.options = {};
  session.model = filesOf(folder.path() / "model.onnx");
  session.runs[0].model = session.model.identity();
  session.runs[0].options = {};
  session.runs[0].extents = {};
  ASSERT_TRUE(writeSession(folder.path() / "s.fsession", session).ok());
  for (const char* name : {"model.onnx", "w.bin"}) fs::copy(folder.path() / name, other.path() / name);
  const auto read = readSession(folder.path() / "s.fsession");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_TRUE(read.value().model == session.model);
  EXPECT_TRUE(read.value().runs[0].madeFrom(filesOf(folder.path() / "model.onnx").identity(), {}, {}));
  fs::remove(folder.path() / "model.onnx");
  EXPECT_EQ(stateOnDisk(movedTo(read.value().model, other.path() / "model.onnx")).change, ModelChange::Same);
  externalModel(other, 2);
  std::vector<std::string> warnings;
  ASSERT_TRUE(openSession(folder.path() / "s.fsession", other.path() / "model.onnx", {}, warnings).ok());
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("w.bin has changed"), std::string::npos) << warnings[0];
  EXPECT_FALSE(read.value().runs[0].madeFrom(filesOf(other.path() / "model.onnx").identity(), {}, {}));
}

TEST(OpenSession, PlansTheModelAsTheSessionAsks) {
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

TEST(RunTitle, TellsTheOptionsApart) {
  EXPECT_EQ(titleOf({}), "baseline");
  EXPECT_EQ(titleOf(exampleRun().options), "f16, 1 pin");
}

}  // namespace
}  // namespace fusescope::test
