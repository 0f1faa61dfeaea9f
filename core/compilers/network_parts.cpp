#include "compilers/network_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "analysis/users.h"
#include "base/text.h"
#include "compilers/narrow_refusal.h"
#include "compilers/probed/probed_compiler.h"
#include "compilers/probed/probed_engine.h"
#include "engine/kernels/kernel_requests.h"
#include "ops/no_kernel.h"
#include "ops/op_schema.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

constexpr const char* kOwnTarget = "cpu";
/// The most builds that are made only to search: four in networks of 256 nodes, fewer in larger ones.
constexpr int kMostSearches = 64;
/// The most of them that are made of nodes which the table of the target refuses.
constexpr int kMostPredicted = kMostSearches / 2;

class PartsCompiler {
 public:
  PartsCompiler(const Compiler& compiler, const std::map<std::string, Dims>& extents, const BuildOptions& options)
      : m_compiler(compiler), m_extents(extents), m_options(options) {}

  /// Each round compiles what is not compiled yet. If the compiler refuses something, the network is planned again
  /// without it, and the next round begins.
  Result<CompiledParts> run(std::shared_ptr<const Plan> plan) {
    while (true) {
      CompiledParts made{.plan = std::move(plan)};
      const Refusals refused = TRY(compileAll(made));
      if (refused.empty()) return made;
      plan = TRY(without(*made.plan, refused));
    }
  }

 private:
  /// The reason for which a node falls back.
  struct Refusal {
    std::string why;
    bool isAsked = true;  ///< false if the compiler was never given the node
  };
  /// The nodes that fall back, by name. If there are none, everything is compiled.
  using Refusals = std::map<std::string, Refusal>;

