#include "compilers/torch/capture_answer.h"

#include <fmt/format.h>

#include "base/json_fields.h"

namespace fusescope {
namespace {

constexpr int kAnswerVersion = 1;  // VERSION of torch_capture.py

/// A place in the user's program, and what torch says about it.
struct CaptureEvent {
  std::string file, function, reason, explanation;
  std::vector<std::string> hints;
  std::int64_t line = 0;
};

Result<CaptureEvent> captureEventFrom(const Json& json) {
  CaptureEvent event;
  JsonFields fields(json);
  fields.require("file").read("file", event.file).require("line").read("line", event.line);
  fields.read("function", event.function).require("reason").read("reason", event.reason);
  fields.read("explanation", event.explanation).read("hints", event.hints);
  return fields.result(std::move(event));
}

struct Tried {
  std::string way, message;
};

Result<Tried> triedFrom(const Json& json) {
  Tried tried;
  JsonFields fields(json);
  fields.require("way").read("way", tried.way).require("message").read("message", tried.message);
  return fields.result(std::move(tried));
}

struct Answer {
  int version = 0;
  std::string torch, way, breaksProblem;
  bool evaluated = false;
  std::vector<Tried> tried;
  std::vector<CaptureEvent> breaks, recompiles;
  std::int64_t breaksLeftOut = 0, recompilesLeftOut = 0;  ///< how many more torch reported than are listed
  std::map<std::string, std::string> extents;
};

Result<Answer> answerFrom(const Json& json) {
  Answer answer;
  JsonFields fields(json);
  fields.require("version").read("version", answer.version).require("torch").read("torch", answer.torch);
  fields.require("way").read("way", answer.way).read("evaluated", answer.evaluated);
  fields.parseList("tried", answer.tried, triedFrom).parseList("breaks", answer.breaks, captureEventFrom);
  fields.parseList("recompiles", answer.recompiles, captureEventFrom).read("breaks_problem", answer.breaksProblem);
  fields.read("breaks_left_out", answer.breaksLeftOut).read("recompiles_left_out", answer.recompilesLeftOut);
  fields.read("extents", answer.extents);
  return fields.result(std::move(answer));
}

std::string wayInWords(const CodeToRun& code, const std::string& way) {
  return code.kind == CodeKind::Script ? fmt::format("torch.export ({})", way) : way;
}

Decision ofBreak(const CaptureEvent& event) {
  std::string reason = event.reason;
  if (!event.explanation.empty()) reason += fmt::format(". {}", event.explanation);
  return decide("import.graph_break", {}, "import",
                {{"file", event.file},
                 {"line", event.line},
                 {"function", event.function},
                 {"reason", reason},
                 {"hints", event.hints}});
}

Decision ofRecompiled(const CaptureEvent& event) {
  return decide("import.recompiled", {}, "import",
                {{"file", event.file}, {"line", event.line}, {"function", event.function}, {"reason", event.reason}});
}

/// Adds what a TorchScript file, or the way by which it was converted, does not contain any more.
void addLost(std::vector<Decision>& decisions, bool isOnnx) {
  const char* extents = isOnnx ? "the ranges of extents: each extent is the one that was given"
                               : "the ranges of extents: an extent is open if torch finds that it may vary";
  const char* names = isOnnx ? "the nodes of the exported program, because no program was exported"
                             : "the names of modules, and the names of inputs that torch renames";
  for (const char* what : {"the lines of source", names, extents})
    decisions.push_back(decide("import.lost_by_torchscript", {}, "import", {{"what", what}}));
}

std::vector<Decision> decisionsOf(const CodeToRun& code, const Answer& answer, bool isOnnx) {
  std::vector<Decision> decisions;
  if (answer.evaluated) decisions.push_back(decide("import.put_in_evaluation", {}, "import"));
  for (const Tried& tried : answer.tried)
    decisions.push_back(
        decide("import.way_refused", {}, "import", {{"way", wayInWords(code, tried.way)}, {"why", tried.message}}));
  if (!answer.way.empty()) {
    const std::string name = code.file.filename().string();
    decisions.push_back(decide("import.exported_by_torch", {}, "import",
                               {{"torch", answer.torch},
                                {"source", code.function.empty() ? name : name + ":" + code.function},
                                {"way", wayInWords(code, answer.way)}}));
    if (code.kind == CodeKind::TorchScript) addLost(decisions, isOnnx);
  }
  for (const CaptureEvent& event : answer.breaks) decisions.push_back(ofBreak(event));
  for (const CaptureEvent& event : answer.recompiles) decisions.push_back(ofRecompiled(event));
  if (answer.breaksLeftOut > 0 || answer.recompilesLeftOut > 0)
    decisions.push_back(decide("import.breaks_left_out", {}, "import",
                               {{"breaks", answer.breaksLeftOut}, {"recompiles", answer.recompilesLeftOut}}));
  if (!answer.breaksProblem.empty())
    decisions.push_back(decide("import.breaks_unknown", {}, "import", {{"why", answer.breaksProblem}}));
  return decisions;
}

Result<std::optional<Diagnostic>> problemFrom(const CodeToRun& code, const Answer& answer, const Json& json) {
  if (!answer.way.empty()) return std::optional<Diagnostic>();
  std::string file, function, message, help;
  std::int64_t line = 0;
  JsonFields fields(json);
  fields.require("message").read("message", message).read("help", help);
  fields.read("file", file).read("line", line).read("function", function);
  if (fields.error()) return *fields.error();
  const std::string place = line > 0 ? fmt::format("line {}, in {}: ", line, function) : std::string();
  return std::optional(
      Diagnostic{.message = fmt::format("{}torch {} cannot export it. {}", place, answer.torch, message),
                 .where = {.file = file.empty() ? code.file.string() : file},
                 .help = help});
}

}  // namespace

Result<CapturedProgram> capturedFrom(const CodeToRun& code, const ProbeAnswer& answer) {
  const auto bad = [&](const std::string& why) {
    return Diagnostic{.message = "this program cannot read the answer of the probe for torch: " + why,
                      .where = {.file = code.file.string()}};
  };
  auto read = answerFrom(answer.json);
  if (!read.ok()) return bad(read.error().text());
  const Answer& parsed = read.value();
  if (parsed.version != kAnswerVersion)
    return bad(fmt::format("it has version {}, and this program reads version {}", parsed.version, kAnswerVersion));
  const bool isOnnx = answer.files.contains(kCapturedNetwork);
  if (parsed.way.empty() == (isOnnx || answer.files.contains(kCapturedProgram)))
    return bad("its files are not the files that it lists");
  if (answer.files.size() > 1) return bad("torch wrote the weights into separate files, because they are large");
  auto problem = problemFrom(code, parsed, answer.json.value("problem", Json()));
  if (!problem.ok()) return bad(problem.error().text());
  CapturedProgram captured{
      .torch = parsed.torch, .extents = parsed.extents, .decisions = decisionsOf(code, parsed, isOnnx)};
  if (!parsed.way.empty()) captured.way = wayInWords(code, parsed.way);
  captured.problem = std::move(problem).value();
  return captured;
}

}  // namespace fusescope
