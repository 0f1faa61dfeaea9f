#include <algorithm>

#include "planning/fusion/rules.h"

namespace fusescope {

namespace {

const Directive& directiveAt(const PlanOptions& options, int index) {
  return options.directives[static_cast<std::size_t>(index)];
}

void answerSplits(const Graph& graph, const DirectiveMap& directives, const PlanOptions& options, Fusion& fusion) {
  for (std::size_t i = 0; i < options.directives.size(); ++i) {
    std::vector<Subject> subjects;
    for (NodeId id : graph.order()) {
      if (directives.split[id.index] == static_cast<int>(i)) subjects.push_back(Subject::node(graph.node(id).name));
    }
    if (subjects.empty()) continue;
    fusion.decisions.push_back(
        decide("fuse.split_honoured", std::move(subjects), directiveName(options.directives[i])));
  }
}

}  // namespace

void answerDirectives(const Graph& graph, const DirectiveMap& directives, const PlanOptions& options, Fusion& fusion) {
  answerSplits(graph, directives, options, fusion);
  for (const DirectiveMap::NoFuse& wish : directives.noFuse) {
    const auto nodes =
        std::count_if(graph.order().begin(), graph.order().end(), [&](NodeId id) { return wish.nodes[id.index] != 0; });
    std::vector<Subject> subjects;
    if (!directiveAt(options, wish.directive).pattern.empty()) {
      for (NodeId id : graph.order()) {
        if (wish.nodes[id.index]) subjects.push_back(Subject::node(graph.node(id).name));
      }
    }
    fusion.decisions.push_back(decide("fuse.no_fuse_honoured", std::move(subjects),
                                      directiveName(directiveAt(options, wish.directive)),
                                      {{"rule", wish.rule}, {"nodes", nodes}}));
  }
}

}  // namespace fusescope
