#include <fmt/format.h>

#include <iostream>
#include <map>
#include <set>

#include "app/cli/command.h"
#include "app/cli/inspect_exported_program.h"
#include "app/cli/inspect_memory.h"
#include "app/cli/table.h"
#include "base/text.h"
#include "cache/timing_cache.h"
#include "planning/patterns/module_pattern.h"
#include "session/exported_program_report.h"
#include "session/inspect.h"
#include "session/open_artifact.h"
#include "session/open_model.h"
#include "session/operations/inspect_operation.h"
#include "session/session_file.h"

namespace fusescope::cli {
namespace {

using InspectArguments = ArgumentsOf<InspectSettings>;

std::string dimsText(const Json& dims) {
  return extentsText(dims, "[…]", " × ");
}

void printValues(std::string_view title, const Json& values) {
  printTitle(title);
  Table table({{"name"}, {"type"}, {"extents"}});
  for (const auto& value : values) {
    table.add({value["name"].get<std::string>(), value["type"].get<std::string>(), dimsText(value["dims"])});
  }
  table.print();
}

void printSpecs(const Json& specs) {
  printTitle("Input specifications");
  Table table({{"name"}, {"min"}, {"opt"}, {"max"}, {"source"}});
  for (const auto& spec : specs) {
    table.add({spec["name"].get<std::string>(), dimsText(spec["min"]), dimsText(spec["opt"]), dimsText(spec["max"]),
               spec["source"].get<std::string>()});
  }
  table.print();
}

/// Prints the findings. Of each kind only the first ones are printed, so that they do not hide the other kinds.
void printFindings(const Json& findings) {
  if (findings.empty()) return;
  printTitle("About the file");
  constexpr std::size_t kMostOfAKind = 3;
  std::map<std::string, std::size_t> seen, all;
  for (const auto& finding : findings) ++all[finding["code"].get<std::string>()];
  for (const auto& finding : findings) {
    const auto code = finding["code"].get<std::string>();
    const std::size_t place = ++seen[code];
    if (place > kMostOfAKind) continue;
    const auto sentence = finding["message"].get<std::string>();
    const auto subject = finding["subject"].is_null() ? std::string() : finding["subject"].get<std::string>();
    const bool named = sentence.find(subject) != std::string::npos;  // the sentence already names its subject
    std::cout << fmt::format("  {}{}\n", named ? "" : subject + ": ", sentence);
    if (place == kMostOfAKind && all[code] > place)
      std::cout << fmt::format("  and {} more of this kind: --json lists them\n", all[code] - place);
  }
}

/// Returns the formats that a layer reads and writes, each once: "plain -> nChw16c".
std::string formatsText(const Json& formats) {
  const auto distinct = [](const Json& texts) {
    std::set<std::string> words;
    for (const auto& text : texts) words.insert(text.get<std::string>());
    return fmt::format("{}", fmt::join(words, ", "));
  };
  return distinct(formats["inputs"]) + " -> " + distinct(formats["outputs"]);
}

void printEngine(const Json& engine) {
  printTitle("Engine");
  std::cout << fmt::format("  backend {}, target {}, {}, built by fusescope {}\n", engine["backend"].get<std::string>(),
                           engine["target"].get<std::string>(), bytesText(engine["bytes"].get<std::int64_t>()),
                           engine["fusescope_version"].get<std::string>());
  if (!engine["fingerprint"].is_null())
    std::cout << fmt::format("  built where: {}\n", engine["fingerprint"].get<std::string>());
  if (engine.contains("times_with_weights_of"))
    std::cout << fmt::format("  refitted: its tactics were measured with the weights of {}\n",
                             engine["times_with_weights_of"].get<std::string>());
  Table table({{"layer"}, {"kind"}, {"compute"}, {"tactic"}, {"formats"}, {"numerics"}});
  for (const auto& layer : engine["layers"]) {
    table.add({shortened(layer["name"].get<std::string>()), layer["kind"].get<std::string>(),
               layer["compute"].get<std::string>(),
               layer["tactic"].is_null() ? "-" : layer["tactic"].get<std::string>(),
               layer.contains("formats") ? formatsText(layer["formats"]) : "-", layer.value("numerics", "-")});
  }
  table.print();
}

void printInspected(const Json& json) {
  std::string opset;
  for (const auto& [domain, version] : json["opset"].items()) {
    opset += fmt::format("{}{} {}", opset.empty() ? "" : ", ", domain, version.get<std::int64_t>());
  }
  printTitle(json["model"].get<std::string>());
  std::cout << fmt::format("  {}, {} parameters ({}), opset {}{}\n", counted(json["nodes"].get<std::int64_t>(), "node"),
                           json["parameters"].get<std::int64_t>(), bytesText(json["bytes"].get<std::int64_t>()), opset,
                           json["weightless"].get<bool>() ? ", without weights" : "");
  printValues("Inputs", json["inputs"]);
  printValues("Outputs", json["outputs"]);
  printSpecs(json["input_specs"]);
  printFindings(json["findings"]);
  if (json.contains("exported_program"))
    printExportedProgram(json["exported_program"], json["model"].get<std::string>());
  printTitle("Operators");
  Table operators({{"operator"}, {"count", true}});
  for (const auto& [op, count] : json["operators"].items())
    operators.add({op, std::to_string(count.get<std::int64_t>())});
  operators.print();
  if (json.contains("engine")) printEngine(json["engine"]);
  if (json["cannot_run"].empty()) {
    std::cout << "Everything can run here.\n";
    return;
  }
  printTitle("Cannot run");
  Table table({{"node"}, {"operator"}, {"why"}});
  for (const auto& entry : json["cannot_run"]) {
    table.add({entry["node"].is_null() ? "(the model)" : entry["node"].get<std::string>(),
               entry["operator"].is_null() ? "-" : entry["operator"].get<std::string>(),
               entry["message"].get<std::string>()});
  }
  table.print();
}

/// Returns the result of a run: "B = 1.312 A", "0.412 ms", or the reason why there is none.
std::string resultText(const Json& run) {
  if (run.contains("comparison")) {
    const Json &a = run["comparison"]["a_ms"], &b = run["comparison"]["b_ms"];
    const bool timed = a.is_number() && b.is_number() && a.get<double>() > 0;
    return timed ? fmt::format("{:.3f} of run {}", b.get<double>() / a.get<double>(),
                               run["comparison"]["a"].get<std::string>())
                 : "-";
  }
  return run["median_ms"].is_number() ? msText(run["median_ms"].get<double>()) : "-";
}

void printSession(const Json& session) {
  printTitle(session["model"]["path"].get<std::string>());
  std::cout << fmt::format("  the model is {} on disk; inputs: {}\n", session["model"]["state"].get<std::string>(),
                           textOr(session["inputs"], "random"));
  printTitle("Runs");
  Table table(
      {{"run"}, {"kind"}, {"name"}, {"state"}, {"time", true}, {"verdict"}, {"evaluations", true}, {"started"}});
  for (const Json& run : session["runs"]) {
    const bool comparison = run.contains("comparison");
    table.add({run["id"].get<std::string>(), run["kind"].get<std::string>(), run["name"].get<std::string>(),
               run["state"].get<std::string>(), resultText(run),
               comparison ? "-" : run["verdict"]["verdict"].get<std::string>(),
               comparison ? "-" : std::to_string(run["evaluations"].size()), run["started"].get<std::string>()});
  }
  table.print();
}

/// Prints `json` as JSON, or calls `print` to print it for people.
template <class Print>
Result<int> shown(const Json& json, const InspectArguments& arguments, const Print& print) {
  arguments.json ? printJson(json) : print(json);
  return kDone;
}

/// Prints the contents of a session. Its model is not opened, because the file may no longer exist.
Result<int> inspectSession(const std::string& path, const InspectArguments& arguments) {
  const Json json = inspectJson(TRY(readSession(path)));
  return shown(json, arguments, [](const Json& all) { printSession(all["session"]); });
}

std::string rateText(const Json& perSecond, std::string_view unit) {
  return perSecond.is_null() ? "-" : fmt::format("{:.1f} {}", perSecond.get<double>() / 1e9, unit);
}

void printMachine(const Json& machine) {
  printTitle("This machine");
  for (const auto& [part, text] : machine["fingerprint"].items())
    std::cout << fmt::format("  {}: {}\n", part, text.get<std::string>());
  printTitle(fmt::format("Peaks of our kernels, {}", counted(machine["threads"].get<std::int64_t>(), "thread")));
  Table table({{"type"}, {"product", true}, {"pass over memory", true}, {"in caches", true}, {"measured"}, {"how"}});
  for (const Json& type : machine["types"])
    table.add({type["type"].get<std::string>(), rateText(type["operations_per_second"], "GOP/s"),
               rateText(type["bytes_per_second"], "GB/s"), rateText(type["cached_bytes_per_second"], "GB/s"),
               (type["measured"].is_null() ? "-" : type["measured"].get<std::string>()) +
                   (type["quiet"].get<bool>() ? "" : ", the machine was not quiet"),
               type["how"].get<std::string>()});
  table.print();
  std::cout << "A dash: none of our kernels runs it here; the reference imitates the type, and has no times.\n'time "
               "--per-layer' and the profile compare each layer with these.\n";
}

Result<int> inspectMachine(const InspectArguments& arguments) {
  const Json json = machineJson(
      TRY(measurePeaks({.threads = arguments.threads, .timingCache = timingCachePath(), .progress = progressLine()})));
  clearProgressLine();
  return shown(json, arguments, [](const Json& all) { printMachine(all); });
}

/// Returns the number of nodes of a module: "18", or "18, 16 named" if the names of 16 of them match its pattern.
std::string nodesText(const Json& module) {
  const auto nodes = std::to_string(module["nodes"].get<std::int64_t>());
  if (module["named"].is_null() || !module["pattern"].is_null()) return nodes;
  return fmt::format("{}, {} named", nodes, module["named"].get<std::int64_t>());
}

/// Prints modules as a tree: the parts of a module are below it and indented.
void printModules(const Json& modules) {
  printTitle("Modules");
  if (modules.empty()) return void(std::cout << "  The network names no modules, and nothing in it repeats.\n");
  std::map<std::string, std::size_t> depth;
  Table table(
      {{"module"}, {"title"}, {"copies", true}, {"nodes", true}, {"kernels", true}, {"work", true}, {"time", true}});
  for (const Json& module : modules) {
    const auto path = module["path"].get<std::string>();
    depth[path] = module["parent"].is_null() ? 0 : depth[module["parent"].get<std::string>()] + 1;
    const std::string most = module["kernels_without_time"].get<std::int64_t>() > 0 ? "≥ " : "";
    table.add(
        {std::string(2 * depth[path], ' ') + shortened(path), module["title"].get<std::string>(),
         module["copies"].is_null() ? "" : std::to_string(module["copies"].get<std::int64_t>()), nodesText(module),
         std::to_string(module["kernels"].get<std::int64_t>()),
         module["flops"].is_null() || module["kernels"] == 0 ? "-" : flopsText(module["flops"].get<std::int64_t>()),
         module["predicted_ms"].is_null() ? "-" : most + msText(module["predicted_ms"].get<double>())});
  }
  table.print();
  std::cout << "A kernel that has nodes in two modules is counted in the module around both. ≥: some kernels have no "
               "price.\n";
  const auto isOther = [](const Json& module) { return !module["named"].is_null() && module["pattern"].is_null(); };
  if (std::ranges::any_of(modules, isOther))
    std::cout
        << "named: the number of nodes that the pattern 'module:' with the name of the module matches. Nodes for which "
           "the network names no module are shown in the module around their neighbours, and are not counted there.\n";
}

Result<int> inspectModules(const InspectArguments& arguments) {
  const auto artifact = TRY(open(arguments.path, arguments.plan));
  const Plan& plan = *artifact.plan;
  const ModuleTree tree = moduleTreeOf(*plan.model);
  clearProgressLine();
  const Json json{{"format", "fusescope.modules"},
                  {"version", 1},
                  {"model", plan.model->path},
                  {"by_structure", tree.byStructure},
                  {"modules", modulesJson(plan, tree)}};
  return shown(json, arguments, [](const Json& all) { printModules(all["modules"]); });
}

Result<int> inspect(const InspectArguments& arguments) {
  if (arguments.threads != 0 && !arguments.machine && !arguments.memory)
    return Diagnostic{.message = "is only for --machine and --memory", .where = {.attribute = "--threads"}};
  if (arguments.machine) return inspectMachine(arguments);
  if (!arguments.plan.session.empty()) return inspectSession(arguments.plan.session, arguments);
  if (arguments.path.empty())
    return Diagnostic{.message = "the file to show is missing",
                      .where = {.attribute = "MODEL"},
                      .help = "Give a file, or --machine."};
  if (arguments.modules) return inspectModules(arguments);
  if (arguments.memory) return inspectMemory(arguments.path, arguments.threads, arguments.json);
  if (isSessionFile(arguments.path)) return inspectSession(arguments.path, arguments);
  const auto kind = TRY(artifactKind(arguments.path));
  Json json;
  if (kind == ArtifactKind::Engine) {
    if (!TRY(arguments.plan.inputOverrides()).empty()) {
      return Diagnostic{.message = "an engine already contains the extents of its inputs",
                        .where = {.file = arguments.path, .attribute = "--input"},
                        .help = "Leave --input out."};
    }
    json = inspectJson(TRY(openEngineFile(arguments.path)), arguments.path);
  } else {
    const auto model = TRY(openModel(arguments.path, TRY(arguments.plan.inputOverrides()), {}, progressLine()));
    clearProgressLine();
    json = inspectJson(*model);
    if (isOfExportedProgram(*model)) json["exported_program"] = TRY(exportedProgramJson(model->path));
  }
  return shown(json, arguments, [](const Json& all) { printInspected(all); });
}

}  // namespace

Command inspectCommand(CLI::App& app) {
  return commandOf<InspectSettings>(app, inspectOperation(), inspect);
}

}  // namespace fusescope::cli
