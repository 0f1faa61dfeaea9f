#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/text.h"
#include "frontends/importers.h"
#include "interchange/export_steps.h"
#include "interchange/quantized_network.h"
#include "interchange/source_network.h"
#include "interchange/split_products.h"
#include "passes/pipelines.h"

namespace fusescope {
namespace {

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

/// For TensorRT, which does not multiply codes otherwise: writes `parts`, the network at `codes` with products that a
/// Split cuts as products of the parts. Gives how many products it has more; 0: nothing was written. A product stays
/// whole where a directive names it or a node between it and the Split. `options`: what is to be written in the end.
Result<std::ptrdiff_t> writeSplitProducts(const Plan& plan, const ExportOptions& options,
                                          const std::filesystem::path& codes, const std::filesystem::path& parts,
                                          std::vector<ExportNote>& notes) {
  const auto& directives = plan.options.directives;
  const auto mayGo = [&](std::span<const std::string> nodes) {
    return std::ranges::none_of(
        directives, [&](const Directive& each) { return std::ranges::find(nodes, each.pattern) != nodes.end(); });
  };
  const auto rankOf = [&](const std::string& name) {
    const auto value = plan.graph().findValue(name);
    return value ? plan.graph().value(*value).type.shape.rank() : std::size_t{0};
  };
  const auto made = TRY(splitProducts(TRY(onnxlib::readModel(codes)), {.mayGo = mayGo, .rankOf = rankOf}));
  if (made.added == 0) return 0;
  notes.push_back(
      {fmt::format("written as a product for each part that a Split behind them makes, since TensorRT would "
                   "dequantise the weights of the whole and multiply floats: {}",
                   joined(made.products))});
  const auto bytes = TRY(onnxlib::editNetwork(codes, made.edits, onnxlib::weightsNameOf(parts)));
  TRY(checkNotWrittenOver(options.path, plan, bytes));
  TRY(onnxlib::writeNetwork(parts, bytes));
  return made.added;
}

/// The network of `plan` as it is written before it has the other types of the plan.
struct WithCodes {
  std::shared_ptr<const TemporaryFolder> folder;
  std::filesystem::path path;
  std::ptrdiff_t added = 0;  ///< how many products it has more
  std::vector<ExportNote> notes;
};

/// Takes the place of `made` by products of the parts, where the target asks for them.
Status writeInParts(const Plan& plan, const ExportOptions& options, WithCodes& made) {
  if (plan.target.acceleratedBackend != "tensorrt") return Done{};
  const std::filesystem::path parts = *made.folder / "parts.onnx";
  made.added = TRY(writeSplitProducts(plan, options, made.path, parts, made.notes));
  if (made.added > 0) made.path = parts;
  return Done{};
}

/// `made` with the other types of the plan.
Result<Exported> writeTyped(const Plan& plan, const ExportOptions& options, const WithCodes& made) {
  auto model =
      std::make_shared<const Model>(TRY(prepareModel(TRY(importModel(made.path, {}, options.stop)), options.stop)));
  const auto withCodes = TRY(makePlan(std::move(model), withoutCodes(plan.options), nullptr, options.stop));
  Exported exported = TRY(writeTypes(*withCodes, plan, options));
  const auto planned = integerProducts(plan), read = integerProducts(*withCodes);
  const std::string counts =
      fmt::format("read again, {} kernels of the network calculate in integers, but {} of the plan", read, planned);
  if (!exported.doesNotHold && read < planned) exported.doesNotHold = Diagnostic{.message = counts};
  if (read > planned + made.added) exported.notes.insert(exported.notes.begin(), {counts});
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
  TRY(writeInParts(plan, options, made));
  return writeTyped(plan, options, made);
}

}  // namespace fusescope
