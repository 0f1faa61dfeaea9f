// A command line that the window copies does, pasted into a shell, what the window does.
#include "session/command_line.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/shell_quoted.h"
#include "calibration/ranges.h"
#include "planning/directives/directive_form.h"
#include "planning/plan.h"
#include "session/open_artifact.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

constexpr const char* kNetwork =
    "g (float[n, 4] x, float[4, 4] w) => (float[n, 4] y) { [first] a = MatMul (x, w) [last] y = Sigmoid (a) }";
constexpr const char* kOddName = "it's a <mm> & \"more\"";

class CopiedCommand : public ::testing::Test {
 protected:
  CopiedCommand() {
    // What other tests measured is of programs whose threads wait otherwise than this one's.
    ::setenv("FUSESCOPE_CACHE", (m_folder / "cache").c_str(), 1);
    std::filesystem::create_directory(m_folder / "a folder's files");
    const std::string bytes = onnxBytes(kNetwork);
    m_source.path = m_folder.write("a folder's files/my model.onnx", bytes).string();
  }

  std::filesystem::path commands() const { return m_folder / "kept commands"; }

  /// Pasted into a shell in a folder of its own, with `more` behind it.
  ProcessResult paste(const CommandLine& line, const std::string& more = {}) const {
    const Status written = writeFiles(line);
    EXPECT_TRUE(written.ok());
    const std::string folder = binary("fusescope").parent_path().string();
    return runProcess({"/bin/sh", "-c",
                       "cd " + shellQuoted(m_folder.path().string()) + " && PATH=" + shellQuoted(folder) +
                           ":$PATH && " + line.text() + more});
  }
  Json planned(const WorkSource& source) const { return jsonOf(paste(commandToPlan(source, commands()), " --json")); }
  /// What the window plans.
  Json inWindow(const WorkSource& source) const {
    const auto artifact = openArtifact(source.path, source.inputs, source.options);
    EXPECT_TRUE(artifact.ok()) << artifact.error().text();
    return artifact.ok() ? toJson(*artifact.value().plan) : Json();
  }
  void expectSame(const WorkSource& source) const { EXPECT_EQ(planned(source), inWindow(source)); }

  Directive pin(const std::string& text) const {
    Directives one{parsePin(text).value()};
    return one.front();
  }
  void direct(Directives directives) {
    assignIds(directives);
    m_source.options.directives = std::move(directives);
  }

  const TemporaryFolder m_folder;
  WorkSource m_source;
};

TEST_F(CopiedCommand, WordsAreQuotedForAShell) {
  EXPECT_EQ(shellQuoted("/a/b-1.onnx"), "/a/b-1.onnx");
  EXPECT_EQ(shellQuoted(""), "''");
  EXPECT_EQ(shellQuoted("$(rm x)"), "'$(rm x)'");
  const std::string odd = "it's \"$HOME\" `x` \\ * ü\n;";
  EXPECT_EQ(runProcess({"/bin/sh", "-c", "printf %s " + shellQuoted(odd)}).out, odd);
  EXPECT_EQ(runProcess({"/bin/sh", "-c", "printf %s " + shellQuoted(kOddName)}).out, kOddName);
}

TEST_F(CopiedCommand, AModelAsItIsNeedsNoOption) {
  const CommandLine line = commandToPlan(m_source, commands());
  EXPECT_EQ(line.commands, (std::vector<std::vector<std::string>>{{"fusescope", "plan", m_source.path}}));
  EXPECT_TRUE(line.files.empty());
  expectSame(m_source);
}

TEST_F(CopiedCommand, PlansAsTheWindowDoes) {
  m_source.options.precisions = {DataType::F16, DataType::BF16};
  m_source.options.workspaceBytes = 1 << 20;
  m_source.options.weightOnly = {DataType::I8, 2};
  m_source.inputs = {{.name = "x", .min = Dims{1, 4}, .opt = Dims{2, 4}, .max = Dims{8, 4}}};
  direct({pin("first=f32:obey"), pin("op:Sigmoid=f32"), splitDirective("first")});
  const CommandLine line = commandToPlan(m_source, commands());
  EXPECT_TRUE(line.files.empty()) << line.text();
  EXPECT_NE(line.text().find("--pin first=f32:obey --pin op:Sigmoid=f32 --split first"), std::string::npos)
      << line.text();
  expectSame(m_source);
  m_source.options.target = "tensorrt-10";
  m_source.options.weightOnly = {};
  expectSame(m_source);
}

