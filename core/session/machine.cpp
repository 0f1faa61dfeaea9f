#include "session/engine_reports.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/backend.h"
#include "base/json.h"
#include "compilers/probed/probed_compiler.h"
#include "compilers/time_alone.h"
#include "session/artifact.h"
#include "session/build_and_run.h"
#include "session/report_json.h"
#include "target/target.h"
#include "target/target_table.h"

namespace fusescope {

namespace {

/// Whether `inputs` have the extents at which work and bytes of the kernels of `cover` are known.
bool haveUsualExtents(const Cover& cover, const std::map<std::string, Tensor>& inputs) {
  return std::ranges::all_of(cover.inputSpecs, [&](const InputSpec& spec) {
    const auto given = inputs.find(spec.name);
    return given == inputs.end() || given->second.container() != Container::None || given->second.dims() == spec.opt;
  });
}

}  // namespace

Result<TimeReport> timeEngine(Engine& engine, const std::map<std::string, Tensor>& inputs, const TimeOptions& options) {
  TimeReport report = TRY(timeAlone(engine, inputs, options));
  if (report.layers.empty() || recordedJobOf(*findCompiler(engine.plan().options.compiler))) return report;
  if (!haveUsualExtents(*report.made, inputs)) {
    report.remark += fmt::format(
        "{}The inputs have other extents than the plan assumes. Work and moved bytes are known for the assumed extents "
        "alone, so that these times are not compared with the peaks of the machine. Give the extents with --opt.",
        report.remark.empty() ? "" : " ");
    return report;
  }
  const auto peaks = knownPeaks(timingCachePath(), report.threads);
  if (!peaks) return report;
  for (StepTime& layer : report.layers) {
    if (!layer.fused.valid() || !layer.medianMs) continue;
    const FusedNode& fused = report.made->fusedNodes[layer.fused.index];
    layer.rooflineMs = peaks->leastMs(fused.compute, fused.flops, fused.bytes);
  }
  return report;
}

Json machineJson(const MachinePeaks& peaks) {
  Json json{{"format", "fusescope.machine"}, {"version", 1}, {"threads", peaks.threads}};
  for (const auto& [part, text] : findBackend("native")->fingerprint().parts) json["fingerprint"][part] = text;
  const Target target = Target::fromName("cpu").value();
  json["types"] = Json::array();
  for (const TypePeak& peak : peaks.types)
    json["types"].push_back({{"type", name(peak.type)},
                             {"how", arithmeticText(target, peak.type)},
                             {"operations_per_second", optionalNumber(peak.operationsPerSecond)},
                             {"bytes_per_second", optionalNumber(peak.bytesPerSecond)},
                             {"cached_bytes_per_second", optionalNumber(peak.cachedPerSecond)},
                             {"measured", peak.day.empty() ? Json(nullptr) : Json(peak.day)},
                             {"quiet", peak.quiet}});
  return json;
}

}  // namespace fusescope
