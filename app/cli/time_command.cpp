#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "app/cli/command.h"
#include "app/cli/print_times.h"
#include "app/cli/read_back.h"
#include "app/cli/specialised_times.h"
#include "app/cli/table.h"
#include "base/process_memory.h"
#include "base/quantities.h"
#include "engine/tactics/roofline.h"
#include "planning/body_cover.h"
#include "session/documents/decisions_about.h"
#include "session/operations/time_operation.h"

namespace fusescope::cli {
namespace {

using TimeArguments = ArgumentsOf<TimeSettings>;

/// Returns whether a layer, or one inside it, is faster than the measured peaks of the machine allow.
bool anyBeyondPeaks(const std::vector<StepTime>& layers) {
  return std::ranges::any_of(layers, [](const StepTime& layer) {
    return isBeyondPeaks(layer.rooflineMs, layer.medianMs) || anyBeyondPeaks(layer.kernels) ||
           std::ranges::any_of(layer.bodies, [](const BodyTimes& body) { return anyBeyondPeaks(body.steps); });
  });
}

/// Adds a row for each layer. A layer with bodies is followed by a row for each step of its bodies, with the time of
/// all calls in one run; a part that another compiler compiled is followed by a row for each of its kernels. `cover`
/// contains the fused nodes of the layers.
void addLayers(Table& table, const std::vector<StepTime>& layers, const Cover& cover, const std::string& before,
               const std::string& calls) {
  for (const auto& layer : layers) {
    const auto* fused = layer.fused.valid() ? &cover.fusedNodes[layer.fused.index] : nullptr;
    const std::string roofline = rooflineText(layer.rooflineMs, layer.medianMs);
    table.add({shortened(before + layer.name), layer.emulated ? "emulated" : msText(layer.medianMs), calls,
               layer.tactic, roofline.empty() ? "-" : roofline,
               flopsText(fused != nullptr ? fused->flops : std::nullopt),
               bytesText(fused != nullptr ? fused->bytes : std::nullopt)});
    addLayers(table, layer.kernels, cover, before + layer.name + "/", {});
    for (const BodyTimes& body : layer.bodies)
      if (const Cover* inside = bodyCover(cover, fused->root, body.attribute))
        addLayers(table, body.steps, *inside, before + BodyPath().into(layer.name, body.attribute).exactly({}),
                  std::to_string(body.calls));
  }
}

/// Returns how many samples ran on fewer threads: " (31 samples ran on fewer, because runs took longer than expected)".
std::string fewerText(const TimeReport& report) {
  if (report.byFewerThreads == 0) return {};
  return fmt::format(" ({} samples ran on fewer, because runs took longer than expected)", report.byFewerThreads);
}

}  // namespace

void printTimes(const TimeReport& report) {
  if (!report.layers.empty()) {
    printTitle("Layers");
    Table table({{"layer"},
                 {"median", true},
                 {"calls", true},
                 {"tactic"},
                 {"of roofline", true},
                 {"work", true},
                 {"moved", true}});
    addLayers(table, report.layers, *report.made, {}, {});
    table.print();
    if (report.remark.empty() &&
        std::ranges::none_of(report.layers, [](const StepTime& layer) { return layer.rooflineMs.has_value(); }))
      std::cout << "The roofline of this machine is not known yet: 'fusescope inspect --machine' measures it.\n";
    if (anyBeyondPeaks(report.layers))
      std::cout << "(!) faster than the peaks that were measured on this machine: other work disturbed their "
                   "measurement, or that of the time; 'fusescope inspect --machine' measures them again.\n";
  }
  if (!report.medianMs) {
    std::cout << "time unavailable: " << report.unavailableReason << "\n";
    return;
  }
  if (!report.stepMs.empty()) std::cout << stepsText(report.stepMs) << "\n";
  std::cout << fmt::format("median {}, min {}, p95 {}, p99 {}; {:.1f} runs/s; {} samples, {} threads{}{}\n",
                           msText(report.medianMs), msText(report.minMs), msText(report.p95Ms), msText(report.p99Ms),
                           report.throughput.value_or(0), inThousands(report.samples), report.threads,
                           fewerText(report),
                           report.quiet ? "" : "; the machine was not quiet: other work disturbed the measurement");
  if (!report.remark.empty()) std::cout << report.remark << "\n";
}

namespace {

void printForPeople(const TimeReport& report) {
  printTimes(report);
  if (!report.medianMs) return;
  if (const auto memory = processMemory())
    std::cout << fmt::format("{} of memory at the most\n", bytesText(memory->peakResident));
}

Result<int> time(const TimeArguments& arguments, const Artifact& artifact) {
  const auto samples = TRY(arguments.inputs.samples(artifact));
  auto options = buildOptions(artifact, arguments.engine.threads, {}, progressLine());
  options.effortSeconds = arguments.effort;
  options.shapeCache = arguments.engine.shapeCache;
  TimeOptions timing{.seconds = arguments.seconds,
                     .warmupSeconds = arguments.warmup,
                     .perLayer = arguments.perLayer,
                     .steps = TRY(arguments.steps.steps()),
                     .progress = progressLine()};
  if (arguments.specialise) {
    SpecialiseRequest request = arguments.specialiseRequest();
    request.time = std::move(timing);
    TRY(timeSpecialised(artifact, options, samples, request, arguments.json));
    if (!arguments.json) printTypesNotGiven(*artifact.plan);
    return kDone;
  }
  options.shapes = extentsOf(samples.first());
  const auto engine = TRY(openEngine(artifact, options));
  clearProgressLine();
  if (reportUnobeyedPins(*engine->made())) return kDoesNotHold;
  const auto report = TRY(timeEngine(*engine, samples.first(), timing));
  clearProgressLine();
  if (arguments.json) {
    Json json = toJson(report);
    json["decisions"] = saidOfEngineJson(*engine);
    json["random_inputs"] = samples.random;
    json["memory"] = memoryJson(engine->report());
    printJson(json);
  } else {
    printForPeople(report);
    printRemarksAboutEngine(*engine);
    printAboutInputs(samples);
    if (samples.list.size() > 1)
      std::cout << fmt::format("timed on the first of {} samples, {}\n", samples.list.size(),
                               samples.list.front().name);
  }
  return kDone;
}

Result<int> time(const TimeArguments& arguments) {
  const auto artifact = TRY(open(arguments.path, arguments.plan, &arguments.engine));
  TRY(checkAble(artifact, Ability::Time, "time a network"));
  if (arguments.perLayer) TRY(checkAble(artifact, Ability::Profile, "time kernels"));
  if (reportObeyRefusals(*artifact.plan)) return kDoesNotHold;
  return underAssumedExtents(time(arguments, artifact), *artifact.plan, !arguments.inputs.source(artifact).empty());
}

}  // namespace

Command timeCommand(CLI::App& app) {
  return commandOf<TimeSettings>(app, timeOperation(), time);
}

}  // namespace fusescope::cli