TEST_F(CopiedCommand, WhatOptionsCannotSayStandsInAFile) {
  m_source.options.precisions = {DataType::F16};
  Directive noted = pin("first=f32");
  noted.note = "it overflows";
  direct({noted});
  const CommandLine withNote = commandToPlan(m_source, commands());
  ASSERT_EQ(withNote.files.size(), 1U);
  EXPECT_EQ(withNote.commands.front()[3], "--directives");
  expectSame(m_source);
  // Options apply kind by kind; a file keeps the order.
  direct({splitDirective("first"), pin("first=f32")});
  EXPECT_EQ(commandToPlan(m_source, commands()).files.size(), 1U);
  expectSame(m_source);
  Directives many;
  for (int i = 0; i < 20; ++i) many.push_back(pin(i % 2 == 0 ? "first=f32" : "last=f32"));
  direct(many);
  EXPECT_EQ(commandToPlan(m_source, commands()).files.size(), 1U);
  expectSame(m_source);
}

TEST_F(CopiedCommand, EqualFilesAreWrittenOnce) {
  Directive noted = pin("first=f32");
  noted.note = "x";
  direct({noted});
  const CommandLine line = commandToPlan(m_source, commands());
  EXPECT_EQ(line.files, commandToPlan(m_source, commands()).files);
  EXPECT_TRUE(writeFiles(line).ok());
  const std::string kept = readTextFile(line.files.front().path).value();
  EXPECT_TRUE(writeFiles(line).ok());
  EXPECT_EQ(kept, line.files.front().text);
}

TEST_F(CopiedCommand, DiffTellsTheSidesApart) {
  WorkSource other = m_source;
  other.options.precisions = {DataType::F16};
  direct({pin("first=f32:obey")});
  const auto line = commandToDiff(m_source, other, commands());
  ASSERT_TRUE(line.ok());
  const Json diff = jsonOf(paste(line.value(), " --json"));
  EXPECT_EQ(diff["a"]["precision"], "f32") << line.value().text();
  EXPECT_EQ(diff["b"]["precision"], "f16") << line.value().text();
  const auto same = commandToDiff(other, other, commands());
  EXPECT_EQ(paste(same.value(), " --exit-code").status, 0);
  // Quotes of a name would end the word that options of one side stand in.
  Directive quoted = pin("first=f32");
  quoted.pattern = "op:*\"";
  direct({quoted});
  const auto inFile = commandToDiff(m_source, other, commands());
  EXPECT_TRUE(!inFile.ok() || inFile.value().files.size() == 1U);
}

WorkerRequest requestOf(WorkSettings work, const WorkSource& source) {
  WorkerRequest request;
  request.settings = std::move(work);
  request.source = source;
  request.tolerance = Tolerance::ofLoweredTypes();
  request.threads = 1;
  return request;
}

