#include "compilers/segmented_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/threads.h"
#include "base/name_hints.h"
#include "base/text.h"
#include "compilers/probed/probed_compiler.h"
#include "compilers/time_alone.h"
#include "engine/engine_file.h"
#include "engine/kernels/input_check.h"
#include "engine/run_steps.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// Returns the value of the network that has the name of this value of a part.
ValueId valueIn(const Graph& network, const Graph& part, ValueId value) {
  if (!value.valid()) return value;
  return network.findValue(part.value(value).name).value_or(ValueId());
}

KernelValue valueOfNetwork(const Graph& network, const Graph& part, KernelValue value) {
  value.value = valueIn(network, part, value.value);
  return value;
}

/// Describes a kernel of our own engine in a part that fell back.
ReadBackKernel ourKernelOf(const Plan& plan, const FusedNode& fused, const Graph& network) {
  const Graph& part = plan.graph();
  ReadBackKernel readBack{.name = fused.name, .kind = fused.kind, .compute = fused.compute, .isOurs = true};
  for (const NodeId node : fused.nodes)
    if (const auto of = network.findNode(part.node(node).name)) readBack.nodes.emplace_back(*of, Certainty::Named);
  for (std::size_t i = 0; i < fused.inputs.size(); ++i)
    readBack.inputs.push_back({.value = valueIn(network, part, fused.inputs[i]), .type = fused.reads[i], .format = {}});
  for (const FusedOutput& output : fused.outputs)
    readBack.outputs.push_back({.value = valueIn(network, part, output.value), .type = output.type, .format = {}});
  return readBack;
}

/// Returns the number of threads; if answers are recorded, that of the job.
int threadsOf(const Compiler& compiler, const BuildOptions& options) {
  if (const auto recorded = recordedJobOf(compiler)) return recorded->threads;
  return options.threads > 0 ? options.threads : hardwareThreads();
}

/// Returns whether a decision says what a compiler did with a directive. This is decided again for the whole network.
bool isAboutDirective(const Decision& decision) {
  constexpr std::string_view kKinds[] = {"build.pin_", "build.split_", "build.no_fuse_", "build.output_type_",
                                         "build.body_pin_"};
  return std::ranges::any_of(kKinds, [&](std::string_view kind) { return decision.code.starts_with(kind); });
}

/// Adds the compiler's own decisions, which follow those of the part's plan; their indexes would be wrong here. A
/// decision about the whole part is about `segment`, unless that is empty.
void addDecisions(const ReadBackPlan& made, const std::string& segment, std::vector<Decision>& decisions) {
  for (std::size_t i = made.requested->decisions.size(); i < made.decisions.size(); ++i) {
    if (isAboutDirective(made.decisions[i])) continue;
    decisions.push_back(made.decisions[i]);
    decisions.back().evidence.clear();
    if (decisions.back().subjects.empty() && !segment.empty())
      decisions.back().subjects.push_back(Subject::segment(segment));
  }
}

/// Describes a kernel that another compiler made of a part.
ReadBackKernel kernelOf(const ReadBackPlan& made, const FusedNode& fused, const Graph& network) {
  const Graph& part = made.graph();
  const ReadBackPlan::Kernel& kernel = made.kernels[fused.id.index];
  ReadBackKernel readBack{.name = fused.name,
                          .kind = fused.kind,
                          .compute = fused.compute,
                          .region = kernel.region,
                          .once = kernel.once,
                          .converts = kernel.converts,
                          .ms = kernel.ms,
                          .optimiser = kernel.optimiser};
  for (std::size_t i = 0; i < fused.nodes.size(); ++i)
    if (const auto node = network.findNode(part.node(fused.nodes[i]).name))
      readBack.nodes.emplace_back(*node, kernel.certainty[i]);
  for (const KernelValue& input : kernel.inputs) readBack.inputs.push_back(valueOfNetwork(network, part, input));
  for (const KernelValue& output : kernel.outputs) readBack.outputs.push_back(valueOfNetwork(network, part, output));
  return readBack;
}

}  // namespace

SegmentedEngine::SegmentedEngine(const Compiler& compiler, const BuildOptions& options)
    : m_compiler(compiler), m_options(options), m_backend(compiler.name()), m_threads(threadsOf(compiler, options)) {
  m_options.threads = m_threads;
  m_options.shapeCache = std::max(1, options.shapeCache);
  m_report.shapeCache.size = m_report.dynamicKernels.size = m_options.shapeCache;
}

