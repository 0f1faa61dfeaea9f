#include "interchange/typed_network/graph_retyper.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/file_tensors.h"
#include "frontends/onnx/node_order.h"
#include "planning/structure.h"
#include "planning/types/typing.h"

namespace fusescope {

using onnxlib::FileGraph;
using onnxlib::FileNode;
using onnxlib::GraphPath;
using Role = FileNodeTypes::Role;

namespace {

Node asNode(const FileNode& node) {
  return {.op = node.op, .domain = node.domain};
}

/// Returns whether all numbers of `tensor` are held by `type` exactly.
bool isExactIn(const onnxlib::FileTensor& tensor, DataType type) {
  if (!tensor.hasData) return false;
  const Tensor numbers = toTensor(tensor);
  return numbers.converted(type).converted(numbers.type()).identical(numbers);
}

/// Returns whether the operator ties the type of result `slot` to that of no operand: it is what the file declares
/// then.
bool isTypedApart(const FileNode& node, std::size_t slot, std::int64_t opset) {
  const auto types = onnxlib::operatorTypes(node.domain, node.op, opset);
  const auto* result = types ? types->result(slot) : nullptr;
  return result != nullptr && std::ranges::none_of(types->operands, [&](const onnxlib::SlotTypes& operand) {
           return operand.parameter == result->parameter;
         });
}

}  // namespace

GraphRetyper::GraphRetyper(RetypeContext& shared, const FileGraph& graph, const Plan* plan, GraphPath path,
                           GraphRetyper* outer)
    : m_shared(shared),
      m_graph(graph),
      m_plan(plan),
      m_path(std::move(path)),
      m_outer(outer),
      m_nodeNames(uniqueNodeNames(graph)) {}

Status GraphRetyper::run() {
  declareValues();
  declareUntyped();
  collectReaders();
  classify();
  for (const auto& input : m_graph.inputs) retypeInput(input.name);
  for (const std::size_t node : runningOrder(m_graph)) {
    TRY(retypeNode(node));
    writeInLowerCase(node);
  }
  noteWiderInnerEdges();
  return Done{};
}

void GraphRetyper::classify() {
  const NodeRoles roles(m_shared.file, m_graph, m_plan, m_outer == nullptr);
  for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
    m_types.push_back(roles.of(i));
    FileNodeTypes& types = m_types.back();
    if (!types.keptBecause.empty()) keepNote(types, i);
    if (types.role == Role::Calculates) widenWhereStoredWider(i);
    if (types.role == Role::Calculates && m_shared.options.wide.contains({m_path, i})) types.runs = DataType::F32;
  }
}

/// A kernel can write wider than its operands are rounded to; a node alone cannot, unless its operands are wide.
void GraphRetyper::widenWhereStoredWider(std::size_t node) {
  FileNodeTypes& types = m_types[node];
  for (std::size_t slot = 0; slot < m_graph.nodes[node].outputs.size(); ++slot) {
    const std::string& output = m_graph.nodes[node].outputs[slot];
    const auto id = output.empty() ? std::nullopt : m_plan->graph().findValue(output);
    if (!id || m_plan->graph().isConstant(*id) || !types.fused.valid()) continue;
    const auto& outputs = m_plan->fusedNodes[types.fused.index].outputs;
    const bool real = std::ranges::any_of(outputs, [&](const FusedOutput& made) { return made.value == *id; });
    const DataType stored = m_plan->storedType(*id);
    const bool wider = real && isExchangeable(stored) && !holdsAll(types.runs, stored);
    if (wider &&
        !(isTypedApart(m_graph.nodes[node], slot, m_shared.opset) && holdsAll(m_values[output].declared, stored)))
      types.runs = DataType::F32;
  }
}

void GraphRetyper::keepNote(const FileNodeTypes& types, std::size_t node) {
  m_shared.network.notes.push_back({fmt::format("node '{}' keeps the types of the file, though the plan lowers it: {}",
                                                m_nodeNames[node], types.keptBecause)});
}

