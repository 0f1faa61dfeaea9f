#include <fmt/format.h>

#include <algorithm>

#include "calibration/products.h"
#include "frontends/importers.h"
#include "interchange/export_steps.h"
#include "interchange/quantized_network.h"
#include "interchange/source_network.h"
#include "onnxlib/edited_network.h"
#include "passes/pipelines.h"

namespace fusescope {
namespace {

/// Counts the kernels that multiply integers, those in bodies too. Kernels that only move codes do not count: they are
/// the same work whether a view stands before a QuantizeLinear or behind it.
std::ptrdiff_t integerProducts(const Plan& plan) {
  auto count = std::ranges::count_if(plan.fusedNodes, [&](const FusedNode& fused) {
    return fused.compute == DataType::I8 &&
           std::ranges::any_of(fused.nodes, [&](NodeId id) { return multiplies(plan.graph().node(id)); });
  });
  for (const CoverBody& body : plan.bodies) count += integerProducts(plannedBody(body));
  return count;
}

/// The network of `plan` as it is written before it has the other types of the plan.
struct WithCodes {
  std::shared_ptr<const TemporaryFolder> folder;
  std::filesystem::path path;
  std::vector<ExportNote> notes;
};

/// `made` with the other types of the plan.
Result<Exported> writeTyped(const Plan& plan, const ExportOptions& options, const WithCodes& made) {
  auto model =
      std::make_shared<const Model>(TRY(prepareModel(TRY(importModel(made.path, {}, options.stop)), options.stop)));
  const auto withCodes = TRY(makePlan(std::move(model), withoutCodes(plan.options), nullptr, options.stop));
  Exported exported = TRY(writeTypes(*withCodes, plan, options));
  const auto planned = integerProducts(plan), read = integerProducts(*withCodes);
  const std::string counts = fmt::format(
      "when the network is read again, {} of its kernels multiply integers, but {} of the plan's kernels do", read,
      planned);
  if (!exported.failedCheck && read < planned) exported.failedCheck = Diagnostic{.message = counts};
  if (read > planned) exported.notes.insert(exported.notes.begin(), {counts});
  exported.notes.insert(exported.notes.begin(), made.notes.begin(), made.notes.end());
  // Weights are views of the network with the codes: it stays until all is written.
  exported.save = [folder = made.folder, save = std::move(exported.save)](const std::filesystem::path& to) {
    return save(to);
  };
  return exported;
}

}  // namespace

Result<Exported> writeQuantized(const Plan& plan, const ExportOptions& options) {
  TRY(checkPath(options));
  const std::filesystem::path source = TRY(sourceNetwork(plan, options.stop));
  WithCodes made;
  const auto file = TRY(onnxlib::readModel(source));
  auto edits = TRY(quantizedNetwork(plan, file, made.notes, options.stop));
  made.folder = std::make_shared<const TemporaryFolder>(TRY(folderBeside(options.path, "codes")));
  made.path = *made.folder / "codes.onnx";
  const auto codes = TRY(onnxlib::editNetwork(source, edits, onnxlib::weightsNameOf(made.path)));
  TRY(checkNotWrittenOver(options.path, plan, codes));
  TRY(onnxlib::writeNetwork(made.path, codes));
  return writeTyped(plan, options, made);
}

}  // namespace fusescope