Result<std::unique_ptr<SegmentedEngine>> SegmentedEngine::build(const Compiler& compiler,
                                                                std::shared_ptr<const Plan> plan,
                                                                const BuildOptions& options) {
  std::unique_ptr<SegmentedEngine> engine(new SegmentedEngine(compiler, options));
  TRY(engine->prepare(std::move(plan)));
  // The object to which the build reported its progress may no longer exist when the engine runs.
  engine->m_options.progress = {};
  engine->m_options.stop = {};
  engine->m_options.verifyOn.clear();
  return engine;
}

Status SegmentedEngine::prepare(std::shared_ptr<const Plan> plan) {
  m_extents = TRY(buildExtents(*plan, m_options.shapes));
  m_made = TRY(compileParts(m_compiler, std::move(plan), m_extents, m_options));
  TRY(readBack());
  sumReports();
  return Done{};
}

/// Makes the read-back plan with the ids of the network, because parts keep the names of nodes and values.
Status SegmentedEngine::readBack() {
  ReadBack readBack{.compiler = m_compiler.identity()};
  for (const CompiledPart& part : m_made.parts) addMade(part, readBack);
  append(readBack.decisions, equalSegments(m_made));
  m_readBack = TRY(readBackPlan(m_made.plan, readBack));
  return Done{};
}

void SegmentedEngine::addMade(const CompiledPart& part, ReadBack& readBack) const {
  const Graph& network = m_made.plan->graph();
  const Graph& here = part.engine->plan().graph();
  for (const LoweredPin& pin : part.isOurs ? std::vector<LoweredPin>() : part.pins)
    if (const auto node = network.findNode(here.node(pin.node).name); node && !pin.isExpressible)
      readBack.pins.push_back({.node = *node, .asked = pin.type, .result = PinResult::Ignored, .why = pin.how});
  const std::shared_ptr<const Cover> cover = part.engine->made();
  if (part.isOurs)
    for (const FusedNode& fused : part.engine->plan().fusedNodes)
      readBack.kernels.push_back(ourKernelOf(part.engine->plan(), fused, network));
  const ReadBackPlan* made = cover != nullptr ? asReadBack(*cover) : nullptr;
  if (made == nullptr) return;
  for (const FusedNode& fused : made->fusedNodes)
    if (!made->kernels[fused.id.index].isOurs) readBack.kernels.push_back(kernelOf(*made, fused, network));
  for (const NodeId id : here.order())
    if (const auto node = network.findNode(here.node(id).name)) readBack.fates.emplace(*node, made->fateOf(id));
  for (ReadBackConversion conversion : made->conversions) {
    conversion.value = valueIn(network, here, conversion.value);
    readBack.conversions.push_back(std::move(conversion));
  }
  for (const auto& [id, hindrance] : made->hindrances)
    if (const auto node = network.findNode(here.node(id).name)) readBack.hindrances.emplace(*node, hindrance);
  readBack.compiler.options = made->compiler.options;
  // If the compiler received several segments, a sentence about one of them must say which one.
  const bool areSeveral = std::ranges::count(m_made.parts, false, &CompiledPart::isOurs) > 1;
  addDecisions(*made, areSeveral ? m_made.plan->segments[part.segment.index].name : std::string(), readBack.decisions);
}

void SegmentedEngine::sumReports() {
  for (const ReadBackPlan::Kernel& kernel : m_readBack->kernels) m_report.regions += kernel.isOurs ? 0 : 1;
  for (const CompiledPart& part : m_made.parts) {
    const BuildReport& of = part.engine->report();
    if (part.isOurs) m_report.regions += of.regions;
    m_report.distinct += of.distinct;
    m_report.takenOver += of.takenOver;
    m_report.compiled += of.compiled;
    m_report.measured += of.measured;
    m_report.arenaBytes += of.arenaBytes;
    if (of.weightBytes) m_report.weightBytes = m_report.weightBytes.value_or(0) + *of.weightBytes;
    m_report.liveBytes += of.liveBytes;
    m_report.compilerPhases.insert(m_report.compilerPhases.end(), of.compilerPhases.begin(), of.compilerPhases.end());
    m_report.compilerPeakBytes = std::max(m_report.compilerPeakBytes, of.compilerPeakBytes);
    m_report.tactics.insert(m_report.tactics.end(), of.tactics.begin(), of.tactics.end());
    m_report.decisions.insert(m_report.decisions.end(), of.decisions.begin(), of.decisions.end());
  }
  append(m_report.decisions, equalSegments(m_made));
  ++m_report.shapeCache.misses;
}

