
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "analysis/cost.h"
#include "base/name_hints.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "frontends/carried_inputs.h"
#include "frontends/exporter_ranges.h"
#include "frontends/importers.h"
#include "interchange/export_notes.h"
#include "interchange/export_row.h"
#include "interchange/export_steps.h"
#include "interchange/exports.h"
#include "interchange/source_network.h"
#include "interchange/typed_network/make_typed_network.h"
#include "interchange/typed_network/network_check.h"
#include "interchange/typed_network/numbers_check.h"
#include "interchange/typed_network/numbers_verdict.h"
#include "interchange/typed_network/other_kernels.h"
#include "onnxlib/edited_network.h"
#include "passes/pipelines.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

constexpr std::string_view kKept = "keep", kPlanned = "plan";

const ExporterOption kWeightsOption{
    .name = "weights",
    .title = "Weights are",
    .help = "Convert the weights, or keep them and insert a Cast after each.",
    .choices = {"convert", kKept},
    .choiceTitles = {"converted to the types in which they are used", "kept, with a Cast after each"}};
const ExporterOption kBordersOption{.name = "io",
                                    .title = "Inputs, outputs",
                                    .help = "Inputs and outputs keep the types of the file, or get those of the plan.",
                                    .choices = {"keep", kPlanned},
                                    .choiceTitles = {"keep the types of the file", "get those of the plan"}};

constexpr const char* kOnlyRuntime =
    "the network with the plan's types written into it, for ONNX Runtime and others whose codes have zero points";
constexpr const char* kNoRuntimeOnCpus =
    "the network with the plan's types written into it, for strongly typed TensorRT (10.12 on) and others that "
    "calculate in bf16; ONNX Runtime cannot do this on a CPU";
constexpr const char* kZeroPointsBesideBf16 =
    "the network with the plan's types written into it, for a runtime that calculates in bf16 and accepts codes with "
    "zero points; neither TensorRT's parser nor ONNX Runtime on a CPU does both";

/// Returns whether a node of the network or of its bodies calculates in bf16.
bool calculatesInBf16(const Plan& plan) {
  for (const NodeId id : plan.graph().order())
    if (!plan.structure->facts[id.index].moves && plan.calculates[id.index] == DataType::BF16) return true;
  return std::ranges::any_of(plan.bodies, [](const CoverBody& body) { return calculatesInBf16(plannedBody(body)); });
}

/// The first value whose codes TensorRT's parser does not take: with a zero point other than 0, or without a sign.
std::optional<std::string> firstZeroPoint(const Graph& graph) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.is("QuantizeLinear") && !node.is("DequantizeLinear")) continue;
    const Value& codes = graph.value(node.is("QuantizeLinear") ? node.outputs[0] : node.input(0));
    const Tensor* zero = node.input(2).valid() ? graph.constantData(node.input(2)) : nullptr;
    bool shifted = codes.type.dtype == DataType::U8;
    for (std::int64_t i = 0; zero != nullptr && !isFloat(zero->type()) && i < zero->count(); ++i)
      shifted = shifted || zero->asInt64(i) != 0;
    if (shifted) return graph.value(node.is("QuantizeLinear") ? node.input(0) : node.outputs[0]).name;
  }
  return std::nullopt;
}

ExportNote zeroPointNote(const std::string& value) {
  return {
      fmt::format("the codes of '{}', and perhaps of other values, have a zero point or are unsigned: ONNX Runtime "
                  "accepts them, but TensorRT's parser refuses them. For TensorRT, plan with --target tensorrt-11, "
                  "whose codes are symmetric, or calibrate with --symmetric",
                  value)};
}

/// The nodes that the plan's target cannot run, where that takes networks as a whole.
std::vector<std::string> nodesRefused(const Plan& plan) {
  std::vector<std::string> nodes;
  if (!plan.target.planningOnly) return nodes;
  for (const NodeId id : plan.structure->partition.unsupported) nodes.push_back(plan.graph().node(id).name);
  return nodes;
}

/// Returns whether the file says of its inputs what only a newer Fusescope reads: that is kept.
bool holdsNewerSpecs(const onnxlib::FileModel& file) {
  const auto text = file.metadata.find(kInputSpecsKey);
  const Result<CarriedInputs> specs =
      text == file.metadata.end() ? CarriedInputs() : carriedInputsFromText(text->second);
  return specs.ok() && specs.value().isNewer();
}

