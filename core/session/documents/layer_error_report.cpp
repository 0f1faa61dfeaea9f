#include "session/documents/layer_error_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "compilers/network_errors.h"
#include "ir/graph.h"
#include "planning/types/without_lowered_types.h"
#include "session/build_and_run.h"
#include "session/exact_engine.h"
#include "session/layer_types.h"

namespace fusescope {
namespace {

Json optionalError(const std::optional<TensorError>& error) {
  return error ? toJson(*error) : Json(nullptr);
}

Json tensorJson(const TensorErrors& tensor, const LayerErrorReport& report) {
  return {{"name", tensor.name},
          {"fused_node", tensor.fusedNode},
          {"type", name(tensor.stored)},
          {"is_output", tensor.isOutput},
          {"reaches_output", report.leading.contains(tensor.name)},
          {"local", optionalError(tensor.errors.local)},
          {"carried", optionalError(tensor.errors.carried)}};
}

/// Returns splits after the nodes that calculate the values, so that our own engine has these values in memory, too.
/// The network in float32 has none of the nodes for codes that int8 adds to the lowered network.
Directives apart(const MarkedValues& inner, const Engine& lowered) {
  const auto inFloats = unquantized(lowered.plan().model);
  const Graph& graph = *inFloats->graph;
  Directives splits;
  for (const auto& [name, tensor] : inner.samples.front())
    if (const auto value = graph.findValue(name); value && graph.value(*value).producer.valid())
      splits.push_back(splitDirective(graph.node(graph.value(*value).producer).name));
  return splits;
}

/// Measures the errors of a network that another compiler compiled.
Result<LayerErrorReport> errorsOfOther(const Artifact& artifact, const Samples& samples, LayerErrorOptions options,
                                       ErrorsAgainst against) {
  options.sampleNames = samples.names();
  if (against == ErrorsAgainst::F64)
    return Diagnostic{.message = "results of another compiler can only be compared with float32",
                      .where = {.attribute = "--against"},
                      .help = "Leave --against or --compiler out."};
  BuildOptions build = buildOptions(artifact, options.threads, options.stop, options.progress);
  build.shapes = extentsOf(samples.first());
  const auto lowered = TRY(openEngine(artifact, build));
  const auto inputs = samples.inputs();
  const MarkedValues inner = TRY(innerValues(*lowered, inputs, build));
  const auto exact =
      TRY(exactEngineWith(*artifact.plan, build, inner.samples.empty() ? Directives() : apart(inner, *lowered)));
  return carriedErrors(*lowered, *exact, inputs, options, inner);
}

}  // namespace

const std::vector<std::string_view>& errorsAgainstNames() {
  static const std::vector<std::string_view> kNames = {"f32", "f64"};
  return kNames;
}

std::string_view name(ErrorsAgainst against) {
  return errorsAgainstNames()[static_cast<std::size_t>(against)];
}

Result<LayerErrorReport> layerErrors(const Artifact& artifact, const Samples& samples, const LayerErrorOptions& options,
                                     ErrorsAgainst against) {
  return artifact.isOurs() ? layerErrors(artifact.plan, samples, options, against)
                           : errorsOfOther(artifact, samples, options, against);
}

Result<LayerErrorReport> layerErrors(std::shared_ptr<const Plan> plan, const Samples& samples,
                                     const LayerErrorOptions& given, ErrorsAgainst against) {
  LayerErrorOptions options = given;
  options.sampleNames = samples.names();
  std::shared_ptr<const Plan> exact;
  if (against == ErrorsAgainst::F32) {
    if (options.progress) options.progress("plan", "the same network in float32");
    exact = TRY(exactPlanFor(*plan, withoutLoweredTypes(plan->options), options.stop));
  }
  return measureLayerErrors(std::move(exact), std::move(plan), samples.inputs(), options);
}

InnerErrorsNote innerErrorsNote(const Compiler& compiler, const LayerErrorReport& report) {
  std::string why = compiler.whyNot(Ability::InnerValues);
  if (why.empty()) return {};
  const auto inside = std::ranges::count(report.tensors, false, &TensorErrors::isOutput);
  if (why.ends_with('.')) why.pop_back();
  if (inside == 0)
    return {.outputsAlone = true, .words = "errors are known of outputs, and of values between segments: " + why};
  return {.outputsAlone = false,
          .words = fmt::format("the errors of {} inside are known because they were made outputs, or because they lie "
                               "between segments: the compiler then reports the same kernels",
                               counted(inside, "tensor"))};
}

void addInside(Json& json, const Compiler& compiler, const LayerErrorReport& report) {
  const InnerErrorsNote note = innerErrorsNote(compiler, report);
  json["inside"] = note.words.empty() ? Json(nullptr) : Json(note.words);
  json["outputs_alone"] = note.outputsAlone ? Json(compiler.whyNot(Ability::InnerValues)) : Json(nullptr);
}

Json toJson(const LayerErrorReport& report, const Plan& plan, const Samples& samples, const LayerErrorOptions& options,
            ErrorsAgainst against) {
  Json json = {{"format", "fusescope.errors"}, {"version", 1}};
  addSamples(json, samples);
  json["against"] = name(against);
  json["backend"] = options.backend;
  json["compiler"] = plan.options.compiler;
  json["tensors"] = json["fused_nodes"] = json["outputs"] = json["not_measured"] = Json::array();
  for (const TensorErrors& tensor : report.tensors) {
    json["tensors"].push_back(tensorJson(tensor, report));
    if (tensor.isOutput) json["outputs"].push_back(tensorJson(tensor, report));
  }
  const Cover& cover = report.made != nullptr ? *report.made : plan;
  for (std::size_t i = 0; i < report.nodes.size(); ++i) {
    const NodeErrors& node = report.nodes[i];
    const FusedNode& fused = cover.fusedNodes[i];
    json["fused_nodes"].push_back({{"name", node.name},
                                   {"identity", fused.identity.hex()},
                                   {"types", toJson(layerTypes(cover, fused))},
                                   {"kind", node.kind},
                                   {"backend", node.ranOn},
                                   {"local", optionalError(node.errors.local)},
                                   {"carried", optionalError(node.errors.carried)},
                                   {"lost_weights", toJson(node.lostWeights)}});
  }
  json["first_wrong"] = nullptr;
  if (const auto& first = report.firstWrong)
    json["first_wrong"] = {{"node", first->node},
                           {"tensor", first->tensor},
                           {"why", first->why},
                           {"how", first->isLocal ? "local" : "carried"}};
  for (const auto& missing : report.notMeasured)
    json["not_measured"].push_back({{"name", missing.name}, {"why", missing.why}});
  json["not_in_double"] = Json::array();
  for (const auto& narrow : report.notInDouble)
    json["not_in_double"].push_back({{"operator", narrow.op}, {"nodes", narrow.nodes}});
  return json;
}

}  // namespace fusescope