Result<SegmentedEngine*> SegmentedEngine::engineFor(const std::map<std::string, Dims>& extents, const StopToken& stop) {
  if (extents == m_extents) {
    ++m_report.shapeCache.hits;
    return this;
  }
  const auto known = std::ranges::find(m_others, extents, &Other::extents);
  if (known != m_others.end()) {
    ++m_report.shapeCache.hits;
    m_others.splice(m_others.begin(), m_others, known);
    return m_others.front().engine.get();
  }
  ++m_report.shapeCache.misses;
  BuildOptions options = m_options;
  options.shapes = extents;
  options.stop = stop;
  auto engine = TRY(build(m_compiler, m_made.plan, options));
  m_others.push_front({extents, std::move(engine)});
  if (m_others.size() >= static_cast<std::size_t>(m_options.shapeCache) && m_others.size() > 1) m_others.pop_back();
  return m_others.front().engine.get();
}

Result<RunResult> SegmentedEngine::run(const std::map<std::string, Tensor>& inputs,
                                       const std::vector<std::string>& mark, const StopToken& stop) {
  auto extents = TRY(checkInputs(*m_made.plan, inputs));
  SegmentedEngine* engine = TRY(engineFor(extents, stop));
  TRY(engine->checkMarks(mark));
  return engine->runParts(inputs, mark, stop);
}

/// Returns the names of the values that parts write to memory.
std::vector<std::string> SegmentedEngine::handedOver() const {
  std::vector<std::string> names;
  for (const CompiledPart& part : m_made.parts) names.insert(names.end(), part.outputs.begin(), part.outputs.end());
  return names;
}

/// Errors: a value does not exist, or it exists only inside what the compiler made.
Status SegmentedEngine::checkMarks(const std::vector<std::string>& mark) const {
  const Graph& graph = m_made.plan->graph();
  for (const std::string& wanted : mark) {
    if (wanted == "all") continue;
    const auto value = graph.findValue(wanted);
    if (!value)
      return Diagnostic{
          .message = "the plan has no value of this name, so it cannot be marked",
          .where = {.value = wanted},
          .help = nearestInWords(wanted, handedOver(),
                                 "--mark all keeps every value that one part of the network passes to another.")};
    const auto has = [&](const CompiledPart& part) {
      const bool able = part.isOurs || m_compiler.whyNot(Ability::InnerValues).empty();
      return std::ranges::find(part.outputs, wanted) != part.outputs.end() ||
             (able && part.engine->plan().graph().findValue(wanted).has_value());
    };
    if (graph.isInput(*value) || graph.isConstant(*value) || std::ranges::any_of(m_made.parts, has)) continue;
    return Diagnostic{.message = fmt::format("cannot be kept, because it is inside a part that {} compiled: {}",
                                             m_compiler.name(), m_compiler.whyNot(Ability::InnerValues)),
                      .where = {.value = wanted}};
  }
  return Done{};
}

std::vector<std::string> SegmentedEngine::marksOf(const CompiledPart& part,
                                                  const std::vector<std::string>& mark) const {
  if (!part.isOurs && !m_compiler.whyNot(Ability::InnerValues).empty()) return {};
  std::vector<std::string> marks;
  for (const std::string& wanted : mark)
    if (wanted == "all" || part.engine->plan().graph().findValue(wanted)) marks.push_back(wanted);
  return marks;
}

Result<RunResult> SegmentedEngine::runParts(const std::map<std::string, Tensor>& inputs,
                                            const std::vector<std::string>& mark, const StopToken& stop) {
  const Graph& graph = m_made.plan->graph();
  RunResult result;
  std::map<std::string, Tensor> values = inputs;
  for (const CompiledPart& part : m_made.parts) {
    std::map<std::string, Tensor> read;
    for (const std::string& input : part.inputs) read.emplace(input, values.at(input));
    RunResult made = TRY(part.engine->run(read, marksOf(part, mark), stop));
    for (auto& [name, tensor] : made.outputs) values.insert_or_assign(name, std::move(tensor));
    result.marked.merge(made.marked);
  }
  const bool all = std::ranges::find(mark, "all") != mark.end();
  for (const auto& [name, tensor] : values) {
    const auto value = graph.findValue(name);
    const bool isInner = value && !graph.isOutput(*value) && !graph.isInput(*value);
    if ((all && isInner) || std::ranges::find(mark, name) != mark.end()) result.marked.emplace(name, tensor);
  }
  for (const ValueId output : graph.outputs()) {
    const Value& value = graph.value(output);
    result.outputs.emplace(value.name, value.constant != nullptr ? *value.constant : values.at(value.name));
  }
  return result;
}