class OnnxExport {
 public:
  /// `judged`: the plan whose numbers are judged; `plan`: the same one, or that of its network with its codes written.
  OnnxExport(const Plan& plan, const Plan& judged, const ExportOptions& options)
      : m_plan(std::shared_ptr<void>(), &plan), m_judged(judged), m_options(options) {
    if (options.text(kWeightsOption.name) == kKept) m_typing.weights = WeightTypes::Keep;
    if (options.text(kBordersOption.name) == kPlanned) m_typing.borders = BorderTypes::Plan;
  }

  Result<Exported> run() {
    TRY(checkSource());
    m_source = TRY(sourceNetwork(*m_plan, m_options.stop));
    m_file = TRY(onnxlib::readModel(m_source));
    const TemporaryFolder folder = TRY(folderBeside(m_options.path, "checking"));
    TRY(make(folder));
    m_leanCasts = m_network.casts;
    Exported exported;
    if (const auto other = otherStoredType(*m_plan, m_network, *m_reading)) {
      exported.failedCheck = *other;
      return exported;
    }
    exported.edges = comparedStoredTypes(*m_plan, m_network, *m_reading);
    m_notes = pinsNotHonoured(*m_plan);
    if (m_options.samples.empty()) {
      noteWiderInnerEdges();
    } else {
      exported.failedCheck = TRY(hold(folder));
      exported.numbers = std::move(m_numbers);
    }
    if (const auto other = otherKernels(*m_plan, *m_reading)) m_notes.push_back(*other);
    const bool inBf16 = calculatesInBf16(*m_reading);
    if (inBf16) {
      m_notes.push_back(
          {"nodes calculate in bf16, for which ONNX Runtime's CPU provider has almost no kernels, so that it cannot "
           "load this network. For ONNX Runtime on a CPU, plan with --precision f16"});
      exported.summary = kNoRuntimeOnCpus;
    }
    if (const auto value = firstZeroPoint(m_reading->graph())) {
      m_notes.push_back(zeroPointNote(*value));
      exported.summary = inBf16 ? kZeroPointsBesideBf16 : kOnlyRuntime;
    }
    if (const std::vector<std::string> refused = nodesRefused(m_judged); !refused.empty()) {
      m_notes.push_back({fmt::format("{} cannot run these nodes, and it accepts a network only as a whole: {}",
                                     m_judged.target.name, listed(refused))});
      exported.summary =
          fmt::format("the network with the plan's types written into it, for {} that can run all of it; {} cannot",
                      inBf16 ? "compilers" : "ONNX Runtime and others", m_judged.target.name);
    }
    m_notes.insert(m_notes.begin(), m_network.notes.begin(), m_network.notes.end());
    exported.notes = std::move(m_notes);
    exported.save = [bytes = std::move(m_bytes)](const std::filesystem::path& path) {
      return onnxlib::writeNetwork(path, bytes);
    };
    return exported;
  }

 private:
  Status checkSource() const {
    TRY(checkPath(m_options));
    if (m_plan->structure == nullptr || m_plan->source != CoverSource::Planned)
      return Diagnostic{
          .message = "a plan that was read back from an engine does not contain the types of single nodes",
          .help = "Export a plan of the model instead."};
    return Done{};
  }

  void addInputSpecs() {
    const bool open = std::ranges::any_of(m_file.graph.inputs, [](const onnxlib::FileValue& input) {
      return std::ranges::any_of(input.type.dims, [](const onnxlib::FileDim& dim) { return dim.size < 0; });
    });
    if (!open || holdsNewerSpecs(m_file)) return;
    m_network.edits.metadata[kInputSpecsKey] = inputSpecsText(m_plan->inputSpecs);
    const auto ranges = m_file.graphMetadata.find(kExporterRangesKey);
    if (ranges == m_file.graphMetadata.end()) return;
    const std::string changed = exporterRangesWith(ranges->second, carriedInputsOf(*unquantized(m_plan->model)));
    if (!changed.empty()) m_network.edits.graphMetadata[kExporterRangesKey] = changed;
  }

