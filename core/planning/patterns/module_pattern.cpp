#include "planning/patterns/module_pattern.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/json.h"
#include "ir/graph.h"

namespace fusescope {

namespace {

/// The totals of the kernels of a module and of the modules in it.
struct ModuleTotals {
  std::int64_t kernels = 0, withoutTime = 0;
  std::optional<std::int64_t> flops = 0;
  double ms = 0;
};

std::int32_t innermostAround(const ModuleTree& tree, const std::vector<NodeId>& nodes) {
  std::vector<std::int32_t> around;  // the modules around the first node, from the inside out
  if (nodes.empty()) return -1;
  for (std::int32_t m = tree.moduleOf[nodes.front().index]; m >= 0;
       m = tree.modules[static_cast<std::size_t>(m)].parent)
    around.push_back(m);
  for (const std::int32_t module : around) {
    const auto holds = [&](NodeId node) {
      std::int32_t m = tree.moduleOf[node.index];
      while (m >= 0 && m != module) m = tree.modules[static_cast<std::size_t>(m)].parent;
      return m == module;
    };
    if (std::all_of(nodes.begin(), nodes.end(), holds)) return module;
  }
  return -1;
}

/// Returns how many nodes the pattern of the module matches; null if it matches none, as for a run.
Json namedNodes(PatternMatcher& matcher, const Module& module) {
  const auto found = matcher.match(kModulePrefix + module.path);
  return found.ok() ? Json(found.value().nodes.size()) : Json(nullptr);
}

std::vector<ModuleTotals> totalsOf(const Plan& plan, const ModuleTree& tree) {
  std::vector<ModuleTotals> totals(tree.modules.size());
  for (const FusedNode& fused : plan.fusedNodes) {
    for (std::int32_t m = innermostAround(tree, fused.nodes); m >= 0;
         m = tree.modules[static_cast<std::size_t>(m)].parent) {
      ModuleTotals& of = totals[static_cast<std::size_t>(m)];
      ++of.kernels;
      if (of.flops && fused.flops) {
        *of.flops += *fused.flops;
      } else {
        of.flops.reset();
      }
      if (fused.predictedMs) {
        of.ms += *fused.predictedMs;
      } else {
        ++of.withoutTime;
      }
    }
  }
  return totals;
}

}  // namespace

std::string exactPattern(PatternMatcher& matcher, const Graph& original, const Graph& graph, const Module& module) {
  const std::string pattern = kModulePrefix + module.path;
  const auto found = matcher.match(pattern);
  if (!found.ok()) return {};
  std::set<std::string_view> named, held;
  for (const NodeId node : found.value().nodes) named.insert(original.node(node).name);
  for (const NodeId node : module.nodes)
    if (const std::string& name = graph.node(node).name; original.findNode(name)) held.insert(name);
  return named == held ? pattern : std::string();
}

Json modulesJson(const Plan& plan, const ModuleTree& tree) {
  const Model& original = *unquantized(plan.model);
  PatternMatcher matcher(original);
  const std::vector<ModuleTotals> totals = totalsOf(plan, tree);
  Json all = Json::array();
  for (std::size_t m = 0; m < tree.modules.size(); ++m) {
    const Module& module = tree.modules[m];
    const ModuleTotals& of = totals[m];
    const bool timed = of.kernels > of.withoutTime;
    const std::string pattern =
        tree.byStructure ? std::string() : exactPattern(matcher, *original.graph, plan.graph(), module);
    all.push_back({{"path", module.path},
                   {"title", module.title},
                   {"parent", module.parent < 0 ? Json(nullptr)
                                                : Json(tree.modules[static_cast<std::size_t>(module.parent)].path)},
                   {"copies", module.isRun ? Json(module.children.size()) : Json(nullptr)},
                   {"nodes", module.nodes.size()},
                   {"named", tree.byStructure ? Json(nullptr) : namedNodes(matcher, module)},
                   {"kernels", of.kernels},
                   {"flops", of.flops ? Json(*of.flops) : Json(nullptr)},
                   {"predicted_ms", timed ? Json(of.ms) : Json(nullptr)},
                   {"kernels_without_time", of.withoutTime},
                   {"pattern", pattern.empty() ? Json(nullptr) : Json(pattern)}});
  }
  return all;
}

}  // namespace fusescope
