#include "compilers/compile_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "compilers/narrow_refusal.h"
#include "compilers/probed/probed_compiler.h"
#include "compilers/segmented_engine.h"
#include "ir/graph.h"
#include "planning/read_back/stated_support.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

/// Returns an error if a recorded answer refuses nodes that `plan` gives to the compiler, because the parts around them
/// were never compiled.
Status checkPacked(const Plan& plan, const CompilerSupport& support) {
  if (const NodeSupport* whole = refusalOfNoNode(support))
    return Diagnostic{.message = fmt::format("the compiler refused the network on the other machine, without naming a "
                                             "node: {}",
                                             whole->message),
                      .help = "Pack the job again with --fallback for the nodes that the compiler may not accept."};
  std::set<std::string_view> handed;
  for (const Segment& segment : plan.segments)
    if (segment.kind == SegmentKind::Accelerated)
      for (const NodeId node : segment.nodes) handed.insert(plan.graph().node(node).name);
  std::vector<std::string> options;
  const NodeSupport* first = nullptr;
  for (const NodeSupport& said : support.nodes) {
    if (said.isAccepted != false || !handed.contains(said.node)) continue;
    if (first == nullptr) first = &said;
    options.push_back(fmt::format("--fallback '{}'", said.node));
  }
  if (first == nullptr) return Done{};
  return Diagnostic{
      .message = fmt::format("the compiler refused {} on the other machine, and the job contains no answer for the "
                             "network without what was refused: {}",
                             counted(std::ssize(options), "node"), first->message),
      .where = {.node = first->node},
      .help = fmt::format("Pack the job again with {}: then our own engine runs the nodes that were refused.",
                          joined(options, " "))};
}

/// The job was packed so that nodes which the table refuses run on our own engine: parts with them were never compiled,
/// whatever the compiler says of these nodes.
CompilerSupport asPacked(const Plan& plan, CompilerSupport support) {
  for (const NodeId id : plan.structure->partition.unsupported) {
    const std::string& name = plan.graph().node(id).name;
    const auto known = std::ranges::find(support.nodes, name, &NodeSupport::node);
    if (known != support.nodes.end() && known->isAccepted == false) continue;
    NodeSupport packed{.node = name,
                       .isAccepted = {},
                       .code = "validate.not_asked",
                       .message = fmt::format("the job was packed to run it on our own engine, because the table of {} "
                                              "predicts that the compiler refuses it",
                                              plan.target.name)};
    if (known != support.nodes.end())
      *known = std::move(packed);
    else
      support.nodes.push_back(std::move(packed));
  }
  return support;
}

}  // namespace

Result<std::shared_ptr<const Plan>> planToAsk(std::shared_ptr<const Plan> plan, const StopToken& stop) {
  if (plan->structure->partition.unsupported.empty()) return plan;
  PlanOptions options = plan->options;
  options.support = std::make_shared<const CompilerSupport>(nothingStated(plan->graph()));
  return makePlan(unquantized(plan->model), options, nullptr, stop);
}

Result<std::shared_ptr<const Plan>> planSupported(const Compiler& compiler, std::shared_ptr<const Plan> plan,
                                                  const StopToken& stop, const Progress& progress) {
  if (compiler.takesWholeNetworks() || plan->options.support != nullptr) return plan;
  const BuildOptions asking{.stop = stop, .progress = progress};
  // If there are several segments, they can only be cut out when the compiler has answered.
  if (plan->segments.size() == 1) compiler.lowerAhead(plan, asking);
  if (progress) progress("ask", compiler.name());
  TRY(compiler.awaitReady(stop, progress));
  if (!compiler.whyNot(Ability::Support).empty()) return plan;
  PlanOptions options = plan->options;
  if (recordedJobOf(compiler)) {
    CompilerSupport support = TRY(compiler.support(*plan, asking));
    TRY(checkPacked(*plan, support));
    support = asPacked(*plan, std::move(support));
    options.support = std::make_shared<const CompilerSupport>(statedAboutAll(plan->graph(), std::move(support)));
    return makePlan(unquantized(plan->model), options, nullptr, stop);
  }
  const auto asked = TRY(planToAsk(plan, stop));
  CompilerSupport support = TRY(compiler.support(*asked, asking));
  support = TRY(narrowedDown(compiler, asked, std::move(support), asking));
  options.support = std::make_shared<const CompilerSupport>(statedAboutAll(asked->graph(), std::move(support)));
  return makePlan(unquantized(plan->model), options, nullptr, stop);
}

Result<std::unique_ptr<Engine>> compileNetwork(const Compiler& compiler, std::shared_ptr<const Plan> plan,
                                               const BuildOptions& options) {
  TRY(compiler.awaitReady(options.stop, options.progress));
  TRY(checkAble(compiler, Ability::Compile, "compile a network"));
  if (compiler.takesWholeNetworks()) return compiler.compile(TRY(compiler.lower(std::move(plan), options)), options);
  plan = TRY(planSupported(compiler, std::move(plan), options.stop, options.progress));
  return std::unique_ptr<Engine>(TRY(SegmentedEngine::build(compiler, std::move(plan), options)));
}

}  // namespace fusescope