Result<TimeReport> SegmentedEngine::time(const std::map<std::string, Tensor>& inputs, const TimeOptions& options) {
  if (options.steps) return timeSteps(*this, inputs, options);
  auto extents = TRY(checkInputs(*m_made.plan, inputs));
  return TRY(engineFor(extents, options.stop))->timeParts(inputs, options);
}

/// If there are several segments, each gets its share of the seconds.
Result<TimeReport> SegmentedEngine::timeParts(const std::map<std::string, Tensor>& inputs, const TimeOptions& options) {
  TimeReport report{.threads = m_threads, .made = m_readBack};
  const auto count = static_cast<double>(m_made.parts.size());
  TimeOptions ofPart = options;
  ofPart.seconds /= count;
  ofPart.warmupSeconds /= count;
  std::map<std::string, Tensor> values = inputs;
  bool isFirst = true;
  for (const CompiledPart& part : m_made.parts) {
    std::map<std::string, Tensor> read;
    for (const std::string& input : part.inputs) read.emplace(input, values.at(input));
    TimeReport of = TRY(timeAlone(*part.engine, read, ofPart));
    if (m_made.parts.size() > 1)
      for (auto& [name, tensor] : TRY(part.engine->run(read, {}, options.stop)).outputs)
        values.insert_or_assign(name, tensor);
    report.layers.push_back(layerOf(part, of));
    if (report.unavailableReason.empty()) report.unavailableReason = of.unavailableReason;
    report.quiet = report.quiet && of.quiet;
    report.samples = isFirst ? of.samples : std::min(report.samples, of.samples);
    report.medianMs = isFirst || !report.medianMs || !of.medianMs ? of.medianMs : *report.medianMs + *of.medianMs;
    report.minMs = isFirst || !report.minMs || !of.minMs ? of.minMs : *report.minMs + *of.minMs;
    report.p95Ms = of.p95Ms;
    report.p99Ms = of.p99Ms;
    if (report.remark.empty()) report.remark = of.remark;
    isFirst = false;
  }
  if (!report.unavailableReason.empty()) report.medianMs = report.minMs = std::nullopt;
  if (m_made.parts.size() > 1) {
    report.p95Ms = report.p99Ms = std::nullopt;
    report.remark = "the sum of the times of all segments, without the time that passing tensors between them takes" +
                    std::string(report.remark.empty() ? "" : "; ") + report.remark;
  }
  if (!options.perLayer) report.layers.clear();
  if (report.medianMs && *report.medianMs > 0) report.throughput = 1000.0 / *report.medianMs;
  return report;
}

/// Returns the kernel with this name in the segment; parts may have kernels with equal names, such as those that
/// prepare weights.
FusedNodeId SegmentedEngine::kernelNamed(const std::string& name, SegmentId segment) const {
  FusedNodeId ofNone;
  for (const FusedNode& fused : m_readBack->fusedNodes) {
    if (fused.name != name) continue;
    if (fused.segment == segment) return fused.id;
    if (!fused.segment.valid()) ofNone = fused.id;
  }
  return ofNone;
}

/// Describes a segment with the times that its compiler reports for its kernels, or with those of our own kernels.
StepTime SegmentedEngine::layerOf(const CompiledPart& part, const TimeReport& report) const {
  const std::string& segment = m_made.plan->segments[part.segment.index].name;
  StepTime layer{
      .name = segment, .fused = {}, .tactic = part.isOurs ? kOwnCompiler : m_backend, .medianMs = report.medianMs};
  for (StepTime kernel : report.layers) {
    kernel.fused = kernelNamed(kernel.name, part.segment);
    kernel.bodies.clear();  // the bodies belong to another plan
    layer.kernels.push_back(std::move(kernel));
  }
  return layer;
}

const Engine* SegmentedEngine::onlyPart() const {
  return m_made.parts.size() == 1 && !m_made.parts.front().isOurs ? m_made.parts.front().engine.get() : nullptr;
}

Status SegmentedEngine::save(const std::filesystem::path& path) const {
  TRY(checkAble(m_compiler, Ability::Keep, "keep an engine"));
  return writeEngineFile(path, {.path = {},
                                .plan = m_made.plan,
                                .made = m_readBack,
                                .backend = m_backend,
                                .fingerprint = m_compiler.identity().version,
                                .extents = m_extents});
}

}  // namespace fusescope
