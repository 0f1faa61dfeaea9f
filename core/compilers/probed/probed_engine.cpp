#include "compilers/probed/probed_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_fields.h"
#include "compilers/probed/handed_names.h"
#include "compilers/probed/kept_decisions.h"
#include "compilers/probed/next_build.h"
#include "compilers/time_alone.h"
#include "engine/run_statistics.h"
#include "interchange/codes.h"
#include "interchange/npz.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// Limits of the number of profiled runs: as many as fit into the time, but not so many that the profiler's files
/// become large.
constexpr double kLeastProfiled = 3, kMostProfiled = 200;

void addRemark(const std::string& text, TimeReport& report) {
  report.remark = text + (report.remark.empty() ? "" : "; ") + report.remark;
}

/// Reads the times of runs that a probe reported. There must be at least one, and they must be finite and not negative.
Result<std::vector<double>> runTimes(const ProbeAnswer& answer) {
  std::vector<double> ms;
  JsonFields fields(answer.json);
  fields.require("ms").read("ms", ms);
  if (fields.error()) return *fields.error();
  const bool isTime =
      !ms.empty() && std::ranges::all_of(ms, [](double each) { return std::isfinite(each) && each >= 0; });
  if (isTime) return ms;
  return Diagnostic{.message = "the probe returned no times of runs"};
}

}  // namespace

ProbedEngine::ProbedEngine(const ProbedCompiler& compiler, const Lowered& lowered, TemporaryFolder folder,
                           const BuildOptions& options)
    : m_compiler(compiler),
      m_backend(compiler.name()),
      m_plan(lowered.plan),
      m_network(lowered.network),
      m_folder(std::move(folder)),
      m_threads(compiler.threads(options)),
      m_options(lowered.options),
      m_held(std::make_shared<CompiledNetwork>(compiler, lowered.network)) {
  m_inputs = handedInputs(*m_network);
  m_outputs = handedOutputs(*m_network);
}

