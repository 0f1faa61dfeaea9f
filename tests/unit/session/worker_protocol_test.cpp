#include "session/worker_protocol.h"

#include <gtest/gtest.h>

#include "session/options_json.h"

namespace fusescope {
namespace {

TEST(WorkerProtocol, requestComesBackFromItsLine) {
  WorkerRequest request{.id = 7, .op = WorkerOp::Compare, .enginePath = "e.fse", .seconds = 1.25, .threads = 2};
  request.source = {.path = "a.onnx", .inputs = {{.name = "x", .fixed = Dims{1, 3}}}, .backend = "reference"};
  request.source.options.precisions = {DataType::F16};
  request.source.options.directives = {splitDirective("node_relu")};
  assignIds(request.source.options.directives);
  request.other.path = "b.fse";
  const auto line = workerLine(toJson(request));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto read = parseWorkerRequest(line);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(toJson(read.value()), toJson(request));
  EXPECT_EQ(read.value().source.options, request.source.options);
  EXPECT_EQ(read.value().other.path, "b.fse");
}

TEST(WorkerProtocol, inputsAndWhatASearchIsToReachComeBack) {
  WorkerRequest request{.id = 8, .op = WorkerOp::Tune, .inputs = {.paths = {"a.npz", "folder"}, .batchAxis = 1}};
  request.tune = {
      .goal = {.maxError = 0.01, .minSpeedup = 1.5, .evaluations = 40, .seconds = 2.5, .seed = 7, .baselines = true},
      .output = "y",
      .metric = "judge --strictly",
      .explain = true};
  request.stateFile = "state.json";
  const auto read = parseWorkerRequest(workerLine(toJson(request)));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read.value().inputs, request.inputs);
  EXPECT_EQ(read.value().tune, request.tune);
  EXPECT_EQ(read.value().stateFile, "state.json");
  const auto wrong = parseWorkerRequest(R"({"id":1,"op":"errors","source":{"path":"a"},"inputs":{"paths":"a.npz"}})");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().where.attribute, "inputs.paths");
}

TEST(WorkerProtocol, WhatABuildRefitsComesBack) {
  const WorkerRequest request{.op = WorkerOp::Build, .enginePath = "new.fse", .refitted = "old.fse"};
  const auto back = parseWorkerRequest(workerLine(toJson(request)));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(back.value().refitted, "old.fse");
}

TEST(WorkerProtocol, WhenASearchForCulpritsEndsComesBack) {
  WorkerRequest request{.id = 10, .op = WorkerOp::Bisect, .tolerance = {.rms = 0.003}, .bisect = {2.5, 40}};
  const auto read = parseWorkerRequest(workerLine(toJson(request)));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read.value().op, WorkerOp::Bisect);
  EXPECT_EQ(read.value().bisect, request.bisect);
  EXPECT_EQ(read.value().tolerance.rms, request.tolerance.rms);
}

TEST(WorkerProtocol, WhatIsCalibratedExportedAndHeldAgainstComesBack) {
  WorkerRequest request{.id = 9, .op = WorkerOp::Calibrate};
  request.calibrate = {.choice = {.method = RangeMethod::Percentile, .percentile = 99.5, .symmetric = true},
                       .weightMethod = RangeMethod::MinMax,
                       .perChannel = false,
                       .correctBiases = false,
                       .smoothing = 0.5,
                       .exclude = {"op:Gemm", "head.*"}};
  const auto calibrate = parseWorkerRequest(workerLine(toJson(request)));
  ASSERT_TRUE(calibrate.ok()) << calibrate.error().text();
  EXPECT_EQ(calibrate.value().op, WorkerOp::Calibrate);
  EXPECT_EQ(calibrate.value().calibrate, request.calibrate);

  request.op = WorkerOp::Export;
  request.exported = {.path = "out.onnx", .weights = WeightTypes::Keep, .borders = BorderTypes::Plan, .check = true};
  const auto written = parseWorkerRequest(workerLine(toJson(request)));
  ASSERT_TRUE(written.ok()) << written.error().text();
  EXPECT_EQ(written.value().exported, request.exported);
  const auto nowhere = parseWorkerRequest(R"({"id":1,"op":"export","source":{"path":"a"},"export":{"to":"onnx"}})");
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().where.attribute, "export.path");

  request.op = WorkerOp::Errors;
  request.against = ErrorsAgainst::F64;
  const auto errors = parseWorkerRequest(workerLine(toJson(request)));
  ASSERT_TRUE(errors.ok()) << errors.error().text();
  EXPECT_EQ(errors.value().against, ErrorsAgainst::F64);
  const auto odd =
      parseWorkerRequest(R"({"id":1,"op":"calibrate","source":{"path":"a"},"calibrate":{"method":"most"}})");
  ASSERT_FALSE(odd.ok());
  EXPECT_EQ(odd.error().where.attribute, "calibrate.method");
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
