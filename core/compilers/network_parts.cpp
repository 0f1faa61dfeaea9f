#include "compilers/network_parts.h"

#include <algorithm>
#include <set>

#include "engine/kernel_requests.h"
#include "verify/part_model.h"

namespace fusescope {
namespace {

constexpr const char* kOwnTarget = "cpu";

class PartsCompiler {
 public:
  PartsCompiler(const Compiler& compiler, const std::map<std::string, Dims>& extents, const BuildOptions& options)
      : m_compiler(compiler), m_extents(extents), m_options(options) {}

  /// Each round compiles what is not compiled yet; one that meets refusals plans again without what was refused.
  Result<CompiledParts> run(std::shared_ptr<const Plan> plan) {
    while (true) {
      CompiledParts made{.plan = std::move(plan)};
      const Refusals refused = TRY(compileAll(made));
      if (refused.empty()) return made;
      plan = TRY(without(*made.plan, refused));
    }
  }

 private:
  /// Nodes that are to fall back, by name, and why; none: everything is compiled.
  using Refusals = std::map<std::string, std::string>;

  Result<Refusals> compileAll(CompiledParts& made) {
    const Plan& plan = *made.plan;
    Refusals refused;
    for (const Segment& segment : plan.segments) {
      TRY(checkStop(m_options.stop));
      auto part = cut(made.plan, segment);
      if (!part.ok()) {
        Refusals all = allNodes(plan, "the network cannot be cut into segments: " + part.error().text());
        if (part.error().cancelled || all.empty()) return std::move(part).error();
        return all;
      }
      auto compiled = compile(segment, part.value());
      if (!compiled.ok()) {
        Diagnostic error = std::move(compiled).error();
        if (error.cancelled || segment.kind == SegmentKind::Fallback) return error;
        refuse(plan, segment, error, refused);
        continue;
      }
      made.parts.push_back(std::move(compiled).value());
    }
    return refused;
  }

  /// A network of one segment is not cut: it is handed over as it is, whatever it holds.
  Result<Part> cut(const std::shared_ptr<const Plan>& plan, const Segment& segment) const {
    const bool isOurs = segment.kind == SegmentKind::Fallback;
    if (plan->segments.size() == 1) {
      std::vector<std::string> inputs;
      for (const ValueId input : plan->graph().inputs()) inputs.push_back(plan->graph().value(input).name);
      if (!isOurs) return Part{plan, std::move(inputs)};
      return Part{TRY(makePlan(plan->model, {.target = kOwnTarget}, nullptr, m_options.stop)), std::move(inputs)};
    }
    const KernelRequests requests = TRY(KernelRequests::create(*plan, m_extents, 1));
    return partFor(*plan, requests, segment.nodes, isOurs ? kOwnCompiler : plan->options.compiler,
                   isOurs ? kOwnTarget : plan->options.target, m_options.stop);
  }

  Result<CompiledPart> compile(const Segment& segment, const Part& part) {
    const bool isOurs = segment.kind == SegmentKind::Fallback;
    CompiledPart made{.segment = segment.id, .isOurs = isOurs, .inputs = part.inputs};
    for (const ValueId output : part.plan->graph().outputs())
      made.outputs.push_back(part.plan->graph().value(output).name);
    const Compiler& compiler = isOurs ? ownCompiler() : m_compiler;
    const Key key{isOurs, namesOf(*part.plan)};
    if (const auto known = m_compiled.find(key); known != m_compiled.end()) {
      made.engine = known->second.engine;
      made.pins = known->second.pins;
      return made;
    }
    if (m_options.progress) m_options.progress("compile", segment.name);
    BuildOptions options = m_options;
    options.backend.clear();
    options.shapes = isWhole(part) ? m_extents : std::map<std::string, Dims>();
    const Lowered lowered = TRY(compiler.lower(part.plan));
    made.engine = TRY(compiler.compile(lowered, options));
    made.pins = lowered.pins;
    m_compiled[key] = made;
    return made;
  }

  /// A part that was cut out has the extents that it was cut at.
  bool isWhole(const Part& part) const {
    return part.inputs.size() == m_extents.size() &&
           std::ranges::all_of(part.inputs, [&](const std::string& input) { return m_extents.contains(input); });
  }

  static std::set<std::string> namesOf(const Plan& plan) {
    std::set<std::string> names;
    for (const NodeId node : plan.graph().order()) names.insert(plan.graph().node(node).name);
    return names;
  }

  /// The node that the error is located at, if it is in the segment; else all of the segment.
  static void refuse(const Plan& plan, const Segment& segment, const Diagnostic& error, Refusals& refused) {
    const auto isNamed = [&](NodeId node) { return plan.graph().node(node).name == error.where.node; };
    const bool isOne = std::ranges::any_of(segment.nodes, isNamed);
    for (const NodeId node : segment.nodes)
      if (!isOne || isNamed(node)) refused.emplace(plan.graph().node(node).name, error.message);
  }

  static Refusals allNodes(const Plan& plan, const std::string& why) {
    Refusals refused;
    for (const Segment& segment : plan.segments)
      if (segment.kind == SegmentKind::Accelerated)
        for (const NodeId node : segment.nodes) refused.emplace(plan.graph().node(node).name, why);
    return refused;
  }

  Result<std::shared_ptr<const Plan>> without(const Plan& plan, const Refusals& refused) const {
    auto support = std::make_shared<CompilerSupport>();
    if (plan.options.support != nullptr) *support = *plan.options.support;
    std::erase_if(support->nodes, [&](const NodeSupport& said) { return refused.contains(said.node); });
    for (const auto& [node, why] : refused)
      support->nodes.push_back({.node = node,
                                .taken = false,
                                .code = "validate.compiler_failed",
                                .message = why,
                                .foundBy = FoundBy::Build});
    PlanOptions options = plan.options;
    options.support = std::move(support);
    return makePlan(unquantized(plan.model), options, nullptr, m_options.stop);
  }

  const Compiler& m_compiler;
  const std::map<std::string, Dims>& m_extents;
  const BuildOptions& m_options;
  using Key = std::pair<bool, std::set<std::string>>;
  std::map<Key, CompiledPart> m_compiled;  ///< of this round and those before
};

}  // namespace

Result<CompiledParts> compileParts(const Compiler& compiler, std::shared_ptr<const Plan> plan,
                                   const std::map<std::string, Dims>& extents, const BuildOptions& options) {
  return PartsCompiler(compiler, extents, options).run(std::move(plan));
}

}  // namespace fusescope
