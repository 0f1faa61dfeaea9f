#include "engine/built_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "backends/threads.h"
#include "base/aligned_memory.h"
#include "base/name_hints.h"
#include "base/text.h"
#include "engine/engine_file.h"
#include "engine/kernels/input_check.h"
#include "engine/kernels/plan_backend.h"
#include "engine/latency.h"
#include "engine/run_steps.h"
#include "ops/no_kernel.h"
#include "ops/op_schema.h"

namespace fusescope {
namespace {

Diagnostic outOfMemory() {
  return {.message = "there is not enough memory for this network at these extents",
          .help = "Smaller extents (--input, --max) need less memory."};
}

/// Returns an error if the plan lacks anything that a build needs.
Status checkBuildable(const Plan& plan) {
  if (plan.target.planningOnly)
    return Diagnostic{
        .message = "target " + plan.target.name + " can be planned for and exported for, but not built here",
        .help = "Build for --target cpu."};
  if (const std::string& backend = plan.target.acceleratedBackend; findBackend(backend) == nullptr) {
    std::vector<std::string> names;
    for (const Backend* known : allBackends()) names.emplace_back(known->name());
    return Diagnostic{.message = "there is no backend '" + backend + "'",
                      .help = "The backends are " + joined(names) + "."};
  }
  const Graph& graph = plan.graph();
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const OpSchema* schema = OpRegistry::standard().find(node);
    if (schema == nullptr || !schema->kernel) {
      const NoKernel reason = whyNoKernel(node);
      return Diagnostic{
          .message = reason.why + ", so this network cannot run here",
          .where = {.file = plan.model->path, .node = node.name},
          .help = reason.help + (reason.help.empty() ? "" : " ") + "As it is, it can be looked at and planned."};
    }
  }
  for (const ValueId id : graph.allValues()) {
    const Value& value = graph.value(id);
    const bool used = !value.consumers.empty() || graph.isOutput(id);
    if (value.constant && used && !value.constant->hasData())
      return Diagnostic{.message = "has no data, because the model was saved without its weights",
                        .where = {.file = plan.model->path, .value = value.name},
                        .help = "The network can be opened and planned, but not built."};
  }
  for (const CoverBody& body : plan.bodies) {
    Status status = checkBuildable(plannedBody(body));
    if (status.ok()) continue;
    Diagnostic error = std::move(status).error();
    error.where.node = BodyPath().into(graph.node(body.holder), body.attribute).of(error.where.node);
    return error;
  }
  return Done{};
}

Status checkThreads(int threads) {
  if (threads <= kMostThreads) return Done{};
  return Diagnostic{
      .message = fmt::format("{} threads were asked for, but an engine has at most {}", threads, kMostThreads),
      .where = {.attribute = "--threads"},
      .help = fmt::format("This machine has {}; more threads than that do not make it faster.",
                          counted(hardwareThreads(), "logical processor"))};
}

}  // namespace

BuiltEngine::BuiltEngine(std::shared_ptr<const Plan> plan, const BuildOptions& options)
    : m_asked(std::move(plan)), m_plan(planRunBy(m_asked, options.backend)), m_options(options) {
  m_threads = options.threads > 0 ? options.threads : hardwareThreads();
  m_options.threads = m_threads;
  m_options.shapeCache = std::max(1, options.shapeCache);
  m_report.shapeCache.size = m_report.dynamicKernels.size = m_options.shapeCache;
}

Result<std::unique_ptr<BuiltEngine>> BuiltEngine::build(std::shared_ptr<const Plan> plan, const BuildOptions& options,
                                                        TacticsByIdentity replay, Measuring measuring) {
  TRY(checkThreads(options.threads));
  std::unique_ptr<BuiltEngine> engine(new BuiltEngine(std::move(plan), options));
  TRY(checkBuildable(*engine->m_plan));
  try {
    if (options.progress) options.progress("kernels", "");
    TRY(engine->prepare(std::move(replay), measuring));
    TRY(checkIntact(engine->m_plan->model->files));
  } catch (const std::bad_alloc&) {
    return outOfMemory();
  }
  // The object to which the build reported its progress may no longer exist when the engine runs.
  engine->m_options.progress = {};
  engine->m_options.stop = {};
  return engine;
}