  /// The network with what is to be wide, its bytes, and how we read it.
  Status make(const TemporaryFolder& folder) {
    m_network = TRY(typedNetwork(*m_plan, m_file, m_typing));
    addInputSpecs();
    const std::string weightsName = onnxlib::weightsNameOf(m_options.path);
    m_bytes = TRY(onnxlib::editNetwork(m_source, m_network.edits, weightsName));
    TRY(checkNotWrittenOver(m_options.path, *m_plan, m_bytes));
    const std::filesystem::path path = folder / fmt::format("{}.onnx", m_made++);
    // In the folder the weights have the name that the network knows them by.
    TRY(onnxlib::writeNetworkAs(path, path.parent_path() / weightsName, m_bytes));
    TRY(checkByOnnx(path, m_source));
    auto model =
        std::make_shared<const Model>(TRY(prepareModel(TRY(importModel(path, {}, m_options.stop)), m_options.stop)));
    m_reading = TRY(planOfExported(*m_plan, std::move(model), m_options.stop));
    return Done{};
  }

  /// 1. The plan itself must be near enough to float32 on the reference.
  /// 2. Nodes around edges that it holds wider are made wide until the network is, too, and agrees with the plan.
  /// 3. The network must be near enough as our engine runs it.
  /// What does not hold, if anything.
  Result<std::optional<Diagnostic>> hold(const TemporaryFolder& folder) {
    m_checker = TRY(NumbersChecker::create(m_judged, m_plan, m_options));
    const OutputDifference& planned = m_checker->planFromFloat32();
    const std::set<std::uint32_t> wide = TRY(widen(folder));
    const OutputDifference engine = TRY(m_checker->onEngine(*m_reading));
    m_numbers = {.samples = m_options.samples.size(),
                 .tolerance = m_options.tolerance,
                 .onReference = m_check.fromFloat32,
                 .onEngine = engine,
                 .fromPlan = m_check.fromPlan};
    if (!planned.ok) return tooFarFromFloat32(m_judged, planned, "reference", m_options);
    if (!m_check.fromFloat32.ok)
      return std::optional(storedTooFarFromFloat32(m_check.fromFloat32, m_check.firstWrong.value_or("?"),
                                                   m_check.firstWrongBy, m_options));
    if (!wide.empty()) {
      if (auto other = otherStoredType(*m_plan, m_network, *m_reading)) return other;
      noteWidened(wide);
    }
    if (!m_check.fromPlan.ok) noteApartFromPlan();
    if (!engine.ok) return tooFarFromFloat32(m_judged, engine, BuildOptions().backend, m_options);
    return std::optional<Diagnostic>();
  }

  /// The fused nodes that calculate in f32 so that the numbers are right, as few as can be; all, where that mends
  /// nothing. m_check is of the network that is left.
  Result<std::set<std::uint32_t>> widen(const TemporaryFolder& folder) {
    std::set<std::uint32_t> wide;
    m_check = TRY(m_checker->onReference(m_network, *m_reading));
    m_leanEdges = m_network.widerInnerEdges;
    while (m_checker->planFromFloat32().ok && !m_check.ok()) {  // what the plan gets wrong no wider node mends
      const auto next = worthWidening(m_check, wide);
      if (next.empty()) break;
      wide.insert(next.begin(), next.end());
      TRY(checkWith(wide, folder));
    }
    constexpr std::size_t kMostTried = 16;  // each is a run of the network on all samples
    const bool worthTrying = m_check.ok() ? wide.size() > 1 : !wide.empty();
    if (worthTrying && wide.size() <= kMostTried) wide = TRY(withoutNeedless(std::move(wide), folder));
    return wide;
  }

  /// Makes the network with these fused nodes wide, and checks its numbers.
  Status checkWith(const std::set<std::uint32_t>& wide, const TemporaryFolder& folder) {
    m_typing.wide.clear();
    for (const WiderInnerEdge& edge : m_leanEdges)
      if (wide.contains(edge.fused.index)) m_typing.wide.insert(edge.between.begin(), edge.between.end());
    TRY(make(folder));
    m_check = TRY(m_checker->onReference(m_network, *m_reading));
    return Done{};
  }

