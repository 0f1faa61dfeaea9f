#include "session/build_and_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/process_memory.h"
#include "base/text.h"
#include "cache/process_store.h"
#include "cache/timing_cache.h"
#include "engine/run_steps.h"
#include "interchange/codes.h"
#include "interchange/npz.h"
#include "ops/op_schema.h"
#include "session/documents/report_json.h"

namespace fusescope {
namespace {

Json tensorsJson(const std::map<std::string, Tensor>& tensors) {
  Json list = Json::array();
  for (const auto& [tensorName, tensor] : tensors) {
    if (tensor.container() != Container::None) {
      list.push_back({{"name", tensorName}, {"type", typeOf(tensor).text()}, {"elements", tensor.count()}});
      continue;
    }
    Json entry = {{"name", tensorName}, {"type", name(tensor.type())}, {"dims", tensor.dims()}};
    if (tensor.type() != DataType::String) {
      const auto summary = summaryOf(tensor);
      entry["min"] = jsonNumber(summary.min);
      entry["max"] = jsonNumber(summary.max);
      entry["mean"] = jsonNumber(summary.mean);
      entry["nan"] = summary.notNumbers;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

/// Returns the extents in the form of an option: "x=1,3,224,224".
std::string extentsOption(const InputSpec& spec) {
  std::vector<std::string> dims;
  for (const std::int64_t extent : spec.opt) dims.push_back(std::to_string(extent));
  return spec.name + "=" + joined(dims, ",");
}

bool hasUnknownExtents(const InputSpec& spec) {
  return std::ranges::any_of(spec.opt, [](std::int64_t extent) { return extent < 0; });
}

bool hasReferenceKernel(const Node& node) {
  const OpSchema* schema = OpRegistry::standard().find(node);
  return schema != nullptr && schema->kernel;
}

/// Returns the node of this name; for a node in a body ("HOLDER/NODE"), the node that has the body.
std::optional<NodeId> nodeOrHolder(const Graph& graph, std::string name) {
  while (true) {
    if (const auto found = graph.findNode(name)) return found;
    const std::size_t slash = name.rfind('/');
    if (slash == std::string::npos) return std::nullopt;
    name.resize(slash);
  }
}

/// Returns the inputs of the network whose extents may be a cause of `error`: those on which its node depends. There
/// are none if the error is about another file, an option or an operator that cannot run at any extents. If it has no
/// place, all inputs are returned.
std::set<std::string> inputsBehind(const Diagnostic& error, const Plan& plan) {
  std::set<std::string> names;
  if (!error.where.file.empty() && error.where.file != plan.model->path) return names;
  if (error.where.attribute.starts_with("--") && error.where.node.empty()) return names;
  const Graph& graph = *plan.model->graph;
  std::set<ValueId> seen;
  std::vector<ValueId> pending = graph.inputs();
  if (!error.where.node.empty()) {
    const auto at = nodeOrHolder(graph, error.where.node);
    if (at && !hasReferenceKernel(graph.node(*at))) return names;
    if (at) pending = operands(graph.node(*at));
  } else if (const auto value = graph.findValue(error.where.value)) {
    pending = {*value};
  }
  while (!pending.empty()) {
    const ValueId value = pending.back();
    pending.pop_back();
    if (!value.valid() || !seen.insert(value).second) continue;
    const NodeId producer = graph.value(value).producer;
    if (producer.valid()) {
      const std::vector<ValueId> read = operands(graph.node(producer));
      pending.insert(pending.end(), read.begin(), read.end());
    } else {
      names.insert(graph.value(value).name);
    }
  }
  return names;
}

}  // namespace

Diagnostic underAssumedExtents(Diagnostic error, const Plan& plan) {
  if (error.cancelled) return error;
  const std::set<std::string> partakers = inputsBehind(error, plan);
  std::vector<std::string> assumed;
  for (const InputSpec& spec : plan.inputSpecs)
    if (spec.source == "assumed" && !spec.opt.empty() && !hasUnknownExtents(spec) && partakers.contains(spec.name))
      assumed.push_back("--input " + extentsOption(spec));
  if (assumed.empty()) return error;
  if (!error.help.empty()) error.help += " ";
  error.help += "Extents that the file leaves open were assumed, as with " + joined(assumed, " ") + "; give others.";
  return error;
}

std::map<std::string, Dims> extentsOf(const std::map<std::string, Tensor>& inputs) {
  std::map<std::string, Dims> extents;
  for (const auto& [name, tensor] : inputs)
    if (tensor.container() == Container::None) extents.emplace(name, tensor.dims());
  return extents;
}

BuildOptions buildOptions(const Artifact& artifact, int threads, const StopToken& stop, const Progress& progress) {
  return {.backend = artifact.backend,
          .threads = threads,
          .timingCache = areTimesUsed() ? timingCachePath() : std::filesystem::path(),
          .memory = artifact.memory,
          .stop = stop,
          .progress = progress};
}

TensorSummary summaryOf(const Tensor& tensor) {
  TensorSummary summary{.min = std::numeric_limits<double>::infinity(),
                        .max = -std::numeric_limits<double>::infinity()};
  double sum = 0;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const double element = tensor.asDouble(i);
    if (std::isnan(element)) {
      ++summary.notNumbers;
      continue;
    }
    summary.min = std::min(summary.min, element);
    summary.max = std::max(summary.max, element);
    sum += element;
  }
  const auto numbers = tensor.count() - summary.notNumbers;
  if (numbers == 0)
    return {.min = std::nan(""), .max = std::nan(""), .mean = std::nan(""), .notNumbers = tensor.count()};
  summary.mean = sum / static_cast<double>(numbers);
  return summary;
}

Json memoryJson(const BuildReport& report) {
  const auto memory = processMemory();
  if (!memory) return nullptr;
  return {{"peak_resident_bytes", memory->peakResident},
          {"resident_bytes", memory->resident},
          {"mapped_bytes", memory->mapped},
          {"weight_bytes", report.weightBytes ? Json(*report.weightBytes) : Json(nullptr)},
          {"arena_bytes", report.arenaBytes},
          {"live_bytes", report.liveBytes}};
}

Result<RunReport> runOnce(Engine& engine, const std::map<std::string, Tensor>& inputs, const RunRequest& request,
                          const StopToken& stop) {
  NpzArrays expected;
  if (!request.expectFile.empty()) expected = outputsFrom(TRY(readNpz(request.expectFile)));
  RunReport report;
  if (request.steps) {
    StepsResult steps = TRY(runSteps(engine, inputs, *request.steps, request.mark, stop));
    report.result = std::move(steps.last);
    report.stepMs = std::move(steps.stepMs);
  } else {
    report.result = TRY(engine.run(inputs, request.mark, stop));
  }
  report.shapeCache = engine.report().shapeCache;
  report.dynamicKernels = engine.report().dynamicKernels;
  if (!request.outputsFile.empty()) {
    NpzArrays written = report.result.outputs;
    written.insert(report.result.marked.begin(), report.result.marked.end());
    TRY(writeNpz(request.outputsFile, written));
  }
  if (request.expectFile.empty()) return report;
  if (expected.empty()) {
    return Diagnostic{.message = "there is no output in the archive to compare with",
                      .where = {.file = request.expectFile},
                      .help = "Arrays are matched by name, with or without the prefix 'out:'."};
  }
  for (auto& [name, tensor] : expected) {
    const auto actual = report.result.outputs.find(name);
    if (actual != report.result.outputs.end()) tensor = fromCodes(tensor, actual->second.type());
  }
  report.compared = true;
  report.comparisons = compareAll(report.result.outputs, expected, request.tolerance);
  report.ok = std::ranges::all_of(report.comparisons, &TensorComparison::ok);
  return report;
}

Json toJson(const ShapeCacheCount& count) {
  return {{"size", count.size}, {"hits", count.hits}, {"misses", count.misses}};
}

Json toJson(const RunReport& report) {
  Json json = {{"format", "fusescope.run"}, {"version", 1}};
  if (report.compared) {
    json["ok"] = report.ok;
    json["outputs"] = Json::array();
    for (const auto& comparison : report.comparisons) json["outputs"].push_back(toJson(comparison));
  } else {
    json["outputs"] = tensorsJson(report.result.outputs);
  }
  if (!report.stepMs.empty()) addSteps(json, report.stepMs);
  json["shape_cache"] = toJson(report.shapeCache);
  json["dynamic_kernels"] = toJson(report.dynamicKernels);
  if (!report.result.marked.empty()) json["marked"] = tensorsJson(report.result.marked);
  return json;
}

}  // namespace fusescope
