#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "calibration/calibration_settings.h"
#include "planning/plan.h"
#include "session/bisect_report.h"
#include "session/export_wishes.h"
#include "session/layer_error_report.h"
#include "session/sample_source.h"
#include "session/session.h"
#include "session/tune_wishes.h"

namespace fusescope {

// What the window and its worker process say to each other: one JSON object a line, both ways.
// app/worker/PROTOCOL.md describes the lines; these are their values.

enum class WorkerOp {
  Build,
  Run,
  Time,
  Specialise,
  Compare,
  MeasureError,
  Errors,
  Bisect,
  Value,
  Tune,
  Calibrate,
  Export,
  Cancel,
  Shutdown
};
std::string_view name(WorkerOp op);  ///< "build", "run", "time", "specialise", "compare", "measure_error", …

/// What to work on: a model with the wishes to plan it by, or a plan or engine file, which hold their own
/// (`inputs` and `options` must then be as default).
struct WorkSource {
  std::string path;  ///< of a model (.onnx), a plan (.json) or an engine (.fse)
  std::vector<InputOverride> inputs;
  PlanOptions options;
  std::string backend = "native";  ///< or "reference"; an engine file has its own
};

/// Phase under which a search tells the better sets that it has found so far; the detail is {better[…]} as JSON.
constexpr const char* kTuneBetterPhase = "better";
/// Progress of `tune` as a set of pins is run: {evaluations: how many were run before, pins: how many it has,
/// nodes[…]: their names, at most kMostNodesTold of them}.
constexpr const char* kTuneTryPhase = "try";
constexpr std::size_t kMostNodesTold = 2000;

/// One line to the worker. Which fields count depends on `op`.
struct WorkerRequest {
  std::int64_t id = 0;  ///< chosen by the caller; comes back in every event
  WorkerOp op = WorkerOp::Build;
  WorkSource source;       ///< all but Cancel and Shutdown; Compare: A
  WorkSource other;        ///< Compare: B
  std::string enginePath;  ///< Build: where to write the engine; empty: it is only kept in the worker
  /// Build: an engine of the same network with other weights, whose options, extents and tactics are taken instead of
  /// the source's; empty: none. enginePath must be given.
  std::string refitted{};
  SampleSource inputs;      ///< all that run something
  std::string outputsFile;  ///< Run, Value: where to write the outputs (.npz); Run: empty: nowhere
  std::string expectFile;   ///< Run: outputs to compare with (.npz); empty: none
  std::string value;        ///< Value: which value of the network, by its name
  std::int64_t sample = 0;  ///< Value: on which sample of the inputs, from 0 on
  Tolerance tolerance = Tolerance::ofLoweredTypes();  ///< MeasureError, Errors, Bisect: beyond which it is wrong
  ErrorsAgainst against = ErrorsAgainst::F32;         ///< Errors
  BisectLimits bisect;                                ///< Bisect
  TuneWishes tune;                                    ///< Tune; the source's precisions are what it lowers to
  std::string stateFile;  ///< Tune: evaluations are kept here, and those that are there are gone on from; or empty
  CalibrationSettings calibrate;  ///< Calibrate
  ExportWishes exported;          ///< Export
  double seconds = 2.0;           ///< Time, Specialise, Compare: how long to measure; Compare with 0 compares values only
  double warmupSeconds = 0.5;     ///< Time, Specialise
  bool perLayer = true;           ///< Time
  int threads = 0;                ///< 0: as many as the machine has
  bool measureTactics = true;     ///< Build
  std::int64_t cancels = 0;       ///< Cancel: the id of the request to stop
};

enum class WorkerEventKind { Progress, Done, Error };

/// One line from the worker. Each request but Cancel and Shutdown ends with exactly one Done or Error.
/// Build, Run, Time, Specialise, Compare, Errors, Bisect, Tune and Export give the `result` that the command line prints with
/// --json; MeasureError gives {outputs[…], values[…]}: see toJson(const ErrorReport&); Value what writeValueOfBoth()
/// gives; Calibrate a file of ranges.
struct WorkerEvent {
  std::int64_t id = 0;
  WorkerEventKind kind = WorkerEventKind::Progress;
  std::string phase;   ///< Progress: what begins
  std::string detail;  ///< Progress: on what
  Json result;         ///< Done
  Diagnostic error;    ///< Error; `cancelled` if it was stopped
};

Json toJson(const WorkerRequest& request);
Result<WorkerRequest> workerRequestFromJson(const Json& json);
Json toJson(const WorkerEvent& event);
Result<WorkerEvent> workerEventFromJson(const Json& json);
/// {message, file, node, value, attribute, help, cancelled}; empty fields are left out.
Json toJson(const Diagnostic& diagnostic);
Diagnostic diagnosticFromJson(const Json& json);

/// The line for a value, with its newline; text that is not UTF-8 is repaired, never refused.
std::string workerLine(const Json& json);
Result<WorkerRequest> parseWorkerRequest(std::string_view line);
Result<WorkerEvent> parseWorkerEvent(std::string_view line);

}  // namespace fusescope
