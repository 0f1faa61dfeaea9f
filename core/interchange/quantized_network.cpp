#include "interchange/quantized_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "interchange/rewritten_nodes.h"
#include "interchange/typed_network/names_of_file.h"
#include "interchange/typed_network/node_roles.h"
#include "interchange/typed_network/opset_raising.h"
#include "ir/graph.h"
#include "planning/quantized_model.h"

namespace fusescope {
namespace {

using onnxlib::FileGraph;
using onnxlib::FileModel;
using onnxlib::GraphPath;
using onnxlib::NetworkEdits;

constexpr std::int64_t kOpsetOfAxes = 13, kOpsetOfBlocks = 21;

/// What the edits of a file's graphs share.
struct CodesOfFile {
  const std::set<std::string> ofFile;  ///< all names in it
  const std::int64_t opset;            ///< the file's
  NetworkEdits edits{};
  std::set<std::string> names = ofFile;  ///< that are taken
  std::vector<std::string> rewritten{};  ///< nodes of the file that are written as what they stand for
  std::int64_t neededOpset = 0;
  std::string neededBy{};

  std::string fresh(const std::string& wanted) { return freshName(wanted, names, "#"); }
  void need(std::int64_t opset, const std::string& node) {
    if (opset <= neededOpset) return;
    neededOpset = opset;
    neededBy = node;
  }
};

/// What stands in `edited` and not in `model`, whose nodes and values have the lower ids, as edits of `file`, the graph
/// of the file that the model is of.
class CodeEdits {
 public:
  CodeEdits(CodesOfFile& shared, const Model& model, const Graph& edited, const FileGraph& file, GraphPath path)
      : m_shared(shared), m_model(model), m_graph(edited), m_file(file), m_path(std::move(path)) {
    // Origins of the main graph are places in the file, those of a body are what import made of its nodes.
    const std::vector<std::string> names = m_path.empty() ? std::vector<std::string>() : uniqueNodeNames(file);
    for (std::size_t i = 0; i < names.size(); ++i) m_placeOf.emplace(names[i], i);
    for (const NodeId id : model.graph->order())
      for (const OriginId origin : model.graph->node(id).origins) ++m_nodesOf[origin];
  }

  Status run() {
    findProductsOfRows();
    TRY(findRewrittenNodes());
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      if (isNew(id)) {
        if (!m_ofRows.contains(id)) TRY(addNode(node));
      } else if (m_rewritten.nodes.contains(id)) {
        TRY(writeNode(node));
      } else {
        TRY(editNode(m_model.graph->node(id), node));
      }
    }
    return Done{};
  }

  /// Where a node of the model is in the file; nothing where normalisation made something else of it.
  std::optional<std::size_t> placeIn(const Node& node) const {
    if (node.origins.size() != 1 || m_nodesOf.at(node.origins[0]) != 1) return std::nullopt;
    const auto place = placeOfOrigin(node.origins[0]);
    return place && m_file.nodes[*place].op == node.op ? place : std::nullopt;
  }

 private:
  bool isNew(ValueId value) const { return value.index >= m_model.graph->valueIdLimit(); }
  bool isNew(NodeId node) const { return node.index >= m_model.graph->nodeIdLimit(); }

  /// Where a Gemm of the file is that normalisation made a product of rows, without the views around it; nothing for
  /// any other node.
  std::optional<std::size_t> placeOfRows(const Node& node) const {
    if (!node.is("MatMul") || node.origins.size() != 1 || node.name.empty()) return std::nullopt;
    const auto place = placeOfOrigin(node.origins[0]);
    const bool gemm = place && m_file.nodes[*place].op == "Gemm" && m_file.nodes[*place].domain.empty();
    return gemm ? place : std::nullopt;
  }