Status BuiltEngine::prepare(TacticsByIdentity replay, Measuring measuring) {
  m_chooser = TRY(TacticChooser::create(*m_plan, m_options, m_report, std::move(replay)));
  if (measuring == Measuring::Briefly) m_chooser->measureBriefly();
  auto extents = TRY(buildExtents(*m_plan, m_options.shapes));
  m_extents = extents;
  if (BuiltEngine* exception = TRY(exceptionFor(extents, m_options.stop))) {
    const BuildReport& report = exception->report();
    m_report.arenaBytes = report.arenaBytes;
    m_report.weightBytes = report.weightBytes;
    m_report.liveBytes = report.liveBytes;
    return Done{};
  }
  const Executor* executor = &TRY(specialisation({std::move(extents), {}}, m_options.stop))->executor;
  m_chooser->noteMeasuring(m_extents);
  noteTimes(m_report.tactics);
  if (m_options.packsWeights) TRY(packWeights());
  std::vector<std::shared_ptr<const Kernel>> kernels;
  for (const Step& step : executor->program().steps)
    if (step.kernel != nullptr) kernels.push_back(step.kernel);
  m_chooser->endBuild(kernels);
  m_chooser->replayChoices();
  m_report.arenaBytes = static_cast<std::int64_t>(executor->program().arenaBytes());
  m_report.liveBytes = static_cast<std::int64_t>(liveBytes(executor->program()));
  return Done{};
}

/// Packs the weights of all programs that are prepared.
Status BuiltEngine::packWeights() {
  if (std::ranges::all_of(m_specialisations, &Specialisation::isPacked)) return Done{};
  const PackedSet all = weights();
  for (const auto& weight : all) TRY(weight->pack());
  for (Specialisation& made : m_specialisations) made.isPacked = true;
  m_report.weightBytes = bytesOf(all);
  return Done{};
}

PackedSet BuiltEngine::weights() const {
  PackedSet weights;
  for (const Specialisation& made : m_specialisations)
    for (const Step& step : made.program->steps) addWeights(step, weights);
  return weights;
}

std::shared_ptr<const MemoryTimeline> BuiltEngine::memory() const {
  const auto found =
      std::ranges::find_if(m_specialisations, [](const Specialisation& made) { return made.key.marks.empty(); });
  if (found != m_specialisations.end())
    return std::make_shared<MemoryTimeline>(memoryTimeline(*found->program, *m_plan));
  return m_exceptions.empty() ? nullptr : m_exceptions.front().engine->memory();
}

Result<std::set<ValueId>> BuiltEngine::resolveMarks(const std::vector<std::string>& mark) const {
  if (mark.empty()) return std::set<ValueId>();
  const Graph& graph = m_plan->graph();
  std::map<ValueId, const FusedNode*> inMemory, inside;
  for (const FusedNode& fused : m_plan->fusedNodes) {
    for (const InnerEdge& edge : fused.innerEdges) inside[edge.value] = &fused;
    for (const FusedOutput& output : fused.outputs) inMemory[output.value] = &fused;
  }
  std::set<ValueId> marks;
  for (const std::string& wanted : mark) {
    if (wanted == "all") {
      for (const auto& [value, fused] : inMemory)
        if (!graph.isOutput(value)) marks.insert(value);
      continue;
    }
    const auto id = graph.findValue(wanted);
    if (!id) {
      std::vector<std::string> names;
      for (const auto& [value, fused] : inMemory) names.push_back(graph.value(value).name);
      return Diagnostic{.message = "the plan has no value of this name, so it cannot be marked",
                        .where = {.value = wanted},
                        .help = nearestInWords(wanted, names, "--mark all keeps every value that is in memory.")};
    }
    if (inMemory.contains(*id) || graph.isInput(*id) || graph.isConstant(*id)) {
      marks.insert(*id);
      continue;
    }
    const auto fused = inside.find(*id);
    const std::string where = fused == inside.end() ? "a fused node" : "fused node '" + fused->second->name + "'";
    const std::string& producer = graph.node(graph.value(*id).producer).name;
    const bool isOfFile = unquantized(m_plan->model)->graph->findNode(producer).has_value();
    return Diagnostic{.message = "is not in memory under this plan: it is inside " + where,
                      .where = {.value = wanted},
                      .help = isOfFile ? "Use --split " + producer + " to see it." : ""};
  }
  return marks;
}

std::vector<Tensor> BuiltEngine::orderedInputs(const std::map<std::string, Tensor>& inputs) const {
  std::vector<Tensor> ordered;
  for (const ValueId id : m_plan->graph().inputs())
    ordered.push_back(inputs.at(m_plan->graph().value(id).name).aligned(kTensorAlignment));
  return ordered;
}

