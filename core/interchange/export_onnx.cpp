#include "interchange/export_onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "analysis/cost.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "frontends/importers.h"
#include "frontends/input_spec_metadata.h"
#include "interchange/export_notes.h"
#include "interchange/quantized_network.h"
#include "interchange/source_network.h"
#include "interchange/typed_network/network_check.h"
#include "interchange/typed_network/other_kernels.h"
#include "interchange/typed_network/typed_network.h"
#include "passes/pipelines.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

/// A folder beside the file to be written, for networks that are being checked.
Result<TemporaryFolder> folderBeside(const std::filesystem::path& path, std::string_view purpose) {
  return TemporaryFolder::in(path.parent_path(), fmt::format(".{}.{}", path.filename().string(), purpose));
}

/// The error that the network or its weights are to be written where `read` or `plan` was read from.
Status checkNotWrittenOver(const std::filesystem::path& path, const Plan& plan, const onnxlib::NetworkBytes& read) {
  for (const auto& written : {path, path.parent_path() / onnxlib::weightsNameOf(path)})
    for (const MappedFiles* files : {&read.files, &plan.model->files})
      TRY(onnxlib::checkNotWrittenOver(written, *files));
  return Done{};
}

class OnnxExport {
 public:
  OnnxExport(const Plan& plan, const ExportOptions& options)
      : m_plan(std::shared_ptr<void>(), &plan), m_options(options) {
    m_typing.weights = options.weights;
    m_typing.borders = options.borders;
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
      exported.doesNotHold = *other;
      return exported;
    }
    m_notes = pinsNotHonoured(*m_plan);
    exported.doesNotHold = m_options.samples.empty() ? std::nullopt : TRY(hold(folder));
    if (m_options.samples.empty()) noteHeldWider();
    if (const auto other = otherKernels(*m_plan, *m_reading)) m_notes.push_back(*other);
    m_notes.insert(m_notes.begin(), m_network.notes.begin(), m_network.notes.end());
    exported.notes = std::move(m_notes);
    exported.save = [bytes = std::move(m_bytes)](const std::filesystem::path& path) {
      return onnxlib::writeNetwork(path, bytes);
    };
    return exported;
  }

 private:
  Status checkSource() const {
    if (m_options.path.empty())
      return Diagnostic{.message = "a network is written to a file, not to standard output",
                        .where = {.attribute = "-o"},
                        .help = "Give its name with -o."};
    if (m_plan->structure == nullptr || m_plan->source != "planned")
      return Diagnostic{.message = "a plan that was read back from an engine says nothing of single nodes' types",
                        .help = "Export a plan of the model instead."};
    return Done{};
  }

  void addInputSpecs() {
    const bool open = std::ranges::any_of(m_file.graph.inputs, [](const onnxlib::FileValue& input) {
      return std::ranges::any_of(input.type.dims, [](const onnxlib::FileDim& dim) { return dim.size < 0; });
    });
    if (open) m_network.edits.metadata[kInputSpecsKey] = inputSpecsText(m_plan->inputSpecs);
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
    TRY(checkByOnnx(path));
    auto model =
        std::make_shared<const Model>(TRY(prepareModel(TRY(importModel(path, {}, m_options.stop)), m_options.stop)));
    m_reading = TRY(planOfExported(*m_plan, std::move(model), m_options.stop));
    return Done{};
  }

  /// What ONNX's checker does not say of the file itself, it must not say of what is made of it.
  Status checkByOnnx(const std::filesystem::path& path) const {
    const auto complaint = onnxlib::checkerComplaint(path);
    if (!complaint || onnxlib::checkerComplaint(m_source)) return Done{};
    return Diagnostic{.message = "ONNX's checker refuses the network with the plan's types: " + *complaint};
  }

  /// Nodes around edges that the plan holds wider are made wide until the numbers are right. What does not hold.
  Result<std::optional<Diagnostic>> hold(const TemporaryFolder& folder) {
    std::set<std::uint32_t> wide;
    NumbersCheck check = TRY(checkNumbers(m_plan, m_network, m_reading, m_options));
    m_leanEdges = m_network.heldWider;
    while (!check.ok) {
      const auto next = worthWidening(check, wide);
      if (next.empty()) return std::optional(notRight(check));
      wide.insert(next.begin(), next.end());
      check = TRY(checkWith(wide, folder));
    }
    constexpr std::size_t kMostTried = 16;  // each is a run of both networks on all samples
    if (wide.size() > 1 && wide.size() <= kMostTried) wide = TRY(withoutNeedless(wide, folder));
    if (wide.empty()) return std::optional<Diagnostic>();
    if (auto other = otherStoredType(*m_plan, m_network, *m_reading)) return other;
    noteWidened(wide);
    return std::optional<Diagnostic>();
  }

  /// Makes the network with these fused nodes wide, and checks its numbers.
  Result<NumbersCheck> checkWith(const std::set<std::uint32_t>& wide, const TemporaryFolder& folder) {
    m_typing.wide.clear();
    for (const HeldWider& edge : m_leanEdges)
      if (wide.contains(edge.fused.index)) m_typing.wide.insert(edge.between.begin(), edge.between.end());
    TRY(make(folder));
    return checkNumbers(m_plan, m_network, m_reading, m_options);
  }

  Result<std::set<std::uint32_t>> withoutNeedless(std::set<std::uint32_t> wide, const TemporaryFolder& folder) {
    for (const std::uint32_t fused : std::set(wide)) {
      std::set<std::uint32_t> fewer = wide;
      fewer.erase(fused);
      if (TRY(checkWith(fewer, folder)).ok) wide = std::move(fewer);
    }
    TRY(checkWith(wide, folder));
    return wide;
  }

  /// Fused nodes that hold something wider and leave what is wrong: the first to do so, else any, else all that are
  /// left.
  std::set<std::uint32_t> worthWidening(const NumbersCheck& check, const std::set<std::uint32_t>& done) {
    std::set<std::uint32_t> holding;
    for (const HeldWider& edge : m_leanEdges)
      if (!edge.harmless && !done.contains(edge.fused.index)) holding.insert(edge.fused.index);
    for (const std::set<std::uint32_t>* wrong : {&check.wrongFusedNodes, &check.allWrong}) {
      std::set<std::uint32_t> found;
      std::ranges::set_intersection(holding, *wrong, std::inserter(found, found.end()));
      if (!found.empty()) return found;
    }
    return holding;
  }

  Diagnostic notRight(const NumbersCheck& check) const {
    return {
        .message = fmt::format("with every value between two nodes stored, the network differs from the plan by "
                               "{:.3g} of the outputs' rms, with more Casts too; '{}' is the first value that does, "
                               "by {:.3g}",
                               check.worst, check.firstWrong.value_or("?"), check.firstWrongBy),
        .where = {.value = check.firstWrong.value_or(std::string())},
        .help = "Pin the nodes around it to f32, or allow more with --tol-rms."};
  }

  /// The edges that `chosen` says, kernel by kernel: "'c', 'm' of kernel 'conv + relu' (f32 there, f16 between nodes)".
  std::vector<std::string> edgesByKernel(const std::vector<HeldWider>& edges,
                                         const std::function<bool(const HeldWider&)>& chosen) const {
    std::map<std::tuple<FusedNodeId, DataType, DataType>, std::vector<std::string>> kernels;
    for (const HeldWider& edge : edges)
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
        edgesByKernel(m_leanEdges, [&](const HeldWider& edge) { return widened.contains(edge.fused.index); });
    const std::int64_t casts = static_cast<std::int64_t>(m_network.casts.size() - m_leanCasts.size());
    const std::int64_t bytes = bytesOf(m_network.casts) - bytesOf(m_leanCasts);
    m_notes.push_back(
        {fmt::format("stored at their types, the edges that the plan holds wider go wrong beyond the "
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

  void noteHeldWider() {
    const auto edges = edgesByKernel(m_network.heldWider, [](const HeldWider& edge) { return !edge.harmless; });
    for (const std::string& text : edges)
      m_notes.push_back({"held wider by the plan than the network stores it: " + text});
    if (!edges.empty())
      m_notes.push_back(
          {"what that does to the numbers was not checked; --inputs F checks it and adds Casts where it "
           "must"});
  }

  std::shared_ptr<const Plan> m_plan;  ///< the caller's
  const ExportOptions& m_options;
  TypedNetworkOptions m_typing;
  std::filesystem::path m_source;
  onnxlib::FileModel m_file;
  TypedNetwork m_network;
  onnxlib::NetworkBytes m_bytes;
  std::shared_ptr<const Plan> m_reading;
  std::vector<InsertedCast> m_leanCasts;  ///< before anything was made wide
  std::vector<HeldWider> m_leanEdges;
  std::vector<ExportNote> m_notes;
  int m_made = 0;  ///< networks, so far
};

/// `plan` for a network that has its codes already.
PlanOptions withoutCodes(PlanOptions options) {
  options.ranges.reset();
  options.weightOnly = {};
  std::erase(options.precisions, DataType::I8);
  std::erase_if(options.directives,
                [](const Directive& each) { return each.kind == DirectiveKind::Pin && each.type == DataType::I8; });
  return options;
}

/// Those in bodies too.
std::ptrdiff_t integerProducts(const Plan& plan) {
  auto count =
      std::ranges::count_if(plan.fusedNodes, [](const FusedNode& fused) { return fused.compute == DataType::I8; });
  for (const PlannedBody& body : plan.bodies) count += integerProducts(*body.plan);
  return count;
}

/// A quantised plan: first the network with its codes, then that with the other types of the plan.
Result<Exported> writeQuantized(const Plan& plan, const ExportOptions& options) {
  if (options.path.empty())
    return Diagnostic{.message = "a network is written to a file, not to standard output",
                      .where = {.attribute = "-o"},
                      .help = "Give its name with -o."};
  const std::filesystem::path source = TRY(sourceNetwork(plan, options.stop));
  std::vector<ExportNote> notes;
  const auto file = TRY(onnxlib::readModel(source));
  auto edits = TRY(quantizedNetwork(plan, file, notes, options.stop));
  const auto folder = std::make_shared<const TemporaryFolder>(TRY(folderBeside(options.path, "codes")));
  const std::filesystem::path path = *folder / "codes.onnx";
  const auto codes = TRY(onnxlib::editNetwork(source, edits, onnxlib::weightsNameOf(path)));
  TRY(checkNotWrittenOver(options.path, plan, codes));
  TRY(onnxlib::writeNetwork(path, codes));
  auto model = std::make_shared<const Model>(TRY(prepareModel(TRY(importModel(path, {}, options.stop)), options.stop)));
  const auto withCodes = TRY(makePlan(std::move(model), withoutCodes(plan.options), nullptr, options.stop));
  Exported exported = TRY(writeOnnx(*withCodes, options));
  if (integerProducts(*withCodes) != integerProducts(plan))
    exported.doesNotHold = Diagnostic{
        .message = fmt::format("read again, {} kernels of the network calculate in integers, but {} of the plan",
                               integerProducts(*withCodes), integerProducts(plan))};
  exported.notes.insert(exported.notes.begin(), notes.begin(), notes.end());
  // Weights are views of the network with the codes: it stays until all is written.
  exported.save = [folder, save = std::move(exported.save)](const std::filesystem::path& to) { return save(to); };
  return exported;
}

}  // namespace

Result<Exported> writeOnnx(const Plan& plan, const ExportOptions& options) {
  return plan.model->unquantized != nullptr ? writeQuantized(plan, options) : OnnxExport(plan, options).run();
}

}  // namespace fusescope