/// What the plan stores `name` at, where that is not what its producer leaves.
DataType GraphRetyper::storedInPlan(const std::string& name, DataType made, FileValue& value) const {
  const auto id = m_plan == nullptr ? std::nullopt : m_plan->graph().findValue(name);
  if (!id || m_plan->graph().isConstant(*id) || m_plan->graph().isInput(*id)) return made;
  const DataType stored = m_plan->storedType(*id);
  if (!isExchangeable(stored)) return made;
  const NodeId producer = m_plan->graph().value(*id).producer;
  const FusedNode& fused = *m_plan->fusedNodeOf(producer);
  for (const InnerEdge& edge : fused.innerEdges) {
    if (edge.value != *id || edge.real) continue;
    value.inner = true;
    value.fused = fused.id;
    value.held = edge.type;
    return holdsAll(stored, made) ? made : stored;
  }
  return stored;
}

/// The result of the author's own Cast of `name` to the type at which the plan stores it, where that Cast stands before
/// all else that reads `name`; else nothing.
std::string GraphRetyper::castOfAuthor(const std::string& name, DataType stored) const {
  const auto readers = m_readers.find(name);
  if (readers == m_readers.end() || m_readAsDeclared.contains(name)) return {};
  const std::size_t first = readers->second.front().first;
  if (!castsTo(first, stored)) return {};
  const std::string& result = m_graph.nodes[first].outputs[0];
  FileValue unused;
  return storedInPlan(result, stored, unused) == stored ? result : std::string();
}

/// The name under which what the author's Cast `name` makes stands already, since what stands before the Cast wanted
/// the same of the same value: all that reads the Cast reads that. Nothing: the Cast is the first, or must stay as it
/// is.
std::string GraphRetyper::castedBefore(const FileValue& cast, const std::string& name) {
  const auto [owner, source] = find(cast.castFrom);
  const bool isFree = source != nullptr && owner == this && !source->isConstant && source->made == source->stored;
  if (!isFree || cast.isBorder || m_handedOut.contains(name) || cast.stored != cast.made) return {};
  const auto known = source->forms.find(cast.made);
  return known == source->forms.end() || cast.made == source->stored ? std::string() : known->second;
}

/// Returns whether `node` is a Cast of the author to `type`.
bool GraphRetyper::castsTo(std::size_t node, DataType type) const {
  const auto& results = m_graph.nodes[node].outputs;
  const auto result = results.empty() ? m_values.end() : m_values.find(results[0]);
  return m_types[node].role == Role::FloatCast && result != m_values.end() && result->second.declared == type;
}

std::map<std::string, GraphRetyper::Need> GraphRetyper::parametersOf(std::size_t place,
                                                                     const onnxlib::OperatorTypes& types) {
  const FileNode& node = m_graph.nodes[place];
  const FileNodeTypes& wanted = m_types[place];
  std::map<std::string, Need> parameters;
  if (wanted.role != Role::Calculates && wanted.role != Role::Moves) return parameters;
  const Need need =
      wanted.role == Role::Moves ? Need{typeOfMove(place), typeOfMove(place)} : Need{wanted.reads, wanted.runs};
  if (!isExchangeable(need.type)) return parameters;
  const bool quantises = node.op == "QuantizeLinear" || node.op == "DequantizeLinear";
  std::set<std::string> refused;
  for (std::size_t slot = 0; slot < node.inputs.size(); ++slot) {
    const auto* slotTypes = types.operand(slot);
    const auto [owner, value] = find(node.inputs[slot]);
    if (slotTypes == nullptr || value == nullptr || !isExchangeable(value->declared)) continue;
    const bool scale = quantises && slot == 1;
    if (scale && need.type != value->declared) {
      const auto constant = owner->m_constants.find(node.inputs[slot]);
      const bool exact = constant != owner->m_constants.end() && isExactIn(*constant->second, need.type);
      if (!exact) refused.insert(slotTypes->parameter);
    }
    if (!isDataOperand(asNode(node), slot) && !(scale && node.op == "DequantizeLinear")) continue;
    if (!slotTypes->allows(need.type)) {
      const std::int64_t later =
          quantises ? 0 : onnxlib::opsetThatAllows(node.domain, node.op, slot, need.type, m_shared.opset);
      if (later > m_shared.neededOpset) {
        m_shared.neededOpset = later;
        m_shared.neededBy = m_nodeNames[place];
      }
      refused.insert(slotTypes->parameter);
      continue;
    }
    parameters[slotTypes->parameter] = need;
  }
  for (const std::string& name : refused) parameters.erase(name);
  if (quantises && !refused.empty()) parameters.clear();
  return parameters;
}

