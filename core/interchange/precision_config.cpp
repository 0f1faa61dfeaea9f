#include "interchange/precision_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/text.h"
#include "interchange/export_inputs.h"
#include "interchange/export_notes.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

Diagnostic exportError(std::string message, const std::string& node = {}, std::string help = {}) {
  return {.message = std::move(message), .where = {.node = node}, .help = std::move(help)};
}

/// The directives behind what was granted, and what it is, by origin.
struct Granted {
  std::map<OriginId, NodePrecision> nodes;
  std::set<const Directive*> directives;

  NodePrecision& of(const Plan& plan, OriginId origin) {
    auto& entry = nodes[origin];
    entry.node = plan.model->origins[origin.index].name;
    return entry;
  }
};

void collectComputePins(const Plan& plan, Granted& granted) {
  for (const auto& grant : plan.precisionMap) {
    if (grant.asked == DataType::Undefined || grant.asked != grant.granted) continue;
    const auto* directive = findDirective(plan, grant.by);
    if (directive == nullptr || !asksForAType(*directive)) continue;
    granted.directives.insert(directive);
    for (const auto origin : plan.graph().node(grant.node).origins) granted.of(plan, origin).compute = grant.granted;
  }
}

/// The planner decides about output types node by node.
void collectOutputPins(const Plan& plan, Granted& granted) {
  for (const auto& answer : plan.answers) {
    const auto* directive =
        answer.outcome == DirectiveOutcome::Stored ? findDirective(plan, answer.directive) : nullptr;
    if (directive == nullptr) continue;
    granted.directives.insert(directive);
    for (const auto& subject : answer.about) {
      const auto node = subject.nodeIn(plan.graph());
      if (!node) continue;
      for (const auto origin : plan.graph().node(*node).origins) granted.of(plan, origin).output = directive->type;
    }
  }
}

bool isWeaklyTyped(DataType type) {
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

/// Two nodes of one name in the file are told apart here by "#2", which TensorRT does not know.
std::optional<std::string> sharedName(const std::set<std::string, std::less<>>& names, const std::string& node) {
  const auto hash = node.rfind('#');
  if (hash != std::string::npos && hash + 1 < node.size() &&
      std::ranges::all_of(node.substr(hash + 1), [](char c) { return c >= '0' && c <= '9'; }) &&
      names.contains(node.substr(0, hash))) {
    return node.substr(0, hash);
  }
  return names.contains(node + "#2") ? std::optional(node) : std::nullopt;
}

Status checkNode(const NodePrecision& node, const std::set<std::string, std::less<>>& names) {
  for (const auto& type : {node.compute, node.output}) {
    if (type && !isWeaklyTyped(*type)) {
      return exportError(fmt::format("TensorRT's layer precisions cannot ask for {}", name(*type)), node.node,
                         "Pin it to f32, f16 or bf16.");
    }
  }
  if (const auto shared = sharedName(names, node.node)) {
    return exportError(
        fmt::format("several nodes of the file are called '{}': TensorRT cannot tell them apart", *shared), node.node,
        "Give the nodes of the model different names.");
  }
  return Done{};
}

}  // namespace

Result<PrecisionConfig> precisionConfig(const Plan& plan) {
  Granted granted;
  collectComputePins(plan, granted);
  collectOutputPins(plan, granted);
  // Types that the whole network may have need no pin.
  const bool mayLower =
      std::ranges::any_of(plan.options.precisions, [](DataType type) { return type != DataType::F32; });
  std::vector<std::string> refused;
  for (const ExportNote& note : pinsNotHonoured(plan)) refused.push_back(note.text);
  const bool saysNothing = !mayLower && givenInputSpecs(plan).empty();
  if (granted.nodes.empty() && (saysNothing || !refused.empty()))
    return exportError(
        "the plan has no granted pin and no granted output type: there is nothing to export", {},
        refused.empty() ? "Add --precision, --pin NODE=TYPE or --output-type NODE=TYPE." : joined(refused, "; ") + ".");
  std::set<std::string, std::less<>> names;
  for (const auto& origin : plan.model->origins) names.insert(origin.name);
  PrecisionConfig config;
  if (!granted.directives.empty()) config.strictness = (*granted.directives.begin())->strictness;
  for (const auto* directive : granted.directives) {
    if (directive->strictness == config.strictness) continue;
    return exportError("some pins are marked obey and others prefer; TensorRT has one flag for all", {},
                       "Mark all of them obey, or all prefer.");
  }
  for (auto& [origin, node] : granted.nodes) {
    TRY(checkNode(node, names));
    for (const auto& type : {node.compute, node.output}) {
      config.usesF16 |= type == DataType::F16;
      config.usesBF16 |= type == DataType::BF16;
    }
    config.nodes.push_back(std::move(node));
  }
  for (const auto type : plan.options.precisions) {
    config.usesF16 |= type == DataType::F16;
    config.usesBF16 |= type == DataType::BF16;
  }
  return config;
}

std::string TrtVersion::text() const {
  return fmt::format("{}.{}", major, minor);
}

int TrtVersion::number() const {
  return major < 10 ? major * 1000 + minor * 100 + patch : major * 10000 + minor * 100 + patch;
}

Result<TrtVersion> parseTrtVersion(std::string_view text) {
  const auto bad = [&] {
    return Diagnostic{.message = fmt::format("'{}' is not a version of TensorRT", text),
                      .where = {.attribute = "--trt-version"},
                      .help = "For example: 8.6, 10.3 or 10.16."};
  };
  const auto parts = split(text, '.');
  if (parts.size() < 2 || parts.size() > 4) return bad();
  std::vector<int> numbers;
  for (const auto& part : parts) {
    int number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || number < 0) return bad();
    numbers.push_back(number);
  }
  return TrtVersion{numbers[0], numbers[1], numbers.size() > 2 ? numbers[2] : 0};
}

Status checkTrtVersion(const PrecisionConfig& config, TrtVersion version, TrtVersion first, std::string_view format) {
  const auto refused = [&](std::string message, std::string help) {
    return Diagnostic{.message = std::move(message), .where = {.attribute = "--trt-version"}, .help = std::move(help)};
  };
  if (version.major >= 11) {
    return refused(fmt::format("TensorRT {} has no layer precisions: since version 11.0 its networks are strongly "
                               "typed, and the Casts of the model determine their types",
                               version.text()),
                   "Export for a version up to 10.16, or put casts into the model.");
  }
  if (version > TrtVersion{10, 16}) {
    return refused(
        fmt::format("TensorRT {} is not known; layer precisions are known up to version 10.16", version.text()),
        "Give the version that will be used, up to 10.16.");
  }
  if (version < first) {
    return refused(fmt::format("{} needs TensorRT {} or later", format, first.text()), "Use a later version.");
  }
  if (config.usesBF16 && version < TrtVersion{9, 0}) {
    return refused(fmt::format("TensorRT {} has no bf16; it came with 9.0", version.text()),
                   "Pin to f16 or f32, or export for a later version.");
  }
  return Done{};
}

std::string_view trtTypeName(DataType type) {
  return type == DataType::F16 ? "fp16" : type == DataType::BF16 ? "bf16" : "fp32";
}

}  // namespace fusescope