Result<std::unique_ptr<ProbedEngine>> ProbedEngine::create(const ProbedCompiler& compiler, const Lowered& lowered,
                                                           const BuildOptions& options) {
  auto folder = TRY(TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope.runs"));
  return std::unique_ptr<ProbedEngine>(new ProbedEngine(compiler, lowered, std::move(folder), options));
}

Result<std::unique_ptr<ProbedEngine>> ProbedEngine::compile(const ProbedCompiler& compiler, const Lowered& lowered,
                                                            const BuildOptions& options) {
  auto engine = TRY(create(compiler, lowered, options));
  const auto inputs = TRY(engine->comparedOn(options));
  CompiledNetwork& held = *engine->m_held;
  held.request = engine->compileRequest();
  if (!inputs.empty()) held.request["values"] = true;
  held.compiled = TRY(engine->askedOrKept(held.request, options));
  engine->report(held.compiled);
  TRY(engine->read(inputs, options));
  if (!options.onlyMade) held.run();
  return engine;
}

Result<std::unique_ptr<ProbedEngine>> ProbedEngine::equalTo(const ProbedEngine& other, const Lowered& lowered,
                                                            const BuildOptions& options) {
  auto engine = TRY(create(other.m_compiler, lowered, options));
  const auto inputs = TRY(engine->comparedOn(options));
  Json request = engine->compileRequest();
  if (!inputs.empty()) request["values"] = true;
  const bool isSame = engine->m_threads == other.m_threads && other.m_held->answers(request, *lowered.network);
  if (!isSame) return std::unique_ptr<ProbedEngine>();
  engine->m_held = other.m_held;
  engine->m_asked = false;
  TRY(engine->read(inputs, options));
  engine->m_report.distinct = 0;
  return engine;
}

/// Reads what was made, expressed in the nodes of this network.
Status ProbedEngine::read(const std::map<std::string, Tensor>& inputs, const BuildOptions& options) {
  m_made = TRY(readBackPlan(m_plan, TRY(readBack(inputs, options))));
  m_report.regions = m_report.distinct = std::ssize(m_made->fusedNodes);
  if (options.onlyMade && threadsOfNextBuild() > 0) m_held->letGo();
  return Done{};
}

Json ProbedEngine::compileRequest() const {
  return {{"op", "compile"}, {"options", m_options}};
}

Result<ProbeAnswer> ProbedEngine::askedOrKept(const Json& request, const BuildOptions& options) {
  std::unique_ptr<KeptJob>& kept = m_held->kept;
  kept = TRY(m_compiler.takeKeptJob(m_plan->model->path, options.stop));
  if (kept == nullptr) return startProcess(request, options.stop, options.progress);
  const ProbeRequest asked{.json = request, .files = filesOf(*m_network)};
  auto compiled = options.onlyMade ? kept->ask(asked, options.stop, options.progress)
                                   : kept->askToHold(asked, options.stop, options.progress);
  if (compiled.ok()) return compiled;
  return located(std::move(compiled).error());
}

/// Ensures that a process exists that has compiled the network.
Result<ProbeAnswer> ProbedEngine::startProcess(const Json& request, const StopToken& stop, const Progress& progress) {
  std::unique_ptr<ProbeJob>& job = m_held->job;
  job = TRY(m_compiler.takeJob(stop));
  auto compiled = job->ask({.json = request, .files = filesOf(*m_network)}, stop, progress);
  if (compiled.ok()) return compiled;
  const bool isThere = job->isThere();
  if (isThere) m_compiler.giveBack(std::move(job));
  job.reset();
  return located(std::move(compiled).error());
}

/// Kept answers say nothing about times. To be timed, the network is compiled in a process.
Status ProbedEngine::ensureProcess(const StopToken& stop) {
  m_held->run();
  if (m_held->job == nullptr || !m_held->job->isThere()) TRY(startProcess(compileRequest(), stop));
  return Done{};
}

/// Returns `error` located at the node of the plan at which the compiler failed, if it is known.
Diagnostic ProbedEngine::located(Diagnostic error) const {
  if (error.cancelled) return error;
  const NodeId node = m_compiler.kind().failedAt(*m_network, error);
  error.message = inNamesOfNetwork(*m_network, error.message);
  error.where.node = m_plan->graph().has(node) ? m_plan->graph().node(node).name : std::string();
  return error;
}

void ProbedEngine::report(const ProbeAnswer& compiled) {
  JsonFields fields(compiled.json);
  fields.parseList("phases", m_report.compilerPhases, [](const Json& json) {
    CompilerPhase phase;
    JsonFields of(json);
    of.read("name", phase.name).readNumber("ms", phase.ms);
    return of.result(std::move(phase));
  });
  fields.read("peak_bytes", m_report.compilerPeakBytes);
  if (fields.error()) m_report.compilerPhases.clear();  // it is text of another program
}

/// Returns the inputs, by their names in the handed file, on which bindings are verified by comparing numbers. It is
/// empty if nothing is compared, for example because recorded answers contain no such numbers.
Result<std::map<std::string, Tensor>> ProbedEngine::comparedOn(const BuildOptions& options) const {
  std::map<std::string, Tensor> inputs;
  if (options.verifyOn.empty() || TRY(m_compiler.recorded())) return inputs;
  for (const auto& [plan, file] : m_inputs)
    if (const auto given = options.verifyOn.find(plan); given != options.verifyOn.end())
      inputs.emplace(file, given->second);
  if (inputs.size() != m_inputs.size()) inputs.clear();
  return inputs;
}

Result<ReadBack> ProbedEngine::readBack(const std::map<std::string, Tensor>& inputs, const BuildOptions& options) {
  const ProbedKind& kind = m_compiler.kind();
  const bool compares = !inputs.empty();
  if (options.progress) options.progress(compares ? "verify" : "read back", m_backend);
  const ProbeAnswer& compiled = m_held->compiled;
  ReadBack readBack =
      compares ? TRY(kind.readBackCompared(*m_network, compiled, {inputs, m_held->answering(), options.stop}))
               : TRY(kind.readBack(*m_network, compiled));
  if (m_asked && m_held->kept != nullptr)
    m_report.decisions = keptDecisions(*m_held->kept, kind.title(), m_plan->options.compiler);
  append(readBack.decisions, m_report.decisions);
  for (const ValueId input : m_network->leftOut) {
    const Value& value = m_plan->graph().value(input);
    readBack.decisions.push_back(decide("build.input_left_out", {Subject::value(value.name)}, m_plan->options.compiler,
                                        {{"compiler", kind.title()}, {"type", toText(value.type.dtype)}}));
  }
  auto identity = m_compiler.identity();
  identity.options = readBack.compiler.options;
  for (const auto& [name, value] : m_plan->options.compilerOptions) identity.options.insert_or_assign(name, value);
  readBack.compiler = std::move(identity);
  return readBack;
}

Result<std::filesystem::path> ProbedEngine::writeInputs(const std::map<std::string, Tensor>& inputs) const {
  std::filesystem::path path = m_folder / "inputs.npz";
  TRY(writeHandedInputs(m_inputs, inputs, path));
  return path;
}

/// Returns the outputs by their names in the plan. Numbers of types that numpy does not have arrive as codes.
Result<std::map<std::string, Tensor>> ProbedEngine::namedInPlan(std::map<std::string, Tensor> arrays) const {
  std::map<std::string, Tensor> outputs;
  for (const auto& [plan, name] : m_outputs) {
    const auto given = arrays.find(name);
    if (given == arrays.end())
      return Diagnostic{.message = "the compiler did not return this output", .where = {.value = plan}};
    const DataType type = m_plan->graph().value(*m_plan->graph().findValue(plan)).type.dtype;
    outputs.emplace(plan, isStoredAsCodes(type) && given->second.type() == DataType::U8 ? fromCodes(given->second, type)
                                                                                        : std::move(given->second));
  }
  return outputs;
}

/// Reads the outputs and removes their file, because a network may run often before its process ends.
Result<std::map<std::string, Tensor>> ProbedEngine::readOutputs(const ProbeAnswer& answer) const {
  const auto file = answer.files.find("outputs.npz");
  if (file == answer.files.end()) return Diagnostic{.message = "the probe returned no outputs"};
  NpzArrays arrays = TRY(readNpz(file->second));
  std::error_code ignored;
  std::filesystem::remove(file->second, ignored);
  return namedInPlan(std::move(arrays));
}

/// On this machine, tensors are passed in memory if both processes can map the same memory.
Result<RunResult> ProbedEngine::runInMemory(const std::map<std::string, Tensor>& inputs, const StopToken& stop) {
  const Json shared = TRY(m_shared.put(TRY(inputsInFile(m_inputs, inputs))));
  const ProbeAnswer answer = TRY(m_held->job->ask({.json = {{"op", "run"}, {"tensors", shared}}, .files = {}}, stop));
  const auto list = answer.json.find("tensors");
  if (list == answer.json.end()) return Diagnostic{.message = "the probe returned no outputs"};
  return RunResult{.outputs = TRY(namedInPlan(TRY(m_shared.taken(*list)))), .marked = {}};
}

Result<RunResult> ProbedEngine::run(const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& mark,
                                    const StopToken& stop) {
  if (!mark.empty())
    return Diagnostic{.message = m_compiler.whyNot(Ability::InnerValues), .where = {.value = mark.front()}};
  TRY(ensureProcess(stop));
  const bool inMemory = m_isShared && m_held->job->isLocal() && std::ranges::all_of(inputs, [](const auto& input) {
                          return SharedTensors::takes(input.second);
                        });
  if (inMemory) {
    auto ran = runInMemory(inputs, stop);
    if (ran.ok() || ran.error().cancelled || !m_held->job->isThere()) return ran;
  }
  // If the run fails with files as well, the error is about the run. If it succeeds with files, files are used from now
  // on.
  const auto path = TRY(writeInputs(inputs));
  const ProbeAnswer answer = TRY(m_held->job->ask({.json = {{"op", "run"}}, .files = {{"inputs.npz", path}}}, stop));
  m_isShared = m_isShared && !inMemory;
  return RunResult{.outputs = TRY(readOutputs(answer)), .marked = {}};
}

Result<TimeReport> ProbedEngine::time(const std::map<std::string, Tensor>& inputs, const TimeOptions& options) {
  TRY(ensureProcess(options.stop));
  const auto path = TRY(writeInputs(inputs));
  OthersAtRest others(m_held->job.get());
  const ProbeAnswer answer = TRY(m_held->job->ask(
      {.json = {{"op", "time"}, {"seconds", options.seconds}, {"warmup_seconds", options.warmupSeconds}},
       .files = {{"inputs.npz", path}}},
      options.stop, options.progress));
  TimeReport report{.threads = m_threads, .made = m_made};
  summarise(report, TRY(runTimes(answer)));
  if (options.perLayer && m_compiler.whyNot(Ability::Profile).empty())
    report.layers = TRY(profile(path, options, report));
  if (const auto remark = answer.json.find("remark"); remark != answer.json.end() && remark->is_string())
    addRemark(remark->get<std::string>(), report);
  noteOthers(others.end(), report);
  if (const auto recorded = TRY(m_compiler.recorded())) addRemark(recorded->inWords(), report);
  return report;
}

/// Profiles for half as long as the whole network is timed.
Result<std::vector<StepTime>> ProbedEngine::profile(const std::filesystem::path& inputs, const TimeOptions& options,
                                                    TimeReport& report) {
  const ProbedKind& kind = m_compiler.kind();
  const double fitting = options.seconds * 500 / std::max(*report.medianMs, 1e-3);
  const auto runs = static_cast<std::int64_t>(std::clamp(fitting, kLeastProfiled, kMostProfiled));
  const ProbeAnswer answer =
      TRY(m_held->job->ask({.json = {{"op", "profile"}, {"runs", runs}}, .files = {{"inputs.npz", inputs}}},
                           options.stop, options.progress));
  const std::map<std::string, double> times = TRY(kind.kernelTimes(*m_network, answer));
  TimeReport meanwhile;
  summarise(meanwhile, TRY(runTimes(answer)));
  report.remark = fmt::format(
      "times of kernels are {}, as {} reports them while it profiles; profiling itself takes time: a run took {:.3g} "
      "ms with it and {:.3g} ms without it",
      kind.kernelTimesAre(m_plan->options.compilerOptions), kind.title(), *meanwhile.medianMs, *report.medianMs);
  std::vector<StepTime> layers;
  const std::string device = m_compiler.device(m_plan->options.compilerOptions);
  for (const FusedNode& kernel : m_made->fusedNodes) {
    StepTime layer{.name = kernel.name, .fused = kernel.id, .tactic = std::string(kind.name()), .device = device};
    if (const auto ms = times.find(kernel.name); ms != times.end()) layer.medianMs = ms->second;
    layers.push_back(std::move(layer));
  }
  return layers;
}

Result<MarkedValues> ProbedEngine::markedValues(std::span<const std::map<std::string, Tensor>> samples,
                                                std::int64_t mostBuilds, const BuildOptions& options) const {
  if (const auto recorded = m_compiler.recorded(); !recorded.ok() || recorded.value()) return MarkedValues{};
  return fusescope::markedValues({m_compiler, *m_network, m_options, m_inputs, *m_made}, samples, mostBuilds, options);
}

Status ProbedEngine::save(const std::filesystem::path& path) const {
  return Diagnostic{.message = "the engine of a part of a network cannot be kept separately",
                    .where = {.file = path.string()}};
}

Result<std::unique_ptr<Engine>> ProbedCompiler::compile(const Lowered& lowered, const BuildOptions& options) const {
  return std::unique_ptr<Engine>(TRY(ProbedEngine::compile(*this, lowered, options)));
}

}  // namespace fusescope