  Result<Refusals> compileAll(CompiledParts& made) {
    const Plan& plan = *made.plan;
    std::vector<Part> parts;
    if (Refusals tied = TRY(cutAll(made.plan, parts)); !tied.empty()) return tied;
    Refusals refused;
    for (std::size_t i = 0; i < plan.segments.size(); ++i) {
      TRY(checkStop(m_options.stop));
      const Segment& segment = plan.segments[i];
      auto compiled = compile(segment, parts[i], plan.segments.size() == 1);
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

  /// Cuts the network into its segments before any of them is compiled. If one cannot be cut out, returns the nodes
  /// that fall back because of that.
  Result<Refusals> cutAll(const std::shared_ptr<const Plan>& plan, std::vector<Part>& parts) const {
    for (const Segment& segment : plan->segments) {
      TRY(checkStop(m_options.stop));
      auto part = segmentPart(plan, segment, m_extents, m_options.stop);
      if (part.ok()) {
        parts.push_back(std::move(part).value());
        continue;
      }
      if (part.error().cancelled) return std::move(part).error();
      Refusals tied = TRY(tiedByExtents(*plan, part.error()));
      if (tied.empty())
        tied = allNodes(*plan, {"the network cannot be cut into segments: " + part.error().text(), false});
      if (tied.empty()) return std::move(part).error();
      return tied;
    }
    return Refusals();
  }

  Result<CompiledPart> compile(const Segment& segment, const Part& part, bool isWhole) {
    const bool isOurs = segment.kind == SegmentKind::Fallback;
    CompiledPart made{.segment = segment.id, .isOurs = isOurs, .inputs = part.inputs};
    for (const ValueId output : part.plan->graph().outputs())
      made.outputs.push_back(part.plan->graph().value(output).name);
    const Compiler& compiler = isOurs ? ownCompiler() : m_compiler;
    const Key key{isOurs, namesOf(*part.plan)};
    if (const auto known = m_compiled.find(key); known != m_compiled.end()) {
      made.engine = known->second.engine;
      made.compiledAs = known->second.compiledAs;
      made.pins = known->second.pins;
      return made;
    }
    BuildOptions options = m_options;
    options.backend.clear();
    // A part that was cut out has the extents that it was cut at.
    options.shapes = isWhole ? m_extents : std::map<std::string, Dims>();
    const Lowered lowered = TRY(compiler.lower(part.plan, options));
    made.pins = lowered.pins;
    if (!isOurs && TRY(useEqual(lowered, options, made))) return m_compiled[key] = made;
    if (m_options.progress) m_options.progress("compile", segment.name);
    made.engine = TRY(compiler.compile(lowered, options));
    made.compiledAs = made.engine;
    return m_compiled[key] = made;
  }

  /// Returns whether an equal segment is compiled, whose answer `made` uses now. An answer that cannot be read for this
  /// segment is not used.
  Result<bool> useEqual(const Lowered& lowered, const BuildOptions& options, CompiledPart& made) const {
    for (const auto& [key, known] : m_compiled) {
      const auto* other = dynamic_cast<const ProbedEngine*>(known.engine.get());
      if (other == nullptr || known.engine != known.compiledAs) continue;
      auto engine = ProbedEngine::equalTo(*other, lowered, options);
      if (!engine.ok() && engine.error().cancelled) return std::move(engine).error();
      if (!engine.ok() || engine.value() == nullptr) continue;
      made.engine = std::move(engine).value();
      made.compiledAs = known.engine;
      return true;
    }
    return false;
  }

  /// Nodes that a recorded answer refuses cannot be compiled again without them; this needs another job.
  static Diagnostic packedOtherwise(Diagnostic error) {
    if (!error.where.node.empty())
      error.help = fmt::format("Pack the job again with --fallback '{}': then this node runs on our own engine.",
                               error.where.node);
    return error;
  }

  /// A node that neither the compiler accepts nor our own engine can run makes it impossible to use this compiler, but
  /// not to plan without a compiler.
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

  /// Returns whether the error is about the request and not about a part of the network: an impossible value of an
  /// option, or an answer that cannot be read.
  static bool isOfWhatWasAsked(const Diagnostic& error) {
    return error.where.node.empty() && !error.where.attribute.empty();
  }

  static std::set<std::string> namesOf(const Plan& plan) {
    std::set<std::string> names;
    for (const NodeId node : plan.graph().order()) names.insert(plan.graph().node(node).name);
    return names;
  }

  /// Makes a node fall back: the node that the error names, if it is in the segment, or one that a search finds;
  /// otherwise the whole segment.
  Status refuse(const std::shared_ptr<const Plan>& plan, const Segment& segment, const Diagnostic& error,
                Refusals& refused) {
    const Graph& graph = plan->graph();
    Diagnostic why = error;
    NodeId found = nodeOf(*plan, segment.nodes, error);
    if (!found.valid() && segment.nodes.size() > 1) {
      if (TRY(refusePredicted(plan, segment, refused))) return Done{};
      found = TRY(searched(plan, segment, why));
    }
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

  /// Makes the nodes fall back that the table of the target refuses, as the compiler does not when it is asked, and
  /// that do not compile alone either. One node of each operator and types is compiled, and the others share its
  /// result. Returns whether there is such a node.
  Result<bool> refusePredicted(const std::shared_ptr<const Plan>& plan, const Segment& segment, Refusals& refused) {
    std::map<std::string, std::string> whyOf;  // by operator and types; empty if it compiles
    bool isAny = false;
    for (const NodeId node : plan->structure->acceptedAgainstTable) {
      if (std::ranges::find(segment.nodes, node) == segment.nodes.end()) continue;
      const std::string form = formOf(*plan, node);
      if (!whyOf.contains(form)) {
        if (m_searches >= kMostPredicted) continue;
        const auto error = TRY(errorOf(plan, {node}));
        if (!error) continue;
        whyOf.emplace(form, error->message);
      }
      const std::string& why = whyOf.at(form);
      if (why.empty()) continue;
      refused.emplace(plan->graph().node(node).name, Refusal{why});
      isAny = true;
    }
    return isAny;
  }

  /// Searches the node because of which a segment cannot be compiled, if the error does not name it. Halves are
  /// compiled, then the halves of the first one that fails, down to a single node. The result is invalid if nothing
  /// smaller than the segment fails, if nothing compiles at all, or if too many builds would be needed. `why` becomes
  /// the error of the smallest part that fails.
  Result<NodeId> searched(const std::shared_ptr<const Plan>& plan, const Segment& segment, Diagnostic& why) {
    std::vector<NodeId> nodes = segment.nodes;
    bool isAnyGood = false;
    while (nodes.size() > 1) {
      const auto middle = nodes.begin() + static_cast<std::ptrdiff_t>(nodes.size() / 2);
      const std::vector<NodeId> halves[] = {{nodes.begin(), middle}, {middle, nodes.end()}};
      const std::vector<NodeId>* failed = nullptr;
      for (const std::vector<NodeId>& half : halves) {
        // The last half is compiled only to find out whether anything compiles.
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

  /// Returns why these nodes do not compile when they are cut out; an empty message if they do. Returns nullopt if they
  /// cannot be cut out.
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

  /// A tensor whose extents depend on data cannot be passed between segments. The node that calculates it, and all
  /// nodes after it up to known extents, run in one segment on our own engine. So do the nodes that the compiler would
  /// run between two of these, and those that it would have to run before the last of them. The result is empty if the
  /// error is not about such a tensor, or if the compiler runs none of these nodes.
  Result<Refusals> tiedByExtents(const Plan& plan, const Diagnostic& error) const {
    const Graph& graph = plan.graph();
    const auto first = graph.findValue(error.where.value);
    if (!first) return Refusals();
    const KernelRequests requests = TRY(KernelRequests::create(plan, m_extents, 1));
    std::set<NodeId> tied;
    std::vector<ValueId> open{*first};
    const NodeId producer = graph.value(*first).producer;
    if (producer.valid()) tied.insert(producer);
    while (!open.empty()) {
      const ValueId value = open.back();
      open.pop_back();
      for (const NodeId reader : graph.value(value).consumers) {
        if (!tied.insert(reader).second) continue;
        for (const ValueId output : graph.node(reader).outputs)
          if (output.valid() && !requests.types()[output.index].shape.fixed()) open.push_back(output);
      }
    }
    if (producer.valid()) addNeededMeanwhile(plan, producer, tied);
    Refusals refused =
        allNodes(plan, {fmt::format("the extents of '{}' depend on data, so the node that calculates it and "
                                    "the nodes after it run in one segment, on our own engine",
                                    error.where.value),
                        false});
    std::set<std::string> names;
    for (const NodeId node : tied) names.insert(graph.node(node).name);
    std::erase_if(refused, [&](const auto& node) { return !names.contains(node.first); });
    return refused;
  }

  /// Adds the nodes that those of `tied` need, directly or not, and that are in segments after the one of `first`:
  /// because of them, nodes of `tied` would be in different segments.
  static void addNeededMeanwhile(const Plan& plan, NodeId first, std::set<NodeId>& tied) {
    const Graph& graph = plan.graph();
    std::vector<SegmentId> segmentOf(graph.nodeIdLimit());
    for (const Segment& segment : plan.segments)
      for (const NodeId node : segment.nodes) segmentOf[node.index] = segment.id;
    for (auto node = graph.order().rbegin(); node != graph.order().rend(); ++node) {
      if (!tied.contains(*node)) continue;
      for (const ValueId value : valuesRead(graph.node(*node))) {
        const NodeId before = graph.value(value).producer;
        if (before.valid() && segmentOf[before.index].index > segmentOf[first.index].index) tied.insert(before);
      }
    }
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
                                .isAccepted = refusal.isAsked ? std::optional(false) : std::nullopt,
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
  std::map<Key, CompiledPart> m_compiled;  ///< parts that this round or an earlier one compiled
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

std::vector<Decision> equalSegments(const CompiledParts& made) {
  std::map<const Engine*, std::vector<std::string>> names;
  std::int64_t count = 0;
  for (const CompiledPart& part : made.parts) {
    if (part.isOurs) continue;
    ++count;
    names[part.compiledAs.get()].push_back(made.plan->segments[part.segment.index].name);
  }
  std::vector<Decision> decisions;
  for (const CompiledPart& part : made.parts) {
    const auto equal = names.find(part.isOurs ? nullptr : part.compiledAs.get());
    if (equal == names.end() || equal->second.size() < 2) continue;
    std::vector<Subject> subjects;
    for (const std::string& name : equal->second) subjects.push_back(Subject::segment(name));
    decisions.push_back(decide("partition.equal_segments", std::move(subjects), made.plan->options.compiler,
                               {{"equal", equal->second.size()},
                                {"of", count},
                                {"segments", equal->second},
                                {"compiler", made.plan->options.compiler}}));
    names.erase(equal);
  }
  return decisions;
}

}  // namespace fusescope