  /// Takes each out that changes nothing of whether the numbers hold.
  Result<std::set<std::uint32_t>> withoutNeedless(std::set<std::uint32_t> wide, const TemporaryFolder& folder) {
    const bool fromFloat32 = m_check.fromFloat32.ok, fromPlan = m_check.fromPlan.ok;
    for (const std::uint32_t fused : std::set(wide)) {
      std::set<std::uint32_t> fewer = wide;
      fewer.erase(fused);
      TRY(checkWith(fewer, folder));
      if (m_check.fromFloat32.ok >= fromFloat32 && m_check.fromPlan.ok >= fromPlan) wide = std::move(fewer);
    }
    TRY(checkWith(wide, folder));
    return wide;
  }

  /// Fused nodes that hold something wider and leave what is wrong: the first to do so, else any, else all that are
  /// left.
  std::set<std::uint32_t> worthWidening(const NumbersCheck& check, const std::set<std::uint32_t>& done) {
    std::set<std::uint32_t> holding;
    for (const WiderInnerEdge& edge : m_leanEdges)
      if (!edge.harmless && !done.contains(edge.fused.index)) holding.insert(edge.fused.index);
    for (const std::set<std::uint32_t>* wrong : {&check.wrongFusedNodes, &check.allWrong}) {
      std::set<std::uint32_t> found;
      std::ranges::set_intersection(holding, *wrong, std::inserter(found, found.end()));
      if (!found.empty()) return found;
    }
    return holding;
  }

  void noteApartFromPlan() {
    m_notes.push_back(
        {fmt::format("the network is near enough to float32, but it does not give the results of the plan: {} from the "
                     "plan, with every value between two nodes stored; '{}' is the first value that differs, by {:.3g}",
                     inWords(m_check.fromPlan), m_check.firstWrong.value_or("?"), m_check.firstWrongBy)});
  }

  /// The edges that `chosen` says, kernel by kernel: "'c', 'm' of kernel 'conv + relu' (f32 there, f16 between nodes)".
  std::vector<std::string> edgesByKernel(const std::vector<WiderInnerEdge>& edges,
                                         const std::function<bool(const WiderInnerEdge&)>& chosen) const {
    std::map<std::tuple<FusedNodeId, DataType, DataType>, std::vector<std::string>> kernels;
    for (const WiderInnerEdge& edge : edges)
      if (chosen(edge)) kernels[{edge.fused, edge.held, edge.stored}].push_back("'" + edge.value + "'");
    std::vector<std::string> texts;
    for (const auto& [kernel, values] : kernels) {
      const auto& [fused, held, stored] = kernel;
      texts.push_back(fmt::format("{} of kernel '{}' ({} there, {} between nodes)", joined(values),
                                  m_plan->fusedNodes[fused.index].name, name(held), name(stored)));
    }
    return texts;
  }

  void noteWidened(const std::set<std::uint32_t>& widened) {
    const auto edges =
        edgesByKernel(m_leanEdges, [&](const WiderInnerEdge& edge) { return widened.contains(edge.fused.index); });
    const std::int64_t casts = static_cast<std::int64_t>(m_network.casts.size() - m_leanCasts.size());
    const std::int64_t bytes = bytesOf(m_network.casts) - bytesOf(m_leanCasts);
    m_notes.push_back(
        {fmt::format("if the network stored the edges that the plan keeps in a wider type, the error would exceed the "
                     "tolerance; these stay wide, at {}: {}",
                     changeOfCasts(casts, bytes), joined(edges, "; "))});
  }

  /// What the Casts read and write at the inputs' usual extents.
  std::int64_t bytesOf(const std::vector<InsertedCast>& casts) const {
    std::int64_t bytes = 0;
    for (const InsertedCast& cast : casts)
      if (const auto id = m_plan->graph().findValue(cast.value))
        bytes += bytesOfConversion(*m_plan->structure->usual, *id, cast.from, cast.to).value_or(0);
    return bytes;
  }

  void noteWiderInnerEdges() {
    const auto edges =
        edgesByKernel(m_network.widerInnerEdges, [](const WiderInnerEdge& edge) { return !edge.harmless; });
    constexpr std::size_t kMostKernels = 5;
    for (std::size_t i = 0; i < std::min(edges.size(), kMostKernels); ++i)
      m_notes.push_back({"the plan keeps these edges in a wider type than the network stores: " + edges[i]});
    if (edges.size() > kMostKernels)
      m_notes.push_back(
          {"the same is true of " + counted(static_cast<std::int64_t>(edges.size() - kMostKernels), "more kernel")});
    if (!edges.empty())
      m_notes.push_back(
          {"the effect on the numbers was not checked; --inputs F checks it and adds Casts where they are needed"});
  }

