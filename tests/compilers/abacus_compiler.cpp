// Abacus: a compiler that is added by its folder and one line of the list. All that it knows is in a process of its own
// for each network (abacus_process.cpp), which it is handed as an engine file.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/json_fields.h"
#include "base/temporary_folder.h"
#include "compilers/compiler.h"
#include "engine/engine_file.h"
#include "engine/kernels/input_check.h"
#include "interchange/npz.h"
#include "ir/graph.h"
#include "tests/compilers/abacus_child.h"

namespace fusescope {
namespace abacus {
namespace {

constexpr const char* kName = "abacus";
constexpr const char* kInnerValues = "abacus hands out what a network gives, and nothing inside it.";

CompilerIdentity abacusIdentity() {
  return {.name = kName, .version = "1.0", .environment = ABACUS_PROCESS};
}

/// Reads what the process says that it made of a network.
class ToldReader {
 public:
  explicit ToldReader(const Graph& graph) : m_graph(graph) {}

  Result<ReadBack> read(const Json& answer) const {
    ReadBack told{.compiler = abacusIdentity()};
    std::map<std::string, std::string> views;
    JsonFields fields(answer);
    fields.require("kernels").parseList("kernels", told.kernels, [&](const Json& json) { return kernel(json); });
    fields.parseList("conversions", told.conversions, [&](const Json& json) { return conversion(json); });
    fields.read("fates", views).read("options", told.compiler.options);
    for (const auto& [node, fate] : views)
      told.fates.emplace(TRY(find(node)), fate == name(Fate::View) ? Fate::View : Fate::NotDisclosed);
    return fields.result(std::move(told));
  }

 private:
  Result<NodeId> find(const std::string& node) const {
    if (const auto found = m_graph.findNode(node)) return *found;
    return Diagnostic{.message = "abacus speaks of a node that the network has not", .where = {.attribute = node}};
  }

  Result<ReadBackKernel> kernel(const Json& json) const {
    ReadBackKernel kernel;
    std::string compute;
    JsonFields fields(json);
    fields.require("name").read("name", kernel.name).read("kind", kernel.kind).read("region", kernel.region);
    fields.read("once", kernel.once).read("compute", compute);
    fields.parseList("nodes", kernel.nodes, [&](const Json& held) { return heldNode(held); });
    fields.parseList("reads", kernel.inputs, [&](const Json& value) { return kernelValue(value); });
    fields.parseList("writes", kernel.outputs, [&](const Json& value) { return kernelValue(value); });
    kernel.compute = dataTypeFromName(compute).value_or(DataType::Undefined);
    return fields.result(std::move(kernel));
  }

  Result<std::pair<NodeId, Certainty>> heldNode(const Json& json) const {
    static const std::vector<std::string_view> kCertainties = {"verified", "named", "derived", "guessed"};
    std::string node;
    Certainty certainty = Certainty::Guessed;
    JsonFields fields(json);
    fields.require("node").read("node", node).readName("certainty", kCertainties, certainty);
    return fields.result(std::pair(TRY(find(node)), certainty));
  }

  Result<KernelValue> kernelValue(const Json& json) const {
    std::string value, type;
    KernelValue told;
    JsonFields fields(json);
    fields.require("value").read("value", value).read("type", type).read("format", told.format);
    told.value = m_graph.findValue(value).value_or(ValueId());
    told.type = dataTypeFromName(type).value_or(DataType::Undefined);
    return fields.result(told);
  }

  Result<ReadBackConversion> conversion(const Json& json) const {
    std::string value;
    ReadBackConversion told;
    JsonFields fields(json);
    fields.require("value").read("value", value).read("from", told.from).read("to", told.to);
    fields.read("cast", told.isCast).read("kernel", told.kernel);
    told.value = m_graph.findValue(value).value_or(ValueId());
    return fields.result(told);
  }

  const Graph& m_graph;
};

/// A network, and the process that runs it. The process is started again where it was killed or died.
class AbacusEngine final : public Engine {
 public:
  static Result<std::unique_ptr<AbacusEngine>> compile(std::shared_ptr<const Plan> plan, const BuildOptions& options) {
    std::unique_ptr<AbacusEngine> engine(new AbacusEngine(std::move(plan), options));
    TRY(engine->prepare(options));
    return engine;
  }

  const Plan& plan() const override { return *m_made->requested; }
  std::shared_ptr<const Cover> made() const override { return m_made; }
  const BuildReport& report() const override { return m_report; }
  const std::string& backend() const override { return m_backend; }
  int threads() const override { return m_threads; }

  Result<RunResult> run(const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& mark,
                        const StopToken& stop) override {
    if (!mark.empty()) return Diagnostic{.message = kInnerValues, .where = {.value = mark.front()}};
    TRY(ensureProcess(stop));
    const std::string in = *m_folder / "run.npz", out = *m_folder / "outputs.npz";
    TRY(writeNpz(in, inputs));
    TRY(ask({{"op", "run"}, {"inputs", in}, {"outputs", out}}, "while it ran", stop));
    return RunResult{.outputs = TRY(readNpz(out)), .marked = {}};
  }