  /// The Q and DQ that only such products read: in the file these read a view of what is quantised, and so the codes
  /// are made behind the view.
  void findProductsOfRows() {
    for (const NodeId id : m_graph.order()) {
      if (isNew(id) || !placeOfRows(m_graph.node(id))) continue;
      const Node* dequantize = makerOf(m_graph.node(id).input(0));
      if (dequantize != nullptr && isNew(dequantize->id)) m_ofRows.insert(dequantize->id);
    }
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      if (!isNew(id) || !node.is("QuantizeLinear")) continue;
      const auto& readers = m_graph.value(node.outputs[0]).consumers;
      if (std::ranges::all_of(readers, [&](NodeId reader) { return m_ofRows.contains(reader); })) m_ofRows.insert(id);
    }
  }

  /// What is to read or make codes and is not as the file has it: an Einsum that is a product, an operator of an
  /// optimiser, a call of a function. Such a node of the file is written as what normalisation made of it.
  Status findRewrittenNodes() {
    std::set<NodeId> wanted;
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      if (isNew(id)) {
        if (m_ofRows.contains(id)) continue;
        for (const ValueId input : node.inputs)
          if (const Node* maker = makerOf(input); maker != nullptr && !isNew(maker->id) && !isInFile(input))
            wanted.insert(maker->id);
      } else if (const Node& before = m_model.graph->node(id); before.inputs != node.inputs) {
        if (!placeIn(before) && !placeOfRows(before)) wanted.insert(id);
      }
    }
    if (wanted.empty()) return Done{};
    m_rewritten =
        TRY(rewrittenNodes(*m_model.graph, m_file, wanted, [this](OriginId origin) { return placeOfOrigin(origin); }));
    for (const std::size_t place : m_rewritten.places) {
      m_shared.edits.removedNodes.push_back({m_path, place});
      m_shared.rewritten.push_back(m_file.nodes[place].displayName());
    }
    return Done{};
  }

  bool isInFile(ValueId value) const { return m_shared.ofFile.contains(m_graph.value(value).name); }

  /// A node in the place of one of the file. What the file calls a result keeps that name.
  Status writeNode(const Node& node) {
    onnxlib::FileNode made = fileNode(node);
    const bool keepsName = std::ranges::any_of(
        m_rewritten.places, [&](std::size_t place) { return m_file.nodes[place].name == node.name; });
    if (!keepsName) made.name = m_shared.fresh(node.name);
    for (const ValueId input : node.inputs) made.inputs.push_back(TRY(nameOf(input)));
    for (const ValueId output : node.outputs) {
      if (output.valid()) {
        const std::string& name = m_graph.value(output).name;
        m_newNames[output] = m_rewritten.removedValues.contains(name) ? name : m_shared.fresh(name);
      }
      made.outputs.push_back(output.valid() ? m_newNames.at(output) : std::string());
    }
    m_shared.need(opsetOf(made, m_shared.opset), made.name);
    m_shared.edits.nodes.push_back({.graph = m_path, .node = std::move(made)});
    return Done{};
  }

  const Node* makerOf(ValueId value) const {
    const NodeId maker = value.valid() ? m_graph.value(value).producer : NodeId();
    return m_graph.has(maker) ? &m_graph.node(maker) : nullptr;
  }

  /// The name of `operand`, a view in the file, behind a Q and a DQ as `dequantize` has them.
  Result<std::string> codesBehindView(const std::string& operand, const Node& dequantize) {
    const std::string scale = TRY(nameOf(dequantize.input(1))), zero = TRY(nameOf(dequantize.input(2)));
    std::string& codes = m_codesOfViews[{operand, dequantize.input(1)}];
    if (codes.empty()) {
      codes = m_shared.fresh(operand + "/codes");
      addFileNode({.name = m_shared.fresh(operand + "/quantize"),
                   .op = "QuantizeLinear",
                   .inputs = {operand, scale, zero},
                   .outputs = {codes}});
    }
    const std::string numbers = m_shared.fresh(operand + "/dequantized");
    addFileNode({.name = m_shared.fresh(operand + "/dequantize"),
                 .op = "DequantizeLinear",
                 .inputs = {codes, scale, zero},
                 .outputs = {numbers}});
    return numbers;
  }

  void addFileNode(onnxlib::FileNode node) {
    m_shared.need(kOpsetOfAxes, node.name);
    m_shared.edits.nodes.push_back({.graph = m_path, .node = std::move(node)});
  }

  Status addNode(const Node& node) {
    onnxlib::FileNode added{.name = m_shared.fresh(node.name), .op = node.op, .domain = node.domain};
    for (const ValueId input : node.inputs) added.inputs.push_back(TRY(nameOf(input)));
    for (const ValueId output : node.outputs) added.outputs.push_back(TRY(nameOf(output)));
    for (const auto& [key, attribute] : node.attributes)
      added.attributes.push_back({.name = key, .value = std::get<std::int64_t>(attribute)});
    const bool inBlocks = node.hasAttribute("block_size");
    const DataType codes = m_graph.value(node.is("QuantizeLinear") ? node.outputs[0] : node.input(0)).type.dtype;
    m_shared.need(inBlocks || codes == DataType::I4 ? kOpsetOfBlocks : kOpsetOfAxes, added.name);
    m_shared.edits.nodes.push_back({.graph = m_path, .node = std::move(added)});
    return Done{};
  }

  /// Where the file has the node that `origin` names.
  std::optional<std::size_t> placeOfOrigin(OriginId origin) const {
    std::size_t place = origin.index;
    if (!m_path.empty()) {
      const auto found = m_placeOf.find(m_model.origins[place].name);
      if (found == m_placeOf.end()) return std::nullopt;
      place = found->second;
    }
    return place < m_file.nodes.size() ? std::optional(place) : std::nullopt;
  }

  Status editNode(const Node& before, const Node& after) {
    const auto rows = placeOfRows(before);
    for (std::size_t slot = 0; slot < after.inputs.size(); ++slot) {
      if (after.input(slot) == before.input(slot)) continue;
      if (rows) {
        const Node* dequantize = slot == 0 ? makerOf(after.input(0)) : nullptr;
        const std::string operand = dequantize != nullptr
                                        ? TRY(codesBehindView(m_file.nodes[*rows].inputs.at(0), *dequantize))
                                        : TRY(nameOf(after.input(slot)));
        m_shared.edits.operands.push_back({onnxlib::NodePlace{m_path, *rows}, slot, operand});
        continue;
      }
      m_shared.edits.operands.push_back({TRY(placeOf(before)), slot, TRY(nameOf(after.input(slot)))});
    }
    return Done{};
  }

  Result<onnxlib::NodePlace> placeOf(const Node& node) const {
    if (const auto place = placeIn(node)) return onnxlib::NodePlace{m_path, *place};
    return Diagnostic{
        .message = "the node differs from the node of the file, so its operands cannot be written as codes",
        .where = {.node = node.name},
        .help = fmt::format("Leave the node in floats: --pin '{}=f32'.", node.name)};
  }

  /// A constant that is read and that the file has not is written, once.
  Result<std::string> nameOf(ValueId value) {
    if (!value.valid()) return std::string();
    if (const auto known = m_newNames.find(value); known != m_newNames.end()) return known->second;
    const std::string& name = m_graph.value(value).name;
    if (!isNew(value) && isInFile(value) && !m_rewritten.removedValues.contains(name)) return name;
    if (!isNew(value) && !m_graph.isConstant(value))
      return Diagnostic{
          .message = "the file has no value of this name, so it cannot be written as codes",
          .where = {.value = name},
          .help = "Leave the nodes that read it in floats, with --pin, or with --exclude when calibrating."};
    const std::string& fresh = m_newNames[value] = m_shared.fresh(name);
    if (m_graph.isConstant(value)) writeConstant(fresh, m_graph.value(value).constant);
    return fresh;
  }

  void writeConstant(const std::string& name, const std::shared_ptr<const Tensor>& tensor) {
    m_shared.edits.initializers.push_back({.graph = m_path,
                                           .tensor = {.name = name,
                                                      .dtype = tensor->type(),
                                                      .dims = tensor->dims(),
                                                      .owner = tensor,
                                                      .data = tensor->bytes(),
                                                      .strings = {},
                                                      .hasData = true}});
  }

  CodesOfFile& m_shared;
  const Model& m_model;
  const Graph& m_graph;
  const FileGraph& m_file;
  const GraphPath m_path;
  std::map<std::string, std::size_t> m_placeOf;  ///< of a body: by name
  std::map<OriginId, int> m_nodesOf;
  RewrittenNodes m_rewritten;
  std::map<ValueId, std::string> m_newNames;
  std::set<NodeId> m_ofRows;                                              ///< Q and DQ that are made behind views
  std::map<std::pair<std::string, ValueId>, std::string> m_codesOfViews;  ///< by the view and the scale
};