/// What all that reads a value wants of it: one type of all, else nothing.
DataType GraphRetyper::wantedOf(const std::string& name, int depth) const {
  constexpr int kMostMoves = 64;
  if (depth > kMostMoves || m_readAsDeclared.contains(name)) return DataType::Undefined;
  const auto readers = m_readers.find(name);
  if (readers == m_readers.end()) return DataType::Undefined;
  DataType wanted = DataType::Undefined;
  for (const auto& [node, slot] : readers->second) {
    const FileNodeTypes& types = m_types[node];
    if (types.role == Role::AnyType) continue;
    if (!isDataOperand(asNode(m_graph.nodes[node]), slot)) return DataType::Undefined;
    const DataType here = types.role == Role::Calculates ? types.reads
                          : types.role == Role::Moves    ? wantedOf(m_graph.nodes[node].outputs[0], depth + 1)
                                                         : DataType::Undefined;
    if (here == DataType::Undefined || (wanted != DataType::Undefined && wanted != here)) return DataType::Undefined;
    wanted = here;
  }
  return wanted;
}

DataType GraphRetyper::typeOfMove(std::size_t place) {
  const FileNode& node = m_graph.nodes[place];
  if (node.outputs.empty() || node.inputs.empty()) return DataType::Undefined;
  DataType held = DataType::Undefined;
  bool constant = true;
  for (std::size_t slot = 0; slot < node.inputs.size(); ++slot) {
    const auto [owner, value] = find(node.inputs[slot]);
    if (value == nullptr || !isExchangeable(value->declared) || !isDataOperand(asNode(node), slot)) continue;
    constant = constant && value->isConstant;
    held = widest(held, value->stored);
  }
  if (constant) {
    const DataType wanted = wantedOf(node.outputs[0], 0);
    return wanted == DataType::Undefined ? held : wanted;
  }
  DataType left = DataType::Undefined;
  bool roundedBehind = true;  // by Casts of the author: one more before the move would do it twice
  for (const std::string& output : node.outputs)
    if (const auto found = m_values.find(output); found != m_values.end() && isExchangeable(found->second.declared)) {
      FileValue unused;
      const DataType stored = storedInPlan(output, held, unused);
      left = widest(left, stored);
      roundedBehind = roundedBehind && !castOfAuthor(output, stored).empty();
    }
  return left == DataType::Undefined || holdsAll(left, held) || roundedBehind ? held : left;
}

std::pair<GraphRetyper*, GraphRetyper::FileValue*> GraphRetyper::find(const std::string& name) {
  for (GraphRetyper* graph = this; graph != nullptr && !name.empty(); graph = graph->m_outer)
    if (const auto found = graph->m_values.find(name); found != graph->m_values.end()) return {graph, &found->second};
  return {nullptr, nullptr};
}

