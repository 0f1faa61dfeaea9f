#include "interchange/quantized_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "interchange/typed_network/opset_raising.h"
#include "planning/quantized_model.h"

namespace fusescope {
namespace {

using onnxlib::FileModel;
using onnxlib::NetworkEdits;

constexpr std::int64_t kOpsetOfAxes = 13, kOpsetOfBlocks = 21;

/// What stands in `edited` and not in `model`, whose nodes and values have the lower ids, as edits of the file.
class CodeEdits {
 public:
  CodeEdits(const Model& model, const Graph& edited, const FileModel& file)
      : m_model(model), m_graph(edited), m_file(file) {
    for (const auto& input : file.graph.inputs) m_names.insert(input.name);
    for (const auto& tensor : file.graph.initializers) m_names.insert(tensor.name);
    for (const auto& node : file.graph.nodes) {
      m_names.insert(node.name);
      m_names.insert(node.outputs.begin(), node.outputs.end());
    }
    for (const NodeId id : model.graph->order())
      for (const OriginId origin : model.graph->node(id).origins) ++m_nodesOf[origin];
  }

  Result<NetworkEdits> run() {
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      if (id.index >= m_model.graph->nodeIdLimit()) {
        TRY(addNode(node));
      } else {
        TRY(editNode(m_model.graph->node(id), node));
      }
    }
    return std::move(m_edits);
  }

  std::int64_t neededOpset() const { return m_needed; }
  const std::string& neededBy() const { return m_neededBy; }

 private:
  bool isNew(ValueId value) const { return value.index >= m_model.graph->valueIdLimit(); }

  Status addNode(const Node& node) {
    onnxlib::FileNode added{.name = fresh(node.name), .op = node.op, .domain = node.domain};
    for (const ValueId input : node.inputs) added.inputs.push_back(TRY(nameOf(input)));
    for (const ValueId output : node.outputs) added.outputs.push_back(TRY(nameOf(output)));
    for (const auto& [key, attribute] : node.attributes)
      added.attributes.push_back({.name = key, .value = std::get<std::int64_t>(attribute)});
    const bool inBlocks = node.hasAttribute("block_size");
    const DataType codes = m_graph.value(node.is("QuantizeLinear") ? node.outputs[0] : node.input(0)).type.dtype;
    need(inBlocks || codes == DataType::I4 ? kOpsetOfBlocks : kOpsetOfAxes, added.name);
    m_edits.nodes.push_back({.graph = {}, .node = std::move(added)});
    return Done{};
  }

  Status editNode(const Node& before, const Node& after) {
    for (std::size_t slot = 0; slot < after.inputs.size(); ++slot) {
      if (after.input(slot) == before.input(slot)) continue;
      m_edits.operands.push_back({TRY(placeOf(before)), slot, TRY(nameOf(after.input(slot)))});
    }
    return Done{};
  }

  Result<onnxlib::NodePlace> placeOf(const Node& node) const {
    const bool one = node.origins.size() == 1 && m_nodesOf.at(node.origins[0]) == 1;
    const std::size_t place = one ? node.origins[0].index : m_file.graph.nodes.size();
    if (place < m_file.graph.nodes.size() && m_file.graph.nodes[place].op == node.op)
      return onnxlib::NodePlace{{}, place};
    return Diagnostic{.message = "is not as the file has it, so that its operands cannot be codes there",
                      .where = {.node = node.name},
                      .help = fmt::format("Leave it in floats: --pin '{}=f32'.", node.name)};
  }

  /// A constant that is read is written, once.
  Result<std::string> nameOf(ValueId value) {
    if (!value.valid()) return std::string();
    const std::string& name = m_graph.value(value).name;
    if (!isNew(value)) {
      if (m_names.contains(name)) return name;
      return Diagnostic{.message = "the file has no value of this name; codes cannot stand for it there",
                        .where = {.value = name},
                        .help = "Leave what reads it in floats with --pin, or --exclude when calibrating."};
    }
    const auto [known, added] = m_newNames.try_emplace(value);
    if (!added) return known->second;
    known->second = fresh(name);
    if (m_graph.isConstant(value)) writeConstant(known->second, m_graph.value(value).constant);
    return known->second;
  }

  void writeConstant(const std::string& name, const std::shared_ptr<const Tensor>& tensor) {
    m_edits.initializers.push_back({.graph = {},
                                    .tensor = {.name = name,
                                               .dtype = tensor->type(),
                                               .dims = tensor->dims(),
                                               .owner = tensor,
                                               .data = tensor->bytes(),
                                               .strings = {},
                                               .hasData = true}});
  }

  std::string fresh(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; !m_names.insert(name).second; ++i) name = fmt::format("{}#{}", wanted, i);
    return name;
  }

  void need(std::int64_t opset, const std::string& node) {
    if (opset <= m_needed) return;
    m_needed = opset;
    m_neededBy = node;
  }

  const Model& m_model;
  const Graph& m_graph;
  const FileModel& m_file;
  NetworkEdits m_edits;
  std::set<std::string> m_names;  ///< that are taken in the file
  std::map<OriginId, int> m_nodesOf;
  std::map<ValueId, std::string> m_newNames;
  std::int64_t m_needed = 0;
  std::string m_neededBy;
};

template <class Edit>
void append(std::vector<Edit>& edits, std::vector<Edit> more) {
  std::ranges::move(more, std::back_inserter(edits));
}

}  // namespace

Result<NetworkEdits> quantizedNetwork(const Plan& plan, const FileModel& file, std::vector<ExportNote>& notes,
                                      const StopToken& stop) {
  const Model& model = *unquantized(plan.model);
  const auto edited = TRY(graphWithCodes(model, plan.options, stop));
  CodeEdits maker(model, *edited, file);
  NetworkEdits edits = TRY(maker.run());
  const auto found = file.opsets.find("");
  const std::int64_t own = found == file.opsets.end() ? onnxlib::newestOpset() : found->second;
  if (maker.neededOpset() <= own) return edits;
  // Operands of the file as it is at that opset, then what becomes codes.
  NetworkEdits raised = std::move(TRY(raisedTo(maker.neededOpset(), file, maker.neededBy())).edits);
  append(raised.operands, std::move(edits.operands));
  append(raised.nodes, std::move(edits.nodes));
  append(raised.initializers, std::move(edits.initializers));
  edits = std::move(raised);
  edits.opset = maker.neededOpset();
  notes.push_back({fmt::format("the opset is raised from {} to {}: codes with a scale for each {} need it", own,
                               edits.opset, edits.opset == kOpsetOfBlocks ? "block, or of int4," : "channel")});
  return edits;
}

}  // namespace fusescope
