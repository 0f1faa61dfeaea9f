#include "compilers/onnxruntime/onnxruntime_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/name_hints.h"
#include "base/text.h"
#include "compilers/onnxruntime/optimiser_names.h"
#include "ir/graph.h"
#include "planning/directive_effects.h"

namespace fusescope::onnxruntime {
namespace {

constexpr const char* kCpuProvider = "CPUExecutionProvider";
constexpr const char* kCudaProvider = "CUDAExecutionProvider";
constexpr const char* kProvider = "provider";
constexpr const char* kTf32 = "tf32";
constexpr const char* kDisable = "disable";

std::string optionOf(const CompilerInput& network, const CompilerOption& option) {
  const auto given = network.plan->options.compilerOptions.find(option.name);
  return given == network.plan->options.compilerOptions.end() ? option.initial : given->second;
}

/// Returns the parts of "A,B" without surrounding blanks and without empty parts.
Json listOf(const std::string& text) {
  Json list = Json::array();
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const std::size_t first = text.find_first_not_of(' ', from);
    if (first < to) list.push_back(text.substr(first, text.find_last_not_of(' ', to - 1) + 1 - first));
    from = to + 1;
  }
  return list;
}

/// Returns an error about the first of these names that is a misspelt name of an optimiser.
Status checkLeftOut(const Json& disabled) {
  for (const Json& name : disabled) {
    const std::vector<std::string> near = knownOptimisersNear(name.get<std::string>());
    if (!near.empty())
      return Diagnostic{.message = fmt::format("ONNX Runtime has no optimiser '{}' that disable could leave out",
                                               name.get<std::string>()),
                        .where = {.attribute = "--compiler-option"},
                        .help = nearestInWords(near, "")};
  }
  return Done{};
}

/// Adds the optimisers that fuse as the rules do that the user forbids (--no-fuse).
void leaveOutForbidden(const Plan& plan, Json& disabled) {
  for (const Directive& directive : plan.options.directives)
    for (const std::string& optimiser : optimisersToLeaveOut(plan, directive))
      if (std::ranges::find(disabled, Json(optimiser)) == disabled.end()) disabled.push_back(optimiser);
}

}  // namespace

std::vector<CompilerOption> compilerOptions() {
  return {
      {.name = "level",
       .values = {"none", "basic", "extended", "all"},
       .initial = "all",
       .help = "the level of graph optimisation: basic folds constants and simplifies, extended also fuses nodes for "
               "the provider, all also changes memory layouts"},
      {.name = kDisable,
       .values = {},
       .initial = "",
       .help = "names of optimisers that it leaves out, separated by commas: MatMulAddFusion,NchwcTransformer"},
      {.name = kProvider,
       .values = {},
       .initial = kCpuProvider,
       .help = "the execution provider; nodes that it does not support run on the CPU"},
      {.name = kTf32,
       .values = {"default", "off"},
       .initial = "default",
       .help = "default: CUDAExecutionProvider may multiply values of f32 in TF32, which keeps 10 bits of each "
               "mantissa; off: it keeps all 23"}};
}

bool runsOnCard(const CompilerOptions& options) {
  constexpr std::array<std::string_view, 3> kOnCards{kCudaProvider, "TensorrtExecutionProvider",
                                                     "NvTensorRTRTXExecutionProvider"};
  const auto provider = options.find(kProvider);
  return provider != options.end() && std::ranges::find(kOnCards, provider->second) != kOnCards.end();
}

std::string cardOf(const Json& opened) {
  const Json::json_pointer first("/about/cards/0");
  const bool isNamed = opened.contains(first) && opened.at(first).is_string();
  return isNamed ? opened.at(first).get<std::string>() : "card";
}