Status GraphRetyper::retypeNode(std::size_t place) {
  const FileNode& node = m_graph.nodes[place];
  const FileNodeTypes& wanted = m_types[place];
  if (m_constantNodes.contains(node.outputs.empty() ? std::string() : node.outputs[0])) return Done{};
  const auto types = onnxlib::operatorTypes(node.domain, node.op, m_shared.opset);
  const auto parameters = types ? parametersOf(place, *types) : std::map<std::string, Need>();
  for (std::size_t slot = 0; slot < node.inputs.size(); ++slot) {
    const auto [owner, value] = find(node.inputs[slot]);
    if (value == nullptr || !isExchangeable(value->declared)) continue;
    const auto* slotTypes = types ? types->operand(slot) : nullptr;
    const auto found = slotTypes == nullptr ? parameters.end() : parameters.find(slotTypes->parameter);
    const bool anyType = wanted.role == Role::AnyType || wanted.role == Role::FloatCast;
    retypeOperand(place, slot, found == parameters.end() ? Need{value->declared, value->declared} : found->second,
                  anyType);
  }
  TRY(retypeBodies(place));
  for (std::size_t slot = 0; slot < node.outputs.size(); ++slot) {
    const auto found = m_values.find(node.outputs[slot]);
    if (found == m_values.end() || !isExchangeable(found->second.declared)) continue;
    const auto* slotTypes = types ? types->result(slot) : nullptr;
    const auto typed = slotTypes == nullptr ? parameters.end() : parameters.find(slotTypes->parameter);
    if (wanted.role == Role::FloatCast) found->second.castFrom = node.inputs[0];
    retypeResult(place, slot, typed == parameters.end() ? found->second.declared : typed->second.type);
  }
  return Done{};
}

Status GraphRetyper::retypeBodies(std::size_t place) {
  const FileNode& node = m_graph.nodes[place];
  for (const auto& attribute : node.attributes) {
    const auto* body = std::get_if<std::shared_ptr<const FileGraph>>(&attribute.value);
    if (body == nullptr) continue;
    const Plan* plan = nullptr;
    if (m_plan != nullptr)
      for (const NodeId holder : m_types[place].nodes)
        if (plan == nullptr) plan = m_plan->bodyPlan(holder, attribute.name);
    GraphPath path = m_path;
    path.push_back({place, attribute.name});
    m_bodies.push_back(std::make_unique<GraphRetyper>(m_shared, **body, plan, std::move(path), this));
    TRY(m_bodies.back()->run());
    // What the body captured and hands out as it is must have the type that the body declares.
    for (const auto& output : (*body)->outputs)
      if (!m_bodies.back()->m_values.contains(output.name))
        if (const auto [owner, value] = find(output.name); value != nullptr && isExchangeable(value->declared))
          if (!value->isConstant && value->forms[value->declared] != output.name)
            return Diagnostic{.message = "its body '" + attribute.name + "' hands out '" + output.name +
                                         "', which it captures and which the plan lowers",
                              .where = {.node = m_nodeNames[place], .value = output.name},
                              .help = "Pin what makes it to f32."};
  }
  return Done{};
}

void GraphRetyper::retypeOperand(std::size_t place, std::size_t slot, const Need& need, bool anyType) {
  const std::string& name = m_graph.nodes[place].inputs[slot];
  const auto [owner, value] = find(name);
  if (anyType && value->isConstant && m_types[place].role == Role::AnyType) return;
  const ConstantUse use{{m_path, place}, slot, need};
  const bool rounds = !value->isConstant && value->made != value->stored && castsTo(place, value->stored);
  std::string form = rounds                          ? value->madeName
                     : anyType && !value->isConstant ? value->forms[value->stored]
                                                     : owner->formOf(name, need, use);
  if (!form.empty() && !anyType) form = apartFromCast(place, slot, form, value->stored, need.type);
  if (!form.empty() && form != name) m_shared.network.edits.operands.push_back({{m_path, place}, slot, form});
}