TEST_F(CopiedCommand, EveryPieceOfWorkRuns) {
  m_source.options.precisions = {DataType::F16};
  m_source.inputs = {{.name = "x", .fixed = Dims{2, 4}}};
  direct({pin("first=f32")});
  WorkerRequest tune = requestOf(TuneSettings{.goal = {.maxError = 0.5, .evaluations = 5, .seed = 3},
                                              .of = "y",
                                              .metric = {},
                                              .state = (m_folder / "state.json").string(),
                                              .explain = true},
                                 m_source);
  tune.source.options.directives.clear();
  WorkerRequest calibrate = requestOf(
      CalibrateSettings{
          .calibration = {.choice = {.method = RangeMethod::Percentile, .percentile = 99.5, .symmetric = true},
                          .weightMethod = RangeMethod::MinMax,
                          .perChannel = false,
                          .correctBiases = false,
                          .smoothing = 0.5,
                          .exclude = {"last"}},
          .output = {}},
      m_source);
  calibrate.source.options = {};
  const WorkerRequest exported = requestOf(ExportSettings{.format = "onnx",
                                                          .output = (m_folder / "typed.onnx").string(),
                                                          .own = {{"weights", "keep"}, {"io", "plan"}},
                                                          .check = true},
                                           m_source);
  WorkerRequest compare = requestOf(CompareSettings{.seconds = 0.05}, m_source);
  compare.other = {.path = m_source.path, .inputs = m_source.inputs};
  const TimeSettings timing{.seconds = 0.05, .warmup = 0.01}, layers{.seconds = 0.05, .warmup = 0.01, .perLayer = true},
      specialise{.seconds = 0.05, .warmup = 0.01, .specialise = true};
  const ErrorsSettings errors{.against = ErrorsAgainst::F64}, bisect{.bisect = true, .seconds = 20, .builds = 5};
  for (const WorkerRequest& request :
       {requestOf(BuildSettings(), m_source), requestOf(RunCommandSettings(), m_source), requestOf(timing, m_source),
        requestOf(layers, m_source), requestOf(specialise, m_source), requestOf(EvaluateSettings(), m_source),
        requestOf(errors, m_source), requestOf(bisect, m_source), requestOf(TensorSettings{.name = "y"}, m_source),
        tune, calibrate, exported, compare}) {
    const auto line = commandFor(request, commands());
    ASSERT_TRUE(line.ok()) << line.error().text();
    const ProcessResult result = paste(line.value(), " --json");
    EXPECT_EQ(result.status, 0) << line.value().text() << "\n" << result.err;
  }
  EXPECT_FALSE(std::filesystem::exists(m_folder / "state.json")) << "what the window keeps is its own";
  for (const char* name :
       {"my model.fse", "my model_pins.json", "my model_ranges.json", "typed.onnx", "my model_a.fse"})
    EXPECT_TRUE(std::filesystem::exists(m_folder / name)) << name;
}

TEST_F(CopiedCommand, RangesAreAFile) {
  WorkerRequest calibrate = requestOf(CalibrateSettings(), m_source);
  calibrate.source.inputs = m_source.inputs = {{.name = "x", .fixed = Dims{2, 4}}};
  EXPECT_EQ(paste(commandFor(calibrate, commands()).value()).status, 0);
  m_source.options.precisions = {DataType::I8};
  m_source.options.ranges = std::make_shared<const Ranges>(readRanges(m_folder / "my model_ranges.json").value());
  const CommandLine line = commandToPlan(m_source, commands());
  ASSERT_EQ(line.files.size(), 1U);
  EXPECT_EQ(planned(m_source)["fused_nodes"], inWindow(m_source)["fused_nodes"]) << line.text();
}

TEST_F(CopiedCommand, SaysWhatNoCommandDoes) {
  WorkerRequest errors = requestOf(ErrorsSettings(), m_source);
  errors.tolerance = {.rms = std::nullopt, .absolute = 1e-3};
  EXPECT_FALSE(commandFor(errors, commands()).ok());
  EXPECT_FALSE(commandFor(requestOf(ShutdownSettings(), m_source), commands()).ok());
}

TEST_F(CopiedCommand, AnEngineIsTimedAsItIs) {
  const std::string engine = (m_folder / "kept here.fse").string();
  WorkerRequest build = requestOf(BuildSettings{.output = engine}, m_source);
  build.source.inputs = {{.name = "x", .fixed = Dims{2, 4}}};
  CommandLine line = commandFor(build, commands()).value();
  WorkerRequest time = requestOf(TimeSettings{.seconds = 0.05, .warmup = 0.01}, {.path = engine});
  line.then(commandFor(time, commands()).value());
  const ProcessResult result = paste(line);
  EXPECT_EQ(result.status, 0) << line.text() << result.err;
  EXPECT_NE(result.out.find("median"), std::string::npos) << result.out;
}

TEST_F(CopiedCommand, AnEngineIsRefitted) {
  const std::string old = (m_folder / "old.fse").string();
  CommandLine line = commandFor(requestOf(BuildSettings{.output = old}, m_source), commands()).value();
  const RefitSettings refit{.engineFile = old, .weights = m_source.path, .output = (m_folder / "new.fse").string()};
  line.then(commandFor(requestOf(refit, m_source), commands()).value());
  const ProcessResult result = paste(line);
  EXPECT_EQ(result.status, 0) << line.text() << result.err;
  EXPECT_NE(result.out.find("the weights are equal"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace fusescope::test