  std::shared_ptr<const Plan> m_plan;  ///< the caller's
  const Plan& m_judged;
  const ExportOptions& m_options;
  TypedNetworkOptions m_typing;
  std::filesystem::path m_source;
  onnxlib::FileModel m_file;
  TypedNetwork m_network;
  onnxlib::NetworkBytes m_bytes;
  std::shared_ptr<const Plan> m_reading;
  std::vector<InsertedCast> m_leanCasts;  ///< before anything was made wide
  std::vector<WiderInnerEdge> m_leanEdges;
  std::vector<ExportNote> m_notes;
  std::unique_ptr<NumbersChecker> m_checker;
  NumbersCheck m_check;  ///< of m_network
  std::optional<CheckedNumbers> m_numbers;
  int m_made = 0;  ///< networks, so far
};

}  // namespace

Result<TemporaryFolder> folderBeside(const std::filesystem::path& path, std::string_view purpose) {
  return TemporaryFolder::in(path.parent_path(), fmt::format(".{}.{}", path.filename().string(), purpose));
}

Diagnostic located(Diagnostic error, const std::filesystem::path& folder, const std::filesystem::path& source) {
  if (error.where.file.starts_with(folder.string())) error.where.file = source.string();
  return error;
}

Status checkByOnnx(const std::filesystem::path& path, const std::filesystem::path& source) {
  const auto complaint = onnxlib::checkerComplaint(path);
  if (!complaint || onnxlib::checkerComplaint(source)) return Done{};
  return Diagnostic{.message = "ONNX's checker refuses the network that was made: " + *complaint};
}

Status checkPath(const ExportOptions& options) {
  if (!options.path.empty()) return Done{};
  return Diagnostic{.message = "a network is written to a file, not to standard output",
                    .where = {.attribute = "-o"},
                    .help = "Give its name with -o."};
}

Status checkNotWrittenOver(const std::filesystem::path& path, const Plan& plan, const onnxlib::NetworkBytes& read) {
  for (const auto& written : {path, path.parent_path() / onnxlib::weightsNameOf(path)})
    for (const MappedFiles* files : {&read.files, &plan.model->files})
      TRY(onnxlib::checkNotWrittenOver(written, *files));
  return Done{};
}

Result<Exported> writeTypes(const Plan& plan, const Plan& judged, const ExportOptions& options) {
  return OnnxExport(plan, judged, options).run();
}

namespace {

/// Writes the plan's network with the plan's types (typed_network/make_typed_network.h) and checks it: our own plan of
/// the result must store each value in the same type. If there are samples, its outputs must be within the tolerance
/// from float32, both on the reference with every value between two nodes stored and on our engine. Otherwise nodes
/// around edges that the plan keeps wider calculate in f32, and notes say so; if that does not help,
/// Exported::failedCheck is set. The difference from the plan is reported too.
Result<Exported> writeOnnx(const Plan& plan, const ExportOptions& options) {
  return plan.model->unquantized != nullptr ? writeQuantized(plan, options) : writeTypes(plan, plan, options);
}

}  // namespace

extern const ExportRow kOnnxRow{
    .readers =
        "TensorRT 10.12 on and 11, TensorRT for RTX, ONNX Runtime (not in bf16 on a CPU: its CPU provider has almost "
        "no kernels for bf16, and a warning says so), others",
    .contents = "the network itself, with Casts and QuantizeLinear",
    .exactness =
        "exact: it is read again and each stored value has the type of the plan; with `--inputs` its numbers are "
        "checked as well"};

extern const Exporter kOnnxExporter{
    .name = "onnx",
    .title = "Network with the plan's types",
    .extension = "onnx",
    .summary =
        "the network with the plan's types written into it, for strongly typed TensorRT (10.12 on), ONNX Runtime (in "
        "bf16 not on a CPU) and others",
    .write = writeOnnx,
    .isText = false,
    .takesSamples = true,
    .options = {&kWeightsOption, &kBordersOption}};

}  // namespace fusescope