/// The edits of `file`, which `plan` is of, and of its bodies.
Status addCodes(CodesOfFile& shared, const Plan& plan, const FileGraph& file, const GraphPath& path,
                const StopToken& stop) {
  const Model& model = *unquantized(plan.model);
  const auto edited = TRY(graphWithCodes(plan, stop));
  CodeEdits edits(shared, model, *edited, file, path);
  TRY(edits.run());
  for (const CoverBody& body : plan.bodies) {
    if (plannedBody(body).model->unquantized == nullptr) continue;
    const Node& holder = model.graph->node(body.holder);
    const auto place = edits.placeIn(holder);
    const auto* attribute = place ? file.nodes[*place].attribute(body.attribute) : nullptr;
    if (attribute == nullptr)
      return Diagnostic{
          .message = "the node differs from the node of the file, so values in its bodies cannot be written as codes",
          .where = {.node = holder.name},
          .help = "Leave the nodes in it in floats: --exclude them when calibrating."};
    GraphPath inside = path;
    inside.push_back({*place, body.attribute});
    TRY(addCodes(shared, plannedBody(body), *std::get<std::shared_ptr<const FileGraph>>(attribute->value), inside,
                 stop));
  }
  return Done{};
}

template <class Edit>
void append(std::vector<Edit>& edits, std::vector<Edit> more) {
  std::ranges::move(more, std::back_inserter(edits));
}

}  // namespace