std::vector<Tensor> BuiltEngine::outputTensors(const Program& program) {
  std::vector<Tensor> tensors;
  for (const ProgramOutput& output : program.outputs) {
    const Buffer& buffer = program.buffers[output.buffer];
    const bool isWritten = buffer.place == Place::Output;
    tensors.push_back(isWritten ? m_outputMemory.unwritten(buffer.desc.dtype, buffer.desc.dims) : Tensor());
  }
  m_outputMemory.trim();
  return tensors;
}

Result<RunResult> BuiltEngine::run(const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& mark,
                                   const StopToken& stop) try {
  auto extents = TRY(checkInputs(*m_plan, inputs));
  if (BuiltEngine* exception = TRY(exceptionFor(extents, stop))) return exception->run(inputs, mark, stop);
  auto marks = TRY(resolveMarks(mark));
  Specialisation& made = *TRY(specialisation({std::move(extents), std::move(marks)}, stop));
  TRY(packWeights());
  Executor* const executor = &made.executor;
  const std::vector<Tensor> given = orderedInputs(inputs);
  std::vector<Tensor> outputs = outputTensors(executor->program());
  executor->bind(given, outputs);
  TRY(runOf(made).run(stop));
  TRY(checkIntact(m_plan->model->files));
  executor->takeBoxed(outputs);
  RunResult result;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ProgramOutput& output = executor->program().outputs[i];
    const std::string& name = m_plan->graph().value(output.value).name;
    if (!output.isMark) {
      result.outputs.emplace(name, outputs[i]);
      continue;
    }
    const bool lowered = isFloat(output.type) && output.type != DataType::F32 && output.type != DataType::F64 &&
                         outputs[i].container() == Container::None;
    result.marked.emplace(name, lowered ? outputs[i].converted(DataType::F32) : outputs[i]);
  }
  return result;
} catch (const std::bad_alloc&) {
  return outOfMemory();
}

Result<TimeReport> BuiltEngine::time(const std::map<std::string, Tensor>& inputs, const TimeOptions& options) try {
  if (options.steps) return timeSteps(*this, inputs, options);
  auto extents = TRY(checkInputs(*m_plan, inputs));
  if (BuiltEngine* exception = TRY(exceptionFor(extents, options.stop))) return exception->time(inputs, options);
  Specialisation& made = *TRY(specialisation({std::move(extents), {}}, options.stop));
  TRY(packWeights());
  Executor* const executor = &made.executor;
  const std::vector<Tensor> given = orderedInputs(inputs);
  std::vector<Tensor> outputs = outputTensors(executor->program());
  executor->bind(given, outputs);
  AdaptiveRun program = runOf(made);
  auto report = TRY(measureLatency(program, *this, m_bodyProfile, options));
  TRY(checkIntact(m_plan->model->files));
  return report;
} catch (const std::bad_alloc&) {
  return outOfMemory();
}

Status BuiltEngine::save(const std::filesystem::path& path) const {
  return writeEngineFile(path, {.plan = m_asked,
                                .backend = backend(),
                                .fingerprint = acceleratedBackendOf(*m_plan).fingerprint().text(),
                                .extents = m_extents,
                                .tactics = m_report.tactics});
}

Result<std::unique_ptr<Engine>> buildEngine(std::shared_ptr<const Plan> plan, const BuildOptions& options) {
  return std::unique_ptr<Engine>(TRY(BuiltEngine::build(std::move(plan), options, {})));
}

Result<std::unique_ptr<Engine>> loadEngine(const EngineFile& file, const BuildOptions& options) {
  if (options.progress) options.progress("load engine", file.path.string());
  BuildOptions effective = options;
  effective.backend = file.backend;
  if (effective.shapes.empty()) effective.shapes = file.extents;
  TacticsByIdentity replay;
  for (const TacticChoice& choice : file.tactics) replay[choice.identity] = {choice.chosen, choice.tactic};
  auto engine = TRY(BuiltEngine::build(file.plan, effective, std::move(replay)));
  engine->noteTimes(file.tactics);
  return std::unique_ptr<Engine>(std::move(engine));
}

Result<std::unique_ptr<Engine>> loadEngine(const std::filesystem::path& path, const BuildOptions& options) {
  return loadEngine(TRY(openEngineFile(path)), options);
}

}  // namespace fusescope
