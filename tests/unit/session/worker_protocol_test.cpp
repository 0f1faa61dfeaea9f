#include "session/worker_protocol.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "session/operations/operation.h"
#include "session/options_json.h"

namespace fusescope {
namespace {

/// What comes back of the settings of a request.
template <class Settings>
Settings comesBack(const Settings& settings) {
  WorkerRequest request{.id = 9, .settings = settings};
  const auto read = parseWorkerRequest(workerLine(toJson(request)));
  EXPECT_TRUE(read.ok()) << read.error().text();
  return read.ok() ? std::get<Settings>(read.value().settings) : Settings();
}

/// Which field is to blame.
std::string blamed(const char* line) {
  const auto request = parseWorkerRequest(line);
  return request.ok() ? std::string() : request.error().where.attribute;
}

TEST(WorkerProtocol, requestComesBackFromItsLine) {
  WorkerRequest request{.id = 7, .settings = CompareSettings{.seconds = 1.25}, .threads = 2};
  request.source = {.path = "a.onnx", .inputs = {{.name = "x", .fixed = Dims{1, 3}}}, .backend = "reference"};
  request.source.options.precisions = {DataType::F16};
  request.source.options.directives = {splitDirective("node_relu")};
  assignIds(request.source.options.directives);
  request.other.path = "b.fse";
  request.inputs = {.paths = {"a.npz", "folder"}, .batchAxis = 1};
  request.tolerance = {.rms = 0.003};
  const auto line = workerLine(toJson(request));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto read = parseWorkerRequest(line);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(toJson(read.value()), toJson(request));
  EXPECT_EQ(read.value().source.options, request.source.options);
  EXPECT_EQ(read.value().other.path, "b.fse");
  EXPECT_EQ(read.value().inputs, request.inputs);
  EXPECT_EQ(read.value().tolerance.rms, request.tolerance.rms);
  EXPECT_EQ(std::get<CompareSettings>(read.value().settings).seconds, 1.25);
}

TEST(WorkerProtocol, WhatIsAskedForComesBack) {
  const TuneSettings tune{
      .goal = {.maxError = 0.01, .minSpeedup = 1.5, .evaluations = 40, .seconds = 2.5, .seed = 7, .baselines = true},
      .of = "y",
      .metric = "judge --strictly",
      .state = "state.json",
      .explain = true};
  EXPECT_EQ(comesBack(tune), tune);
  const BuildSettings build = comesBack(BuildSettings{.output = "e.fse", .measuresTactics = false, .effort = 1.5});
  EXPECT_EQ(build.effort, 1.5);
  EXPECT_EQ(build.output, "e.fse");
  EXPECT_FALSE(build.measuresTactics);
  EXPECT_EQ(comesBack(RefitSettings{.engineFile = "old.fse"}).engineFile, "old.fse");
  const ErrorsSettings errors =
      comesBack(ErrorsSettings{.against = ErrorsAgainst::F64, .bisect = true, .seconds = 2.5, .builds = 40});
  EXPECT_TRUE(errors.bisect && errors.seconds == 2.5 && errors.builds == 40 && errors.against == ErrorsAgainst::F64);
  const CalibrationSettings calibration{
      .choice = {.method = RangeMethod::Percentile, .percentile = 99.5, .symmetric = true},
      .weightMethod = RangeMethod::MinMax,
      .perChannel = false,
      .correctBiases = false,
      .smoothing = 0.5,
      .exclude = {"op:Gemm", "head.*"}};
  EXPECT_EQ(comesBack(CalibrateSettings{.calibration = calibration, .output = {}}).calibration, calibration);
  const ExportSettings exported = comesBack(ExportSettings{
      .format = "onnx", .output = "out.onnx", .own = {{"weights", "keep"}, {"io", "plan"}}, .check = true});
  EXPECT_TRUE(exported.format == "onnx" && exported.output == "out.onnx" && exported.check);
  EXPECT_EQ(exported.own.at("weights"), "keep");
  EXPECT_EQ(exported.own.at("io"), "plan");
  EXPECT_EQ(comesBack(CancelSettings{.cancels = 7}).cancels, 7);
}

TEST(WorkerProtocol, EachOperationIsAsItsCommandIsCalled) {
  EXPECT_EQ(operationName(TimeSettings()), "time");
  EXPECT_EQ(operationName(ExportSettings()), "export");
  EXPECT_EQ(operationName(ShutdownSettings()), "shutdown");
  for (const char* name :
       {"build", "refit", "run", "time", "compare", "errors", "tensor", "tune", "calibrate", "export"}) {
    const auto request =
        parseWorkerRequest(fmt::format(R"({{"id":1,"op":"{}","source":{{"path":"a"}},"other":{{"path":"b"}}}})", name));
    ASSERT_TRUE(request.ok()) << request.error().text();
    EXPECT_EQ(operationName(request.value().settings), name);
    EXPECT_NE(findOperation(name), nullptr) << "there is no command of that name";
  }
}

TEST(WorkerProtocol, FieldsThatAreWrongAreNamed) {
  EXPECT_EQ(blamed(R"({"id":1,"op":"errors","source":{"path":"a"},"inputs":{"paths":"a.npz"}})"), "inputs.paths");
  EXPECT_EQ(blamed(R"({"id":1,"op":"calibrate","source":{"path":"a"},"settings":{"method":"most"}})"),
            "settings.method");
  EXPECT_EQ(blamed(R"({"id":1,"op":"time","source":{"path":"a"},"settings":{"seconds":-1}})"), "settings.seconds");
  EXPECT_EQ(blamed(R"({"id":1,"op":"run"})"), "source");
  EXPECT_EQ(blamed(R"({"id":1,"op":"run","source":{"path":"a","options":{"workspace_bytes":-1}}})"),
            "source.options.workspace_bytes");
  EXPECT_EQ(blamed(R"({"id":1,"op":"run","source":{"path":"a","options":{"precision":["f16"]}}})"),
            "source.options.precision");
  EXPECT_EQ(blamed(R"({"id":1,"op":"run","source":{"path":"a","options":[]}})"), "source.options");
}

TEST(WorkerProtocol, ARequestThatIsWrongHasItsIdAllTheSame) {
  EXPECT_EQ(workerRequestId(R"({"id":7,"op":"time","source":{"path":"a"},"settings":{"seconds":-1}})"), 7);
  EXPECT_EQ(workerRequestId(R"({"id":8,"op":"bogus"})"), 8);
  EXPECT_EQ(workerRequestId(R"({"id":"7","op":"time"})"), 0);
  EXPECT_EQ(workerRequestId(R"({"op":"time"})"), 0);
  EXPECT_EQ(workerRequestId("{"), 0);
}

TEST(WorkerProtocol, EveryFieldOfTheOptionsMayBeOmitted) {
  const auto targetOf = [](const char* line) {
    const auto request = parseWorkerRequest(line);
    EXPECT_TRUE(request.ok()) << request.error().text();
    return request.ok() ? request.value().source.options.target : std::string();
  };
  EXPECT_EQ(targetOf(R"({"id":1,"op":"run","source":{"path":"a","options":{"precisions":["f16"]}}})"), "cpu");
  EXPECT_EQ(targetOf(R"({"id":1,"op":"run","source":{"path":"a","options":{}}})"), "cpu");
}

TEST(WorkerProtocol, errorKeepsItsPlace) {
  WorkerEvent event{.id = 3, .kind = WorkerEventKind::Error};
  event.error = {.message = "m", .where = {.file = "f", .node = "n", .attribute = "a"}, .help = "h", .cancelled = true};
  const auto read = parseWorkerEvent(workerLine(toJson(event)));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().kind, WorkerEventKind::Error);
  EXPECT_EQ(read.value().error, event.error);
}

TEST(WorkerProtocol, badLinesSayWhichField) {
  EXPECT_FALSE(parseWorkerRequest("not json").ok());
  const auto unknown = parseWorkerRequest(R"({"id":1,"op":"fly"})");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().where.attribute, "op");
  const auto wrong = parseWorkerRequest(R"({"id":"one","op":"shutdown"})");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().where.attribute, "id");
}

TEST(Options, extentsAndTypesOfInputs) {
  const auto input = parseInputOption("x:0=1x3x4:f16");
  ASSERT_TRUE(input.ok()) << input.error().text();
  EXPECT_EQ(input.value().name, "x:0");
  EXPECT_EQ(*input.value().fixed, (Dims{1, 3, 4}));
  EXPECT_EQ(*input.value().dtype, DataType::F16);
  EXPECT_FALSE(parseInputOption("x=1xtwo").ok());
  EXPECT_FALSE(parseInputOption("=1").ok());
  EXPECT_FALSE(parsePrecisions("f16,int16").ok());
  EXPECT_EQ(parsePrecisions("f16,int8").value(), (std::vector<DataType>{DataType::F16, DataType::I8}));
}

}  // namespace
}  // namespace fusescope