std::string GraphRetyper::formOf(const std::string& name, const Need& need, const ConstantUse& use) {
  FileValue& value = m_values[name];
  if (value.isConstant) {
    m_constantUses[name].push_back(use);
    return {};
  }
  const bool straight = need.rounded == need.type || holdsAll(need.rounded, value.stored) || value.inner;
  if (straight) {
    if (value.inner && need.rounded != need.type && value.made == need.type && holdsAll(value.stored, value.made))
      return value.madeName;
    if (const auto known = value.forms.find(need.type); known != value.forms.end()) return known->second;
    // A Cast up and the Cast back are the value itself.
    if (const auto [owner, source] = find(value.castFrom); source != nullptr && owner == this && !source->isConstant)
      if (source->stored == need.type && holdsAll(value.stored, source->stored)) return source->forms[source->stored];
    if (std::string own = castOfAuthor(name, need.type); !own.empty()) return value.forms[need.type] = std::move(own);
    return value.forms[need.type] = castTo(name, value.forms[value.stored], value.stored, need.type);
  }
  auto& known = value.rounded[{need.rounded, need.type}];
  if (known.empty()) {
    if (!value.forms.contains(need.rounded))
      value.forms[need.rounded] = castTo(name, value.forms[value.stored], value.stored, need.rounded);
    known = castTo(name, value.forms[need.rounded], need.rounded, need.type,
                   fmt::format("{}_rounded_to_{}", name, fusescope::name(need.rounded)));
  }
  return known;
}

std::string GraphRetyper::castTo(const std::string& value, const std::string& from, DataType fromType, DataType to,
                                 const std::string& wanted) {
  const std::string name = m_shared.fresh(fmt::format("{}_to_{}", value, fusescope::name(to)));
  std::string result = name;
  if (wanted == value) {
    result = value;  // the name of a border
  } else if (!wanted.empty()) {
    result = m_shared.fresh(wanted);
  }
  FileNode node{.name = name, .op = "Cast", .inputs = {from}, .outputs = {result}};
  node.attributes.push_back({.name = "to", .reference = {}, .value = onnxlib::elementTypeNumber(to)});
  m_shared.network.edits.nodes.push_back({m_path, std::move(node)});
  m_shared.network.casts.push_back({value, fromType, to});
  return result;
}

void GraphRetyper::retypeResult(std::size_t place, std::size_t slot, DataType made) {
  const std::string& name = m_graph.nodes[place].outputs[slot];
  FileValue& value = m_values[name];
  onnxlib::NetworkEdits& edits = m_shared.network.edits;
  value.made = made;
  value.stored = storedInPlan(name, made, value);
  const bool asPlanned = m_outer == nullptr && m_shared.options.borders == BorderTypes::Plan;
  const DataType border = asPlanned ? value.stored : value.declared;
  value.forms.clear();
  value.madeName = name;
  if (const std::string same = castedBefore(value, name); !same.empty()) value.madeName = same;
  if (value.isBorder && (border != made || value.stored != made)) {
    value.madeName = m_shared.fresh(fmt::format("{}_{}", name, fusescope::name(made)));
    edits.outcomes.push_back({{m_path, place}, slot, value.madeName});
  }
  value.forms[value.stored] = value.madeName;
  if (value.stored != made) {
    const std::string own = castOfAuthor(name, value.stored);
    const std::string wanted = value.isBorder && border == value.stored ? name : std::string();
    value.forms[value.stored] = own.empty() ? castTo(name, value.madeName, made, value.stored, wanted) : own;
  }
  if (value.isBorder && value.madeName != name && !value.forms.contains(border))
    value.forms[border] = castTo(name, value.forms[value.stored], value.stored, border, name);
  const DataType named = value.isBorder ? border : made;
  if (named != value.declared) edits.types.push_back({m_path, name, named});
  if (m_outer == nullptr) m_shared.network.storedAs[name] = value.forms[value.stored];
}

/// An input keeps its type, or gets the one in which all that reads it takes it.
void GraphRetyper::retypeInput(const std::string& name) {
  FileValue& value = m_values[name];
  const bool asPlanned = m_outer == nullptr && m_shared.options.borders == BorderTypes::Plan;
  if (!asPlanned || value.isConstant || !isExchangeable(value.declared) || value.isBorder) return;
  const DataType wanted = wantedOf(name, 0);
  if (!isExchangeable(wanted) || wanted == value.declared) return;
  value.made = value.stored = wanted;
  value.forms = {{wanted, name}};
  m_shared.network.edits.types.push_back({m_path, name, wanted});
}

}  // namespace fusescope
