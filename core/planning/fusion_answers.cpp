#include "planning/directives/directive_form.h"
#include "planning/plan.h"
#include "planning/read_back/predicted_compiler.h"
#include "planning/steps.h"
#include "planning/structure.h"

namespace fusescope {

namespace {

class FusionAnswerer {
 public:
  FusionAnswerer(const Plan& plan, const DirectiveMap& directives)
      : m_plan(plan), m_graph(plan.graph()), m_directives(directives), m_compiler(predictedCompiler(plan)) {}

  std::vector<Decision> run(const std::vector<Region>& regions) {
    m_decisions.reserve(regions.size() + m_plan.segments.size() + m_plan.options.directives.size());
    for (const Region& region : regions) answerRegion(region);
    for (const Segment& segment : m_plan.segments) {
      if (segment.kind != SegmentKind::Fallback) continue;
      m_decisions.push_back(
          decide("fuse.fallback_segment", {Subject::segment(segment.name)}, "fusion", {{"segment", segment.name}}));
    }
    for (int i = 0; i < static_cast<int>(m_plan.options.directives.size()); ++i) answerDirective(i);
    return std::move(m_decisions);
  }

 private:
  void answerRegion(const Region& region) {
    DecisionArguments arguments;
    arguments["kind"] = region.kind;
    const bool ofOthers = !m_compiler.empty() && m_plan.structure->accelerated[region.root.index] != 0;
    if (ofOthers) arguments["compiler"] = m_compiler;
    if (region.nodes.size() == 1) {
      m_decisions.push_back(decide(ofOthers ? "fuse.predicted_alone" : "fuse.single", subjectsOf(m_graph, region.nodes),
                                   "fusion", std::move(arguments)));
      return;
    }
    arguments["rule"] = region.rule;
    arguments["target"] = m_plan.target.name;
    const bool predicted = m_plan.target.predictedFusions || ofOthers;
    m_decisions.push_back(decide(predicted ? "fuse.predicted" : "fuse.merged", subjectsOf(m_graph, region.nodes),
                                 "fuse_" + region.rule, std::move(arguments)));
  }

  void answerDirective(int index) {
    const Directive& directive = m_plan.options.directives[static_cast<std::size_t>(index)];
    const DirectiveForm& form = formOf(directive);
    const std::vector<NodeId>& nodes = m_directives.nodesOf[static_cast<std::size_t>(index)];
    // What happened to the matched nodes is the answer.
    const bool answered = nodes.empty() && !directive.pattern.empty();
    if (form.answer != nullptr && !answered) m_decisions.push_back(form.answer(directive, nodes, m_plan));
  }

  const Plan& m_plan;
  const Graph& m_graph;
  const DirectiveMap& m_directives;
  const std::string m_compiler;  ///< predictedCompiler()
  std::vector<Decision> m_decisions;
};

}  // namespace

std::vector<Decision> fusionAnswers(const Plan& plan, const std::vector<Region>& regions,
                                    const DirectiveMap& directives) {
  return FusionAnswerer(plan, directives).run(regions);
}

}  // namespace fusescope