  Result<TimeReport> time(const std::map<std::string, Tensor>& inputs, const TimeOptions& options) override {
    TRY(ensureProcess(options.stop));
    const std::string in = *m_folder / "time.npz";
    TRY(writeNpz(in, inputs));
    const Json answer = TRY(ask({{"op", "time"},
                                 {"inputs", in},
                                 {"seconds", options.seconds},
                                 {"warmup", options.warmupSeconds},
                                 {"per_layer", options.perLayer}},
                                "while it was timed", options.stop));
    TimeReport report{.threads = m_threads, .made = m_made};
    std::map<std::string, double> kernels;
    JsonFields fields(answer);
    fields.readNumber("median_ms", report.medianMs).readNumber("min_ms", report.minMs);
    fields.readNumber("p95_ms", report.p95Ms).readNumber("p99_ms", report.p99Ms).read("samples", report.samples);
    fields.read("quiet", report.quiet).read("unavailable", report.unavailableReason).read("kernels", kernels);
    for (const FusedNode& kernel : m_made->fusedNodes) {
      if (!options.perLayer) break;
      StepTime layer{.name = kernel.name, .fused = kernel.id, .tactic = kName, .device = "cpu"};
      if (const auto ms = kernels.find(kernel.name); ms != kernels.end()) layer.medianMs = ms->second;
      report.layers.push_back(std::move(layer));
    }
    if (report.medianMs && *report.medianMs > 0) report.throughput = 1000 / *report.medianMs;
    return fields.result(std::move(report));
  }

  Status save(const std::filesystem::path& path) const override {
    return Diagnostic{.message = "the engine of a part of a network cannot be kept separately",
                      .where = {.file = path.string()}};
  }

 private:
  AbacusEngine(std::shared_ptr<const Plan> plan, const BuildOptions& options)
      : m_plan(std::move(plan)), m_threads(std::max(1, options.threads)) {}

  Status prepare(const BuildOptions& options) {
    m_extents = TRY(buildExtents(*m_plan, options.shapes));
    m_made = TRY(readBackPlan(m_plan, TRY(ToldReader(m_plan->graph()).read(TRY(wake(options.stop))))));
    m_report.regions = m_report.distinct = std::ssize(m_made->fusedNodes);
    return Done{};
  }

  /// A process that has compiled the network, and what it says of that.
  Result<Json> wake(const StopToken& stop) {
    m_folder.emplace(TRY(TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope.abacus")));
    const std::string network = *m_folder / "network.fse";
    TRY(writeEngineFile(network, {.path = {},
                                  .plan = m_plan,
                                  .made = nullptr,
                                  .backend = "reference",
                                  .fusescopeVersion = {},
                                  .fingerprint = {},
                                  .extents = m_extents}));
    m_child.emplace(TRY(Child::start(ABACUS_PROCESS, m_folder->path().string())));
    return ask({{"op", "compile"}, {"network", network}, {"threads", m_threads}, {"extents", m_extents}},
               "while it compiled", stop);
  }

  Status ensureProcess(const StopToken& stop) {
    if (!m_child->isThere()) TRY(wake(stop));
    return Done{};
  }

  /// The files go with the process: a worker that is killed later could not remove them.
  Result<Json> ask(const Json& question, std::string_view during, const StopToken& stop) {
    auto answer = m_child->ask(question, during, stop);
    if (!m_child->isThere()) m_folder.reset();
    return answer;
  }

  std::shared_ptr<const Plan> m_plan;
  std::string m_backend = kName;
  int m_threads;
  std::optional<TemporaryFolder> m_folder;  ///< of all files that pass between the processes, while one is there
  std::map<std::string, Dims> m_extents;
  std::optional<Child> m_child;
  std::shared_ptr<const ReadBackPlan> m_made;
  BuildReport m_report;
};

bool isBf16(DataType type) {
  return type == DataType::BF16;
}

class AbacusCompiler final : public Compiler {
 public:
  std::string_view name() const override { return kName; }
  CompilerIdentity identity() const override { return abacusIdentity(); }
  std::string target() const override { return "cpu"; }
  std::string whyNot(Ability ability) const override { return ability == Ability::InnerValues ? kInnerValues : ""; }
  bool takesWholeNetworks() const override { return false; }

  Result<CompilerSupport> support(const Plan& plan, const BuildOptions& options) const override {
    Json nodes = Json::array();
    for (const NodeId id : plan.graph().order()) {
      const Node& node = plan.graph().node(id);
      nodes.push_back({{"name", node.name}, {"operator", node.op}});
    }
    Child child = TRY(Child::start(ABACUS_PROCESS));
    const Json answer = TRY(child.ask({{"op", "support"}, {"nodes", std::move(nodes)}},
                                      "while it was asked which nodes it takes", options.stop));
    return compilerSupportFromJson(answer.value("support", Json()), "support");
  }

  /// The plan, but for its bf16: what was to be calculated in that is calculated in f32.
  Result<Lowered> lower(std::shared_ptr<const Plan> plan, const BuildOptions&) const override {
    Lowered lowered{.plan = plan};
    for (const PrecisionGrant& grant : plan->precisionMap) {
      const bool isWide = !isBf16(grant.asked) && !isBf16(grant.granted);
      if (grant.asked == DataType::Undefined && isWide) continue;
      lowered.pins.push_back({.node = grant.node,
                              .type = isWide ? grant.asked : DataType::BF16,
                              .isExpressible = isWide,
                              .how = isWide ? "The plan that abacus is handed says so." : "abacus has no bf16"});
    }
    if (std::ranges::all_of(lowered.pins, &LoweredPin::isExpressible)) return lowered;
    PlanOptions options = plan->options;
    std::erase_if(options.precisions, isBf16);
    std::erase_if(options.directives, [](const Directive& directive) { return isBf16(directive.type); });
    lowered.plan = TRY(makePlan(unquantized(plan->model), options));
    return lowered;
  }

  Result<std::unique_ptr<Engine>> compile(const Lowered& lowered, const BuildOptions& options) const override {
    return std::unique_ptr<Engine>(TRY(AbacusEngine::compile(lowered.plan, options)));
  }
};

}  // namespace
}  // namespace abacus

const Compiler& abacusCompiler() {
  static const abacus::AbacusCompiler compiler;
  return compiler;
}

}  // namespace fusescope
