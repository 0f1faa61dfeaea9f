#include "compilers/tensorrt/server_kind.h"

#include <fmt/format.h>

#include "base/text.h"
#include "compilers/tensorrt/family_answers.h"
#include "compilers/tensorrt/requested_types.h"
#include "compilers/tensorrt/server_targets.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr const char* kTimingCache = "timing_cache";

/// The path must be absolute, because the folder in which the compiler runs is arbitrary and may be deleted when it
/// ends.
Status checkTimingCache(const std::string& path) {
  if (path.starts_with('/')) return Done{};
  return Diagnostic{.message = fmt::format("the timing cache {} is not an absolute path, and there is no folder to "
                                           "which the machine that compiles could relate it",
                                           path),
                    .where = {.attribute = "--compiler-option"},
                    .help = "Give the absolute path on that machine, which begins with /."};
}

}  // namespace

std::string_view ServerKind::target() const {
  return newestServerTarget();
}

bool ServerKind::takesTarget(std::string_view target) const {
  return isServerTarget(target);
}

/// If layers have types, the network keeps its own.
CompilerInputTypes ServerKind::inputTypesFor(const Plan& plan) const {
  return plan.target.stronglyTyped ? CompilerInputTypes::AsPlanned : CompilerInputTypes::AsInFile;
}

std::vector<CompilerOption> ServerKind::options() const {
  return {{.name = kTimingCache,
           .values = {},
           .initial = {},
           .help =
               "The absolute path of a timing cache on the machine that compiles. It keeps the times of kernels, so "
               "that the next build is faster and chooses the same kernels. Without this option, nothing is kept."}};
}

std::string ServerKind::whyNot(Ability ability, const Json& opened) const {
  if (ability == Ability::InnerValues)
    return fmt::format("{} does not return values that are inside the network that it compiled.", title());
  if (ability == Ability::Keep)
    return fmt::format("What {} compiled is not kept: it can be compiled again from the network.", title());
  if (!memberOf(opened, "devices").empty()) return {};
  return joined(
      {fmt::format("{} compiles and runs networks on the NVIDIA card that it finds, and there is none.", title()),
       textMember(memberOf(opened, "about"), "why_no_device"), elsewhere()},
      " ");
}

std::string ServerKind::deviceOf(const Json& opened, const CompilerOptions& /*options*/) const {
  return nameOfCard(opened);
}

std::string ServerKind::elsewhere() const {
  return ProbedKind::elsewhere() +
         " What trtexec writes there (--exportLayerInfo, --exportProfile, --verbose) is read here by: fusescope "
         "import-engine MODEL --layers layers.json.";
}

Result<Json> ServerKind::requestOptions(CompilerInput& network, const BuildOptions& options) const {
  Json json = TRY(requestedTypes(network));
  const Plan& plan = *network.plan;
  if (options.threads > 0) json["threads"] = options.threads;
  if (plan.options.workspaceBytes > 0) json["workspace"] = plan.options.workspaceBytes;
  if (Json extents = extentsAsked(network, options); !extents.empty()) json["profile"] = std::move(extents);
  if (const auto cache = plan.options.compilerOptions.find(kTimingCache);
      cache != plan.options.compilerOptions.end() && !cache->second.empty()) {
    TRY(checkTimingCache(cache->second));
    json[kTimingCache] = cache->second;
  }
  return json;
}

NodeId ServerKind::failedAt(const CompilerInput& network, const Diagnostic& error) const {
  return nodeOfFirstLine(network, error);
}

void ServerKind::keepAnswers(const ProbeAnswer& compiled, std::initializer_list<const char*> keys, ReadBack& readBack) {
  for (const char* key : keys)
    if (std::string text = textMember(compiled.json, key); !text.empty())
      readBack.compiler.options[key] = std::move(text);
}

void ServerKind::warnOfNodes(const CompilerInput& network, const ProbeAnswer& compiled, const char* key,
                             const char* message, ReadBack& readBack) {
  for (const Json& name : memberOf(compiled.json, key)) {
    const auto known = name.is_string() ? network.nodes.find(name.get_ref<const std::string&>()) : network.nodes.end();
    if (known == network.nodes.end()) continue;
    for (const NodeId node : known->second)
      readBack.decisions.push_back(
          decide("build.compiler_warns", {Subject::node(network.plan->graph().node(node).name)},
                 network.plan->options.compiler, {{"compiler", "TensorRT"}, {"message", message}}));
  }
}

}  // namespace fusescope