Result<NetworkEdits> quantizedNetwork(const Plan& plan, const FileModel& file, std::vector<ExportNote>& notes,
                                      const StopToken& stop) {
  const auto found = file.opsets.find("");
  const std::int64_t own = found == file.opsets.end() ? onnxlib::newestOpset() : found->second;
  std::set<std::string> names;
  collectNames(file.graph, names);
  CodesOfFile codes{.ofFile = std::move(names), .opset = own};
  TRY(addCodes(codes, plan, file.graph, {}, stop));
  if (!codes.rewritten.empty())
    notes.push_back(
        {fmt::format("these operators are written as the simpler operators that they consist of, so that codes can be "
                     "written between those: {}",
                     joined(codes.rewritten))});
  if (codes.neededOpset <= own) return std::move(codes.edits);
  // Operands of the file as it is at that opset, then what becomes codes.
  RaisedFile raised = TRY(raisedTo(codes.neededOpset, file, needOfTypes(codes.neededBy)));
  NetworkEdits edits = std::move(raised.edits);
  append(edits.operands, std::move(codes.edits.operands));
  append(edits.nodes, std::move(codes.edits.nodes));
  append(edits.removedNodes, std::move(codes.edits.removedNodes));
  append(edits.initializers, std::move(codes.edits.initializers));
  settleRewritten(raised, edits);
  edits.opset = codes.neededOpset;
  notes.push_back({fmt::format("the opset is raised from {} to {}, because codes with a scale for each {} need it", own,
                               edits.opset, edits.opset == kOpsetOfBlocks ? "block, or of int4," : "channel")});
  return edits;
}

PlanOptions withoutCodes(PlanOptions options) {
  options.ranges.reset();
  options.weightOnly = {};
  std::erase(options.precisions, DataType::I8);
  std::erase_if(options.directives,
                [](const Directive& each) { return each.kind == DirectiveKind::Pin && each.type == DataType::I8; });
  return options;
}

}  // namespace fusescope
