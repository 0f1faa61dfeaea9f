#include "frontends/onnx/onnx_importer.h"

#include <algorithm>
#include <future>
#include <iterator>

#include "cache/process_store.h"
#include "frontends/onnx/content_hash.h"
#include "frontends/onnx/file_findings.h"
#include "frontends/onnx/functions.h"
#include "frontends/onnx/graph_builder.h"
#include "frontends/onnx/input_specs.h"
#include "frontends/onnx/network_findings.h"
#include "frontends/onnx/plain_forms.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {
namespace {

Status checkOpset(const onnxlib::FileModel& file, ImportContext& context) {
  const auto found = file.opsets.find("");
  if (found == file.opsets.end()) {
    const auto& nodes = file.graph.nodes;
    const bool needed = std::ranges::any_of(nodes, [](const auto& node) { return node.domain.empty(); });
    if (needed) return Diagnostic{.message = "does not say which opset of ai.onnx it uses"};
    return Done{};
  }
  const std::int64_t newest = onnxlib::newestOpset();
  if (found->second > newest)
    context.decisions.push_back(
        decide("import.newer_opset", {}, "import", {{"opset", found->second}, {"known", newest}}));
  return Done{};
}

/// Returns whether an operator anywhere in the file has a plain form.
bool usesPlainForms(const onnxlib::FileGraph& graph);

bool usesPlainForms(const onnxlib::FileNode& node) {
  if (hasPlainForm(node)) return true;
  return std::ranges::any_of(node.attributes, [](const onnxlib::FileAttribute& attribute) {
    const auto* body = std::get_if<std::shared_ptr<const onnxlib::FileGraph>>(&attribute.value);
    return body != nullptr && usesPlainForms(**body);
  });
}

bool usesPlainForms(const onnxlib::FileGraph& graph) {
  return std::ranges::any_of(graph.nodes, [](const onnxlib::FileNode& node) { return usesPlainForms(node); });
}

bool usesPlainForms(const onnxlib::FileModel& file) {
  return usesPlainForms(file.graph) || std::ranges::any_of(file.functions, [](const onnxlib::FileFunction& function) {
           return std::ranges::any_of(function.nodes, [](const onnxlib::FileNode& n) { return usesPlainForms(n); });
         });
}

/// Records the nodes of the file of which only constants are left.
void recordConstantNodes(ImportContext& context) {
  for (std::size_t i = 0; i < context.origins.size(); ++i)
    if (context.originNodes[i] == 0)
      context.decisions.push_back(
          decide("normalise.constant_node", {Subject::node(context.origins[i].name)}, "import"));
}

Result<Model> buildModel(const onnxlib::FileModel& file, ImportContext& context) {
  TRY(checkOpset(file, context));
  // The file is checked while the graph is built. The findings are recorded before those of the builder.
  auto findings = std::async(std::launch::async, [&file] {
    std::vector<Decision> found;
    recordFindings(file, found);
    return found;
  });
  const std::size_t begin = context.decisions.size();
  for (const onnxlib::FileFunction& function : file.functions)
    context.functions.emplace(functionKey(function.domain, function.name, function.overload), &function);
  context.recordsTypes = usesPlainForms(file);
  Model model;
  model.graph = TRY(GraphBuilder(context).build(file.graph, file.opsets));
  std::vector<Decision> found = findings.get();
  context.decisions.insert(context.decisions.begin() + static_cast<std::ptrdiff_t>(begin),
                           std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  auto hash = std::async(std::launch::async, [&graph = *model.graph] { return contentHash(graph); });
  recordConstantNodes(context);
  recordNetworkFindings(*model.graph, context.decisions, file.files, storeOfProcess());
  model.format = "onnx";
  model.producer = file.producer;
  for (const auto& [domain, version] : file.opsets) model.opset[domain.empty() ? "ai.onnx" : domain] = version;
  model.fileNodes = static_cast<std::int64_t>(file.graph.nodes.size());
  model.parameters = context.parameters;
  model.weightBytes = context.weightBytes;
  model.weightless = context.weightless;
  model.inputSpecs = specsOf(*model.graph, file.metadata, file.graphMetadata, context.decisions);
  model.origins = std::move(context.origins);
  model.decisions = std::move(context.decisions);
  model.contentHash = hash.get();
  model.files = file.files;
  return model;
}

}  // namespace

Result<Model> importOnnx(const std::filesystem::path& path, const ImportLimits& limits, const StopToken& stop,
                         NodeForm nodes) {
  const onnxlib::ReadLimits readLimits{
      .nodes = limits.nodes, .tensorBytes = limits.tensorBytes, .subgraphDepth = limits.subgraphDepth};
  const onnxlib::FileModel file = TRY(onnxlib::readModel(path, readLimits));
  ImportContext context{.file = file, .limits = limits, .stop = stop, .nodes = nodes};
  auto model = buildModel(file, context);
  TRY(checkIntact(file.files));  // weights were read in the file itself
  if (!model.ok()) {
    Diagnostic error = model.error();
    error.where.file = path.string();
    return error;
  }
  Model imported = std::move(model).value();
  imported.path = path.string();
  return imported;
}

}  // namespace fusescope