Result<Json> requestOptions(CompilerInput& network, const BuildOptions& options) {
  Json request{{"threads", options.threads}};
  for (const CompilerOption& option : compilerOptions()) {
    const std::string value = optionOf(network, option);
    if (!option.values.empty() && std::ranges::find(option.values, value) == option.values.end())
      return Diagnostic{.message = "ONNX Runtime does not know this value of the option: " + value,
                        .where = {.attribute = option.name}};
    request[option.name] = option.name == kDisable ? listOf(value) : Json(value);
  }
  TRY(checkLeftOut(request[kDisable]));
  leaveOutForbidden(*network.plan, request[kDisable]);
  if (request[kTf32] == "off" && request[kProvider] != kCudaProvider)
    return Diagnostic{
        .message =
            fmt::format("only the provider {} has an option that forbids multiplication in TF32, and {} was asked for",
                        kCudaProvider, request[kProvider].get<std::string>()),
        .where = {.attribute = kTf32},
        .help = fmt::format("Leave the option out, or ask for {}={}.", kProvider, kCudaProvider)};
  for (LoweredPin& pin : network.pins) {
    pin.isExpressible = true;
    pin.how = "The network that ONNX Runtime receives has Casts around the node.";
  }
  return request;
}

/// Reads lines such as "… GraphTransformer NAME modified: 1 with status: OK".
std::vector<OptimiserStep> optimiserStepsOf(std::string_view log) {
  constexpr std::string_view kStep = "GraphTransformer ", kChanged = " modified: ";
  std::vector<OptimiserStep> steps;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    const std::size_t at = line.find(kStep), changed = line.find(kChanged, at == line.npos ? 0 : at);
    if (at == line.npos || changed == line.npos || changed + kChanged.size() >= line.size()) continue;
    const std::string_view name = line.substr(at + kStep.size(), changed - at - kStep.size());
    if (name.empty() || name.find_first_of(" ,") != name.npos) continue;
    const bool isChange = line[changed + kChanged.size()] == '1';
    const auto known = std::ranges::find(steps, name, &OptimiserStep::name);
    if (known == steps.end()) {
      steps.push_back({.name = std::string(name), .changed = isChange});
    } else {
      known->changed = known->changed || isChange;
    }
  }
  return steps;
}

void addUnknownOptimisers(const Plan& plan, ReadBack& readBack) {
  const auto given = plan.options.compilerOptions.find(kDisable);
  if (given == plan.options.compilerOptions.end()) return;
  for (const Json& name : listOf(given->second))
    if (std::ranges::find(knownOptimisers(), name.get<std::string>()) == knownOptimisers().end())
      readBack.decisions.push_back(decide("build.optimiser_unknown", {}, "onnxruntime",
                                          {{"compiler", "onnxruntime"}, {"optimiser", name.get<std::string>()}}));
}

void addProviders(const CompilerInput& network, const Json& answer, ReadBack& readBack) {
  if (!answer.is_object()) return;
  const auto assignment = answer.find("assignment"), providers = answer.find("providers");
  if (assignment == answer.end() || !assignment->is_array()) return;
  if (providers == answer.end() || !providers->is_array() || providers->empty() || !providers->front().is_string())
    return;
  const std::string asked = providers->front().get<std::string>();
  readBack.compiler.options.emplace(kProvider, asked);
  if (const auto card = answer.find("card"); card != answer.end() && card->is_string())
    readBack.compiler.options.emplace("used_card", card->get<std::string>());
  for (const Json& part : *assignment) {
    const Json provider = part.is_object() ? part.value("provider", Json()) : Json();
    const Json nodes = part.is_object() ? part.value("nodes", Json()) : Json();
    if (!provider.is_string() || provider.get<std::string>() == asked || !nodes.is_array()) continue;
    for (const Json& name : nodes) {
      const auto known = name.is_string() ? network.nodes.find(name.get<std::string>()) : network.nodes.end();
      if (known == network.nodes.end()) continue;
      for (const NodeId id : known->second)
        readBack.decisions.push_back(decide("build.other_provider",
                                            {Subject::node(network.plan->graph().node(id).name)}, "onnxruntime",
                                            {{"provider", provider.get<std::string>()}, {"asked", asked}}));
    }
  }
}

}  // namespace fusescope::onnxruntime
