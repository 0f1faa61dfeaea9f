#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "planning/plan.h"
#include "session/artifact.h"
#include "session/inputs/sample_source.h"
#include "session/open_model.h"
#include "session/operations/build_operation.h"
#include "session/operations/calibrate_operation.h"
#include "session/operations/compare_operation.h"
#include "session/operations/errors_operation.h"
#include "session/operations/export_operation.h"
#include "session/operations/refit_operation.h"
#include "session/operations/run_operation.h"
#include "session/operations/tensor_operation.h"
#include "session/operations/time_operation.h"
#include "session/operations/tune_operation.h"

namespace fusescope {

// What the window and its worker process say to each other: one JSON object a line, both ways.
// app/worker/PROTOCOL.md describes the lines; these are their values.

/// Measures the errors of a plan's outputs and of the values in it on the reference backend, and says which pins may
/// help: what `errors --backend reference` measures.
struct EvaluateSettings {
  std::vector<Option> options() { return {}; }
};
/// Stops another request.
struct CancelSettings {
  std::int64_t cancels = 0;  ///< its id

  std::vector<Option> options() { return {{.name = "cancels", .value = &cancels, .argument = "ID", .help = {}}}; }
};
/// Ends the worker.
struct ShutdownSettings {
  std::vector<Option> options() { return {}; }
};

/// What is to be done, with the options that the command of the same name has.
using WorkSettings = std::variant<BuildSettings, RefitSettings, RunCommandSettings, TimeSettings, CompareSettings,
                                  EvaluateSettings, ErrorsSettings, TensorSettings, TuneSettings, CalibrateSettings,
                                  ExportSettings, CancelSettings, ShutdownSettings>;
/// "build", "refit", "run", "time", "compare", "evaluate", "errors", "tensor", "tune", "calibrate", "export", "cancel",
/// "shutdown".
std::string_view operationName(const WorkSettings& settings);

/// What to work on: a model with the options to plan it with, or a plan or engine file, which contain their own options
/// (`inputs` and `options` must then be as default).
struct WorkSource {
  std::string path;  ///< of a model (.onnx), a plan (.json) or an engine (.fse)
  std::vector<InputOverride> inputs;
  PlanOptions options;
  std::string backend = "native";  ///< or "reference"; an engine file has its own
};

/// Phase under which a search reports the better sets that it has found so far; the detail is {better[…]} as JSON.
constexpr const char* kTuneBetterPhase = "better";
/// Progress of `tune` as a set of pins is run: {evaluations: how many were run before, pins: how many it has,
/// nodes[…]: their names, at most kMostNodesListed of them}.
constexpr const char* kTuneTryPhase = "try";
constexpr std::size_t kMostNodesListed = 2000;

/// One line to the worker. Cancel and Shutdown have nothing but an id and settings.
struct WorkerRequest {
  std::int64_t id = 0;  ///< chosen by the caller; comes back in every event
  /// Output files that may be left out here: that of a build, whose engine is then only kept in the worker; those of a
  /// search and of a calibration, whose result is the answer.
  WorkSettings settings = BuildSettings();
  WorkSource source;                                  ///< of a comparison: A
  WorkSource other;                                   ///< of a comparison: B
  SampleSource inputs;                                ///< for all that runs something
  Tolerance tolerance = Tolerance::ofLoweredTypes();  ///< Evaluate, Errors, Export: beyond which a number is wrong
  int threads = 0;                                    ///< 0: as many as the machine has

  template <class Settings>
  bool is() const {
    return std::holds_alternative<Settings>(settings);
  }
};

enum class WorkerEventKind { Progress, Done, Error };

/// One line from the worker. Each request but Cancel and Shutdown ends with exactly one Done or Error.
/// Most give the `result` that the command line prints with --json; Evaluate gives {outputs[…], values[…]}: see
/// toJson(const ErrorReport&); Tensor what writeValueOfBoth() gives; Calibrate a file of ranges.
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
/// Returns the id of a request whose other fields may be wrong, so that the error can be its answer; 0 if it has none.
std::int64_t workerRequestId(std::string_view line);
Json toJson(const WorkerEvent& event);
Result<WorkerEvent> workerEventFromJson(const Json& json);
/// Returns {message, file, node, value, attribute, help, cancelled}; empty fields are left out.
Json toJson(const Diagnostic& diagnostic);
Diagnostic diagnosticFromJson(const Json& json);

/// Returns the line for a value, with its newline; text that is not UTF-8 is repaired, never refused.
std::string workerLine(const Json& json);
Result<WorkerRequest> parseWorkerRequest(std::string_view line);
Result<WorkerEvent> parseWorkerEvent(std::string_view line);

}  // namespace fusescope
