#include "compilers/network_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "compilers/probed/probed_compiler.h"
#include "engine/kernel_requests.h"
#include "ops/no_kernel.h"
#include "ops/op_schema.h"

namespace fusescope {
namespace {

constexpr const char* kOwnTarget = "cpu";
/// Builds for the sake of searches: four in networks of 256 nodes, fewer in larger ones.
constexpr int kMostSearches = 64;

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
  /// Why a node is to fall back.
  struct Refusal {
    std::string why;
    bool isAsked = true;  ///< the compiler gave it up; else it was never handed it
  };
  /// Nodes that are to fall back, by name; none: everything is compiled.
  using Refusals = std::map<std::string, Refusal>;

  Result<Refusals> compileAll(CompiledParts& made) {
    const Plan& plan = *made.plan;
    Refusals refused;
    for (const Segment& segment : plan.segments) {
      TRY(checkStop(m_options.stop));
      auto part = segmentPart(made.plan, segment, m_extents, m_options.stop);
      if (!part.ok()) {
        if (part.error().cancelled) return std::move(part).error();
        Refusals tied = TRY(tiedByExtents(plan, part.error()));
        if (tied.empty())
          tied = allNodes(plan, {"the network cannot be cut into segments: " + part.error().text(), false});
        if (tied.empty()) return std::move(part).error();
        return tied;
      }
      auto compiled = compile(segment, part.value());
      if (!compiled.ok()) {
        Diagnostic error = std::move(compiled).error();
        if (error.cancelled) return error;
        if (segment.kind == SegmentKind::Fallback) return ofOurOwnEngine(plan, std::move(error));
        if (recordedJobOf(m_compiler)) return packedOtherwise(std::move(error));
        if (isOfWhatWasAsked(error)) return error;
        TRY(refuse(made.plan, segment, error, refused));
        continue;
      }
      made.parts.push_back(std::move(compiled).value());
    }
    return refused;
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
    BuildOptions options = m_options;
    options.backend.clear();
    options.shapes = isWhole(part) ? m_extents : std::map<std::string, Dims>();
    const Lowered lowered = TRY(compiler.lower(part.plan, options));
    if (m_options.progress) m_options.progress("compile", segment.name);
    made.engine = TRY(compiler.compile(lowered, options));
    made.pins = lowered.pins;
    m_compiled[key] = made;
    return made;
  }

  /// What a recorded answer refuses cannot be compiled again without it: that is for another job.
  static Diagnostic packedOtherwise(Diagnostic error) {
    if (!error.where.node.empty())
      error.help = fmt::format("Pack the job again with --fallback '{}': then this node runs on our own engine.",
                               error.where.node);
    return error;
  }

  /// What neither the compiler takes nor our own engine can run stops this compiler, and no plan without one.
  static Diagnostic ofOurOwnEngine(const Plan& plan, Diagnostic error) {
    const auto node = plan.graph().findNode(error.where.node);
    const OpSchema* schema = node ? OpRegistry::standard().find(plan.graph().node(*node)) : nullptr;
    if (!node || (schema != nullptr && schema->kernel)) return error;
    const NoKernel reason = whyNoKernel(plan.graph().node(*node));
    const std::string& compiler = plan.options.compiler;
    error.message =
        fmt::format("{}: it falls back from {}, and our own engine has no kernel for it either", reason.why, compiler);
    error.help = fmt::format("{}{}Without {} you can view, plan and export the network.", reason.help,
                             reason.help.empty() ? "" : " ", compiler);
    return error;
  }

