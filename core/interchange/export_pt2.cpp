
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/json.h"
#include "base/name_hints.h"
#include "base/text.h"
#include "frontends/torch/program_casts.h"
#include "frontends/torch/pt2_file.h"
#include "frontends/torch/pt2_writer.h"
#include "interchange/export_row.h"
#include "interchange/exports.h"
#include "interchange/lowered_nodes.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr std::string_view kFormat = "--to pt2";

Status checkIsProgram(const Plan& plan) {
  if (plan.model->path.ends_with(".pt2") && !plan.model->network.empty()) return Done{};
  if (plan.model->path.ends_with(".pt2"))
    return Diagnostic{
        .message = "the plan was made for the program's own graph, whose operators have no types below float32 here",
        .where = {.file = plan.model->path},
        .help = "Make it runnable first: fusescope import " + plan.model->path};
  return Diagnostic{
      .message = fmt::format("{} writes casts into an exported program (.pt2), and this file is not one", kFormat),
      .where = {.file = plan.model->path},
      .help = "Use --to onnx, or export a plan of the .pt2."};
}

/// The names of the network's outputs, JSON.
std::string outputNamesOf(const Graph& graph) {
  Json names = Json::array();
  for (const ValueId output : graph.outputs()) names.push_back(graph.value(output).name);
  return names.dump();
}

/// Nodes of the program, and what the plan does with what torch made of each.
struct ProgramNodes {
  std::set<std::string> narrow;
  std::vector<std::string> divided;  ///< of which the plan lowers a part
  std::vector<std::string> untied;   ///< nodes of the network that the plan lowers, and no node of the program has
};

ProgramNodes programNodesOf(const LoweredNodes& nodes) {
  ProgramNodes programNodes;
  std::set<std::string> wide;
  for (const LoweredNode& node : nodes.wide)
    if (!node.programNode.empty()) wide.insert(node.programNode);
  std::set<std::string> divided;
  for (const LoweredNode& node : nodes.narrow) {
    if (node.programNode.empty())
      programNodes.untied.push_back(node.shown);
    else if (wide.contains(node.programNode))
      divided.insert(node.programNode);
    else
      programNodes.narrow.insert(node.programNode);
  }
  programNodes.divided.assign(divided.begin(), divided.end());
  return programNodes;
}

void addNotes(const ProgramNodes& nodes, const CastProgram& made, std::vector<ExportNote>& notes) {
  if (!nodes.divided.empty())
    notes.push_back({fmt::format(
        "{} of the program {} in float32, because the plan lowers only a part of the nodes that torch made of each: {}",
        counted(std::ssize(nodes.divided), "node"), nodes.divided.size() == 1 ? "stays" : "stay",
        listed(nodes.divided))});
  if (!nodes.untied.empty())
    notes.push_back({fmt::format("{} that the plan lowers {} no corresponding node in the program: {}",
                                 counted(std::ssize(nodes.untied), "node"), nodes.untied.size() == 1 ? "has" : "have",
                                 listed(nodes.untied))});
  std::map<std::string, std::vector<std::string>> byReason;
  for (const KeptNode& kept : made.kept) byReason[kept.why].push_back(kept.node);
  for (const auto& [why, names] : byReason)
    notes.push_back({names.size() == 1
                         ? fmt::format("'{}' of the program stays in float32, since it {}", names.front(), why)
                         : fmt::format("{} nodes of the program stay in float32, since each {}: {}", names.size(), why,
                                       listed(names))});
}

/// Writes the exported program (.pt2) of the network with PyTorch's casts around the nodes that the plan lowers
/// (frontends/torch/program_casts.h). Everything else in the file keeps its bytes. The network must have been made from
/// the program by torch (`fusescope import`), because its nodes then refer to those of the program. Errors: the plan is
/// of another file, quantises, lowers nothing, or lowers to two types.
Result<Exported> writePt2(const Plan& plan, const ExportOptions& options) {
  TRY(checkIsProgram(plan));
  LoweredNodes lowered = TRY(loweredNodes(plan, kFormat, options.stop));
  const std::string path = plan.model->path;
  auto program = TRY(TRY(torch::Pt2File::open(path)).programJson());
  const ProgramNodes nodes = programNodesOf(lowered);
  CastProgram made = TRY(withCasts(program, nodes.narrow, lowered.low));
  if (made.narrowed == 0)
    return Diagnostic{.message = fmt::format("{} can lower none of the nodes that the plan lowers", kFormat),
                      .where = {.file = path},
                      .help = "Use --to onnx, which writes every type of the plan."};
  addNotes(nodes, made, lowered.notes);
  if (std::ranges::any_of(plan.inputSpecs, [](const InputSpec& spec) { return spec.source == "user"; }))
    lowered.notes.push_back(
        {"the file does not contain the extents that were given for inputs: fusescope inputs writes them"});
  Exported exported;
  exported.summary = fmt::format("the exported program with {} in {}, by {} of PyTorch", counted(made.narrowed, "node"),
                                 name(lowered.low), counted(made.casts, "cast"));
  exported.notes = std::move(lowered.notes);
  exported.save = [path, outputs = outputNamesOf(plan.graph()),
                   text = std::move(made.json)](const std::filesystem::path& to) {
    return writeExportedProgram(path, to,
                                {.inputSpecs = {}, .exampleInputs = {}, .outputNames = outputs, .program = text});
  };
  return exported;
}

}  // namespace

extern const ExportRow kPt2Row{
    .readers = "torch: eager, TorchInductor, compilers of exported programs",
    .contents =
        "the exported program with casts (`aten._to_copy`) around the nodes that the plan lowers; all other bytes "
        "are unchanged; needs a plan of a `.pt2` that `fusescope import` converted",
    .exactness =
        "types are exact with these exceptions, which are reported and stay in float32: a node of the program that "
        "the plan lowers only in part, a node whose type the author set, and a node that changes a value in place "
        "which others may read; weights are cast in each run unless torch folds the cast"};

extern const Exporter kPt2Exporter{
    .name = "pt2",
    .title = "Exported program with casts",
    .extension = "pt2",
    .summary = "the exported program (.pt2) with PyTorch's casts around the nodes that the plan lowers",
    .write = writePt2,
    .isText = false};

}  // namespace fusescope