  /// No part of the network is to blame for what an option cannot have, or for an answer that cannot be read.
  static bool isOfWhatWasAsked(const Diagnostic& error) {
    return error.where.node.empty() && !error.where.attribute.empty();
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

  /// The node that the error is located at, if it is in the segment, or that a search finds; else all of the segment.
  Status refuse(const std::shared_ptr<const Plan>& plan, const Segment& segment, const Diagnostic& error,
                Refusals& refused) {
    const Graph& graph = plan->graph();
    Diagnostic why = error;
    NodeId found = nodeOf(*plan, segment.nodes, error);
    if (!found.valid() && segment.nodes.size() > 1) found = TRY(searched(plan, segment, why));
    for (const NodeId node : segment.nodes)
      if (!found.valid() || node == found)
        refused.emplace(graph.node(node).name, Refusal{found.valid() ? why.message : error.message});
    return Done{};
  }

  static NodeId nodeOf(const Plan& plan, const std::vector<NodeId>& nodes, const Diagnostic& error) {
    const auto found =
        std::ranges::find_if(nodes, [&](NodeId node) { return plan.graph().node(node).name == error.where.node; });
    return found == nodes.end() ? NodeId() : *found;
  }

  /// The node that a segment does not compile for, where the error does not say: halves are compiled, and of the first
  /// that fails the halves, down to one node. Invalid: nothing that fails is smaller than the segment, nothing compiles
  /// at all, or too many builds would be needed. `why` becomes the error of the smallest part that fails.
  Result<NodeId> searched(const std::shared_ptr<const Plan>& plan, const Segment& segment, Diagnostic& why) {
    std::vector<NodeId> nodes = segment.nodes;
    bool isAnyGood = false;
    while (nodes.size() > 1) {
      const auto middle = nodes.begin() + static_cast<std::ptrdiff_t>(nodes.size() / 2);
      const std::vector<NodeId> halves[] = {{nodes.begin(), middle}, {middle, nodes.end()}};
      const std::vector<NodeId>* failed = nullptr;
      for (const std::vector<NodeId>& half : halves) {
        // The last half is only asked whether anything compiles.
        if (failed != nullptr && (isAnyGood || nodes.size() > 2)) continue;
        const auto error = TRY(errorOf(plan, half));
        if (!error) return NodeId();
        isAnyGood |= error->message.empty();
        if (failed != nullptr || error->message.empty()) continue;
        failed = &half;
        why = *error;
        if (const NodeId named = nodeOf(*plan, half, why); named.valid()) return named;
      }
      if (failed == nullptr) return NodeId();
      nodes = std::vector(*failed);
    }
    return isAnyGood ? nodes.front() : NodeId();
  }

  /// Why these nodes do not compile, cut out; an empty message: they do. Nothing: they cannot be asked for.
  Result<std::optional<Diagnostic>> errorOf(const std::shared_ptr<const Plan>& plan, const std::vector<NodeId>& nodes) {
    if (m_searches == kMostSearches) return std::optional<Diagnostic>();
    const auto part = cutOut(*plan, nodes);
    if (!part.ok()) {
      if (part.error().cancelled) return part.error();
      return std::optional<Diagnostic>();
    }
    ++m_searches;
    if (m_options.progress) m_options.progress("search", counted(static_cast<std::int64_t>(nodes.size()), "node"));
    BuildOptions options = m_options;
    options.backend.clear();
    options.shapes.clear();
    const auto compiled = m_compiler.compile(TRY(m_compiler.lower(part.value().plan, options)), options);
    if (compiled.ok()) return std::optional(Diagnostic());
    if (compiled.error().cancelled) return compiled.error();
    return std::optional(compiled.error());
  }

  Result<Part> cutOut(const Plan& plan, const std::vector<NodeId>& nodes) const {
    const KernelRequests requests = TRY(KernelRequests::create(plan, m_extents, 1));
    return partFor(plan, requests, nodes, plan.options.compiler, plan.options.target, m_options.stop);
  }

  /// A tensor whose extents depend on data passes between no segments: what makes it, and all behind it up to known
  /// extents, runs on our own engine. Empty: the error is no such tensor's, or nothing of that is the compiler's.
  Result<Refusals> tiedByExtents(const Plan& plan, const Diagnostic& error) const {
    const Graph& graph = plan.graph();
    const auto first = graph.findValue(error.where.value);
    if (!first) return Refusals();
    const KernelRequests requests = TRY(KernelRequests::create(plan, m_extents, 1));
    std::set<NodeId> tied;
    std::vector<ValueId> open{*first};
    if (const NodeId producer = graph.value(*first).producer; producer.valid()) tied.insert(producer);
    while (!open.empty()) {
      const ValueId value = open.back();
      open.pop_back();
      for (const NodeId reader : graph.value(value).consumers) {
        if (!tied.insert(reader).second) continue;
        for (const ValueId output : graph.node(reader).outputs)
          if (output.valid() && !requests.types()[output.index].shape.fixed()) open.push_back(output);
      }
    }
    Refusals refused = allNodes(plan, {fmt::format("the extents of '{}' depend on data, so the node that makes it and "
                                                   "the nodes behind it run in one segment, on our own engine",
                                                   error.where.value),
                                       false});
    std::set<std::string> names;
    for (const NodeId node : tied) names.insert(graph.node(node).name);
    std::erase_if(refused, [&](const auto& node) { return !names.contains(node.first); });
    return refused;
  }

  static Refusals allNodes(const Plan& plan, const Refusal& why) {
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
    for (const auto& [node, refusal] : refused)
      support->nodes.push_back({.node = node,
                                .taken = refusal.isAsked ? std::optional(false) : std::nullopt,
                                .code = refusal.isAsked ? "validate.compiler_failed" : "validate.not_asked",
                                .message = refusal.why,
                                .foundBy = SupportSource::Build});
    PlanOptions options = plan.options;
    options.support = std::move(support);
    return makePlan(unquantized(plan.model), options, nullptr, m_options.stop);
  }

  const Compiler& m_compiler;
  const std::map<std::string, Dims>& m_extents;
  const BuildOptions& m_options;
  using Key = std::pair<bool, std::set<std::string>>;
  std::map<Key, CompiledPart> m_compiled;  ///< of this round and those before
  int m_searches = 0;                      ///< parts that were compiled only to find what fails
};

}  // namespace

Result<Part> segmentPart(const std::shared_ptr<const Plan>& plan, const Segment& segment,
                         const std::map<std::string, Dims>& extents, const StopToken& stop) {
  const bool isOurs = segment.kind == SegmentKind::Fallback;
  if (plan->segments.size() == 1) {
    std::vector<std::string> inputs;
    for (const ValueId input : plan->graph().inputs()) inputs.push_back(plan->graph().value(input).name);
    if (!isOurs) return Part{plan, std::move(inputs)};
    return Part{TRY(makePlan(plan->model, {.target = kOwnTarget}, nullptr, stop)), std::move(inputs)};
  }
  const KernelRequests requests = TRY(KernelRequests::create(*plan, extents, 1));
  return partFor(*plan, requests, segment.nodes, isOurs ? kOwnCompiler : plan->options.compiler,
                 isOurs ? kOwnTarget : plan->options.target, stop);
}

Result<CompiledParts> compileParts(const Compiler& compiler, std::shared_ptr<const Plan> plan,
                                   const std::map<std::string, Dims>& extents, const BuildOptions& options) {
  return PartsCompiler(compiler, extents, options).run(std::move(plan));
}

}  // namespace fusescope
